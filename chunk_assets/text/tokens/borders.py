"""Forced borders: places where every tokenisation of every text that holds them has a border.

They make counts of parts exact without tokenising again: see ``index``. A place between two
characters is a forced border when ``before[previous] & after[next]`` is not zero; the two tables
give each code point a set of bits. A tokenizer has its own pair.
"""

from __future__ import annotations

import functools
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_CODE_POINTS = 0x110000
# Characters beyond these planes are rare ideographs and private ones; not knowing them only means
# fewer forced borders.
_LOOKED_AT = 0x20000
# White_Space of Unicode, which is what the split patterns call \s.
WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# The ideographs that BERT's tokenizer takes for a word each.
_IDEOGRAPHS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
# Places looked at in one step: first a few, since most borders are near, then many.
_NEAR, _FAR = 32, 4096


@dataclass(frozen=True, slots=True)
class Borders:
    """The two tables, ``uint8[0x110000]`` each, and the searches over them."""

    before: NDArray[np.uint8]
    after: NDArray[np.uint8]

    def mask(self, text: str) -> NDArray[np.bool_]:
        """Whether there is a forced border before each character but the first: ``bool[len - 1]``."""
        return self.between(code_points(text))

    def between(self, points: NDArray[Any]) -> NDArray[np.bool_]:
        """The same for code points, along the last axis: ``bool[..., n - 1]``."""
        return self.sure(points[..., :-1], points[..., 1:])

    def sure(self, previous: NDArray[Any], following: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether there is a forced border between each code point and the one that follows it."""
        found: NDArray[np.bool_] = (self.before[previous] & self.after[following]) != 0
        return found

    def first(self, points: NDArray[Any], start: int, stop: int) -> int:
        """The first forced border in ``start..stop`` (both included), or -1."""
        at = max(start, 1)
        stop = min(stop, len(points) - 1)
        width = _NEAR
        while at <= stop:
            near = min(stop + 1, at + width)
            found = self.sure(points[at - 1 : near - 1], points[at:near])
            step = int(found.argmax())
            if found[step]:
                return at + step
            at, width = near, _FAR
        return -1

    def last(self, points: NDArray[Any], start: int, stop: int) -> int:
        """The last forced border in ``start..stop`` (both included), or -1."""
        at = min(stop, len(points) - 1)
        start = max(start, 1)
        width = _NEAR
        while at >= start:
            low = max(start, at - width + 1)
            found = self.sure(points[low - 1 : at], points[low : at + 1])[::-1]
            step = int(found.argmax())
            if found[step]:
                return at - step
            at, width = low - 1, _FAR
        return -1


def blocks(points: NDArray[Any], borders: Borders, size: int) -> Iterator[tuple[int, int]]:
    """Spans of about ``size`` characters that tile a text, cut at forced borders only."""
    start, length = 0, len(points)
    while length - start > size + size // 8:
        near = start + size
        cut = borders.last(points, near - size // 8, near)
        if cut < 0:
            cut = borders.first(points, near, length)
        if cut < 0:
            break
        yield start, cut
        start = cut
    if start < length:
        yield start, length


def code_points(text: str) -> NDArray[np.uint32]:
    """``uint32[len(text)]``; lone surrogates included."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


@functools.cache
def byte_pair() -> Borders:
    r"""Borders of the ``cl100k_base`` and ``o200k_base`` patterns.

    No pre-token of either holds (1) a letter or digit followed by anything but a letter, digit,
    mark or apostrophe; (2) a letter followed by a digit; (3) a digit followed by a letter;
    (4) anything but white space followed by white space other than ``\r`` and ``\n``; (5) ``\r`` or
    ``\n`` followed by anything but white space and, in ``o200k_base``, a slash.
    """
    before = np.zeros(_CODE_POINTS, dtype=np.uint8)
    after = np.zeros(_CODE_POINTS, dtype=np.uint8)
    kinds = _kinds()
    letter, digit = kinds == ord("L"), kinds == ord("N")
    before[letter] = 1 | 2
    before[digit] = 1 | 4
    after[(kinds == ord("P")) | (kinds == ord("S"))] = 1
    after[ord("'")] = 0
    after[digit] = 2
    after[letter] = 4
    white = np.array([ord(char) for char in WHITE])
    before |= 8
    before[white] = 0
    after[white] = 1 | 8
    after[[ord("\r"), ord("\n")]] = 1
    before[[ord("\r"), ord("\n")]] |= 16
    after |= 16
    # The last four have been white space in some version of Unicode or for some engine.
    after[[*white, ord("/"), 0x1C, 0x1D, 0x1E, 0x1F, 0x180E]] &= 0xEF
    return Borders(before, after)


@functools.cache
def word_piece() -> Borders:
    """Borders of BERT's pre-tokenizer: around white space, punctuation and each ideograph."""
    alone = isolated()
    before = np.ones(_CODE_POINTS, dtype=np.uint8)
    after = np.full(_CODE_POINTS, 2, dtype=np.uint8)
    before[alone != 0] = 1 | 2
    after[alone != 0] = 1 | 2
    return Borders(before, after)


@functools.cache
def isolated() -> NDArray[np.uint8]:
    """For BERT's pre-tokenizer: 1 white space, 2 a word of its own, 0 part of a word (or dropped).

    What is not surely of a kind counts as part of a word, and such words are left to the reference.
    """
    kinds = np.zeros(_CODE_POINTS, dtype=np.uint8)
    kinds[_kinds() == ord("P")] = 2
    for low, high in _IDEOGRAPHS:
        kinds[low : high + 1] = 2
    # ASCII symbols are punctuation there; control characters other than these three are dropped.
    kinds[[code for code in range(33, 127) if not chr(code).isalnum()]] = 2
    kinds[[ord(char) for char in WHITE if char not in "\x0b\x0c\x85"]] = 1
    return kinds


@functools.cache
def _kinds() -> NDArray[np.uint8]:
    """The first letter of each code point's general category, 0 where Unicode is of two minds.

    Only what has been the same since Unicode 3.2 is told, so that every Python and every engine
    agrees whatever version of Unicode it carries.
    """
    old, new = unicodedata.ucd_3_2_0.category, unicodedata.category
    told = bytearray(_CODE_POINTS)
    for code in range(_LOOKED_AT):
        char = chr(code)
        kind = new(char)[0]
        if kind in "LNPSMZ" and old(char)[0] == kind:
            told[code] = ord(kind)
    return np.frombuffer(bytes(told), dtype=np.uint8)
