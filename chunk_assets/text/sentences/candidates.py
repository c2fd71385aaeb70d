"""The fast look: which marks are plainly ends, which are plainly not, and which need the slow rules."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text.sentences import words
from chunk_assets.text.sentences.places import ALWAYS, MARKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Classes of characters, as bits.
_SMALL, _CAPITAL, _DIGIT, _BLANK, _MARK, _CLOSER, _FOREIGN, _OPENER = 1, 2, 4, 8, 16, 32, 64, 128
_LETTER = _SMALL | _CAPITAL
_STOP, _ASK, _CALL, _SPACE, _NEWLINE = ord("."), ord("?"), ord("!"), ord(" "), ord("\n")
# The lowest of the other marks.
_FIRST_RARE = min(map(ord, (MARKS + ALWAYS).translate(dict.fromkeys(map(ord, ".?!")))))
# Characters looked at before a mark, and from it on.
_AT, _AFTER = 4, 6


@functools.cache
def _classes() -> NDArray[np.uint8]:
    """The class of each code point of the basic plane: ``uint8[65536]``; 0 for others."""
    table = np.zeros(0x10000, dtype=np.uint8)
    for code in range(0x600):
        char = chr(code)
        table[code] = _SMALL * char.islower() + _CAPITAL * char.isupper() + _DIGIT * char.isdecimal()
    table[_codes(" \n\t\r\x0b\x0c\xa0")] = _BLANK
    table[_codes(MARKS)] = _MARK
    table[_codes(ALWAYS)] = _MARK | _FOREIGN
    table[_codes("”’)]}»›」』）】》〉］｝")] = _CLOSER
    table[_codes("“‘([{«‹¿¡")] = _OPENER
    table[_codes("\"'*_`")] = _CLOSER | _OPENER
    table[ord("[")] = _CLOSER | _OPENER  # it may hold the mark of a note
    table[_codes("⁰¹²³⁴⁵⁶⁷⁸⁹")] = _CLOSER  # marks of notes
    return table


def _codes(chars: str) -> list[int]:
    return [ord(char) for char in chars]


@functools.cache
def _suspects() -> NDArray[np.uint32]:
    """The last four characters (after blanks when there are fewer) of each known abbreviation."""
    known = words.TITLES | words.LEADING | words.REFERENCES | words.TRAILING | words.UNITS | words.CLOCK
    keys = [("  " + word)[-4:] for word in known if len(word) >= 2 and word.isascii()]
    return np.unique(np.array([int.from_bytes(key.encode(), "big") for key in keys], dtype=np.uint32))


@functools.cache
def _small_names() -> NDArray[np.uint32]:
    """The first four characters of each name that begins with a small letter."""
    keys = {(word + " ")[:4].encode() for word in words.SMALL_NAMES}
    return np.array(sorted(int.from_bytes(key, "big") for key in keys), dtype=np.uint32)


@functools.cache
def _is_roman() -> NDArray[np.bool_]:
    table = np.zeros(0x10000, dtype=np.bool_)
    table[_codes("ivxlcIVXLC")] = True
    return table


def look(points: NDArray[Any], caseless: bool) -> tuple[NDArray[np.int64], ...]:
    """Marks of a block of code points (``spans.codes``).

    Returns:
        Three arrays ``int64[n]``, ascending: marks that are surely ends; where the sentence after
        each of them begins; and marks that the slow rules must look at.
    """
    marks = _marks(points)
    around = _around(points, marks)
    kinds = _classes()[around]
    open_ = np.flatnonzero(~_plainly_inside(around, kinds, caseless))
    marks, around, kinds = marks[open_], around[:, open_], kinds[:, open_]
    step = _steps(kinds, _LETTER | _DIGIT if caseless else _CAPITAL | _DIGIT)
    sure = step > 0
    sure[sure] = _ends_plainly(around[:, sure], kinds[:, sure])
    ends = marks[sure]
    return ends, ends + step[sure], marks[~sure]


def _marks(points: NDArray[Any]) -> NDArray[np.int64]:
    """Where the marks are."""
    common = (points == _STOP) | (points == _ASK) | (points == _CALL)
    if points.dtype != np.uint8:
        rare = np.flatnonzero((points >= _FIRST_RARE) & (points < 0x10000))
        common[rare] = (_classes()[points[rare]] & _MARK) != 0
    return np.flatnonzero(common)


def _around(points: NDArray[Any], marks: NDArray[np.int64]) -> NDArray[Any]:
    """Row ``_AT + d`` holds the characters ``d`` after the marks; 0 beyond the block."""
    wide = points.dtype != np.uint8
    padded = np.zeros(len(points) + _AT + _AFTER, dtype=np.uint16 if wide else np.uint8)
    padded[_AT : len(points) + _AT] = np.minimum(points, 0xFFFF) if points.itemsize > 2 else points
    windows = np.lib.stride_tricks.sliding_window_view(padded, _AT + _AFTER)
    return np.ascontiguousarray(windows[marks].T)


def _plainly_inside(around: NDArray[Any], kinds: NDArray[np.uint8], caseless: bool) -> NDArray[np.bool_]:
    """Marks that need no answer: within a word or number, before a small letter, not last of a run.

    Before a blank line the answer is known without them.
    """
    after, beyond, third = kinds[_AT + 1], kinds[_AT + 2], kinds[_AT + 3]
    blank = (after & _BLANK) != 0
    never = _inside_word(kinds[_AT - 1], after, beyond)
    never |= blank & ((beyond & _MARK) != 0) & ((third & (_LETTER | _DIGIT)) == 0)
    if not caseless:
        small = blank & ((beyond & _SMALL) != 0)
        small &= ((third | kinds[_AT + 4] | kinds[_AT + 5]) & _CAPITAL) == 0
        small[small] = ~_is_small_name(around[:, small])
        never |= small
    never &= (kinds[_AT] & _FOREIGN) == 0
    never |= (after & _MARK) != 0
    never |= (around[_AT + 1] == _NEWLINE) & (around[_AT + 2] == _NEWLINE)
    return never


def _inside_word(
    before: NDArray[np.uint8], after: NDArray[np.uint8], beyond: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """A mark without a blank after it; a lost blank, a note's mark and a closing quote are left open."""
    lost = ((before & (_SMALL | _DIGIT)) != 0) & ((after & _CAPITAL) != 0)
    lost &= (beyond & (_SMALL | _BLANK)) != 0
    note = ((before & _SMALL) != 0) & ((after & _DIGIT) != 0)
    inside: NDArray[np.bool_] = ((after & (_BLANK | _CLOSER | _MARK)) == 0) & ~lost & ~note
    return inside


