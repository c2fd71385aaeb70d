"""The fast look: which marks are plainly ends, which are plainly not, and which need the slow rules."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.text.sentences import words
from chunk_assets.text.sentences.decisions import ALWAYS, MARKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Classes of characters, as bits.
_SMALL, _CAPITAL, _DIGIT, _BLANK, _MARK, _CLOSER, _FOREIGN = 1, 2, 4, 8, 16, 32, 64
_STOP, _ASK = ord("."), ord("?")
# Characters looked at before and after a mark.
_BEFORE, _AFTER = 4, 4


@functools.cache
def _classes() -> NDArray[np.uint8]:
    """The class of each code point of the basic plane: ``uint8[65536]``; 0 for others."""
    table = np.zeros(0x10000, dtype=np.uint8)
    table[ord("a") : ord("z") + 1] = _SMALL
    table[ord("A") : ord("Z") + 1] = _CAPITAL
    table[ord("0") : ord("9") + 1] = _DIGIT
    table[[ord(char) for char in " \n\t\r\x0b\x0c\xa0"]] = _BLANK
    table[[ord(char) for char in MARKS]] = _MARK
    table[[ord(char) for char in ALWAYS]] = _MARK | _FOREIGN
    table[[ord(char) for char in "\"'”’)]}»›*_`[」』）】》〉］｝"]] = _CLOSER
    return table


@functools.cache
def _suspects() -> NDArray[np.uint32]:
    """The last four characters (a blank before three) of each known small-letter abbreviation."""
    known = words.TITLES | words.LEADING | words.REFERENCES | words.TRAILING | words.UNITS
    keys = [(" " + word)[-4:] for word in known if len(word) >= 3]
    ascii_keys = sorted(key for key in keys if key.isascii())
    return np.unique(np.array([_packed(*key.encode()) for key in ascii_keys], dtype=np.uint32))


def _packed(first: int, second: int, third: int, fourth: int) -> int:
    return (first << 24) | (second << 16) | (third << 8) | fourth


def look(
    points: NDArray[np.uint8] | NDArray[np.uint32], caseless: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Marks of a block of code points.

    Returns:
        The offsets of marks that are surely ends, where the next sentence begins two characters
        on; and the offsets of marks that the slow rules must look at. Both ascending ``int64[n]``.
    """
    wide = points.dtype != np.uint8
    padded: NDArray[np.uint16] | NDArray[np.uint8]
    padded = np.zeros(len(points) + _BEFORE + _AFTER, dtype=np.uint16 if wide else np.uint8)
    padded[_BEFORE : len(points) + _BEFORE] = np.minimum(points, 0xFFFF) if wide else points
    kinds = _classes()[padded]
    marks = np.flatnonzero(kinds & _MARK)
    opening = _CAPITAL | _SMALL if caseless else _CAPITAL
    blank = (kinds[marks + 1] & _BLANK) != 0
    never = _plainly_inside(kinds, marks, blank, caseless)
    sure = blank & ((kinds[marks + 2] & opening) != 0) & ~never
    sure[sure] = _ends_plain_word(padded, kinds, marks[sure])
    return marks[sure] - _BEFORE, marks[~sure & ~never] - _BEFORE


def _plainly_inside(
    kinds: NDArray[np.uint8], marks: NDArray[np.int64], blank: NDArray[np.bool_], caseless: bool
) -> NDArray[np.bool_]:
    """Marks that end nothing: within a word or number, before a small letter, not the last of a run."""
    after, beyond, third = kinds[marks + 1], kinds[marks + 2], kinds[marks + 3]
    never = _inside_word(kinds[marks - 1], after, beyond)
    never |= blank & ((beyond & _MARK) != 0) & ((third & (_SMALL | _CAPITAL | _DIGIT)) == 0)
    if not caseless:
        brand = ((third | kinds[marks + 4]) & _CAPITAL) != 0
        never |= blank & ((beyond & _SMALL) != 0) & ~brand
    never &= (kinds[marks] & _FOREIGN) == 0
    never |= (after & _MARK) != 0
    return never


def _inside_word(
    before: NDArray[np.uint8], after: NDArray[np.uint8], beyond: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """A mark without a blank after it: only a lost blank, a note's mark or a closing quote is of interest."""
    lost = (
        ((before & (_SMALL | _DIGIT)) != 0) & ((after & _CAPITAL) != 0) & ((beyond & (_SMALL | _BLANK)) != 0)
    )
    note = ((before & _SMALL) != 0) & ((after & _DIGIT) != 0)
    inside: NDArray[np.bool_] = ((after & (_BLANK | _CLOSER | _MARK)) == 0) & ~lost & ~note
    return inside


def _ends_plain_word(
    points: NDArray[np.uint16] | NDArray[np.uint8], kinds: NDArray[np.uint8], marks: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a full stop or question mark follows three or more small letters of no known abbreviation."""
    small = ((kinds[marks - 1] & kinds[marks - 2] & kinds[marks - 3]) & _SMALL) != 0
    fourth = points[marks - 4]
    small &= ((kinds[marks - 4] & _SMALL) != 0) | (fourth == 32)
    small &= (points[marks] == _STOP) | (points[marks] == _ASK)
    one, two, three = (points[marks - back].astype(np.uint32) & 0xFF for back in (1, 2, 3))
    key = ((fourth.astype(np.uint32) & 0xFF) << 24) | (three << 16) | (two << 8) | one
    suspects = _suspects()
    near = np.minimum(np.searchsorted(suspects, key), len(suspects) - 1)
    plain: NDArray[np.bool_] = small & (suspects[near] != key)
    return plain