def _steps(kinds: NDArray[np.uint8], opening: int) -> NDArray[np.int64]:
    """Characters from each mark to the next word where that is plain to see, else 0.

    Plain are: a blank, a closing sign and a blank, or two blanks, and then a capital; or a blank,
    an opening sign and a capital (the sign is then the first character of the sentence).
    """
    one, two, three = kinds[_AT + 1], kinds[_AT + 2], kinds[_AT + 3]
    blank, opens_third = (one & _BLANK) != 0, (three & opening) != 0
    steps = np.where(blank & ((two & opening) != 0), 2, 0)
    steps[blank & ((two & _OPENER) != 0) & ((three & _CAPITAL) != 0)] = 2
    steps[blank & ((two & _BLANK) != 0) & opens_third] = 3
    steps[((one & _CLOSER) != 0) & ((two & _BLANK) != 0) & opens_third] = 3
    return steps


def _ends_plainly(around: NDArray[Any], kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether a full stop or question mark follows a word that is no known abbreviation, ``)`` or ``%``."""
    back = [around[_AT - distance] for distance in (1, 2, 3, 4)]
    letter = [(kinds[_AT - distance] & _LETTER) != 0 for distance in (1, 2, 3, 4)]
    space = [char == _SPACE for char in back]
    two = letter[0] & letter[1] & space[2]
    three = letter[0] & letter[1] & letter[2] & (letter[3] | space[3])
    numeral = _is_roman()[back[0]] & _is_roman()[back[1]] & (_is_roman()[back[2]] | space[2])
    plain = (two | three) & ~numeral & ~_is_suspect(back, two)
    year = np.logical_and.reduce([(kinds[_AT - distance] & _DIGIT) != 0 for distance in (1, 2, 3, 4)])
    plain |= year | (back[0] == ord(")")) | (back[0] == ord("%"))
    # Text with blanks around marks; ". ." may be an ellipsis.
    plain |= space[0] & ((kinds[_AT - 2] & (_LETTER | _DIGIT)) != 0)
    result: NDArray[np.bool_] = plain & ((around[_AT] == _STOP) | (around[_AT] == _ASK))
    return result


def _is_suspect(back: list[NDArray[Any]], two: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether the last four characters, in small letters, are those of a known abbreviation."""
    # Setting this bit makes ASCII capitals small, and leaves blanks and small letters as they are.
    one, second, third, fourth = ((char.astype(np.uint32) & 0xFF) | 0x20 for char in back)
    fourth = np.where(two, _SPACE, fourth)
    return _is_among((fourth << 24) | (third << 16) | (second << 8) | one, _suspects())


def _is_small_name(around: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether one of the names that begin with a small letter may follow the blank after each mark."""
    one, second, third, fourth = (around[_AT + at].astype(np.uint32) & 0xFF for at in (2, 3, 4, 5))
    return _is_among((one << 24) | (second << 16) | (third << 8) | fourth, _small_names())


def _is_among(keys: NDArray[Any], known: NDArray[np.uint32]) -> NDArray[np.bool_]:
    near = np.minimum(np.searchsorted(known, keys.astype(np.uint32)), len(known) - 1)
    found: NDArray[np.bool_] = known[near] == keys
    return found
