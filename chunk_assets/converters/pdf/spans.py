"""Where the words and lines of a page's text are, found with a table of characters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SEPARATOR, _LINE_END, _HYPHEN, _UNMAPPED, _EAST_ASIAN = 1, 2, 4, 8, 16
_RETURN, _FEED = 13, 10
_LAST = 0xFFFF
# Kind of character → first and last code of its ranges.
_RANGES = {
    _SEPARATOR: ((0, 0x20), (0xFFFE, 0xFFFE)),
    _LINE_END: ((_FEED, _FEED), (_RETURN, _RETURN), (2, 2), (0xFFFE, 0xFFFE)),
    _HYPHEN: ((2, 2), (0xFFFE, 0xFFFE)),
    _UNMAPPED: ((0, 1), (3, 8), (0x0E, 0x1F), (0xE000, 0xF8FF), (0xFFFD, 0xFFFD)),
    _EAST_ASIAN: ((0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF)),
}


class Spans(NamedTuple):
    """Where the words are in the page's text, which of PDFium's lines each stands on, where lines end.

    ``unmapped`` counts characters without a Unicode value; ``east_asian`` says that there are such.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]
    line_ends: list[int]
    unmapped: int
    east_asian: bool


def spans_of(text: str) -> Spans:
    """The words of a page in order; a hyphen at a line's end ends its word and starts a new line too."""
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    kinds = np.zeros(len(codes) + 2, np.uint8)
    # A separator before and after all spares the questions of where a text begins and ends.
    kinds[0] = kinds[-1] = _SEPARATOR
    kinds[1:-1] = _kinds()[np.minimum(codes, _LAST)]
    apart = (kinds & _SEPARATOR).astype(np.int8)
    steps = np.diff(apart)
    starts = np.flatnonzero(steps < 0)
    ends = np.flatnonzero(steps > 0)
    ends += (kinds[ends + 1] & _HYPHEN) > 0
    line_ends = _line_ends(codes, kinds[1:-1])
    lines = np.searchsorted(line_ends, starts, side="right")
    unmapped = int(np.count_nonzero(kinds & _UNMAPPED))
    return Spans(starts, ends, lines, line_ends.tolist(), unmapped, bool((kinds & _EAST_ASIAN).any()))


def _line_ends(codes: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> NDArray[np.int64]:
    r"""The places after each line's end, and the end of the text; ``\r\n`` is one."""
    import numpy as np

    found = np.flatnonzero(kinds & _LINE_END)
    pairs = (codes[found[:-1]] == _RETURN) & (codes[found[1:]] == _FEED) & (np.diff(found) == 1)
    if pairs.any():
        found = found[~np.append(pairs, False)]
    return np.append(found + 1, len(codes))


@cache
def _kinds() -> NDArray[np.uint8]:
    """What each character up to U+FFFF is, as bits."""
    import numpy as np

    table = np.zeros(_LAST + 1, np.uint8)
    for bit, ranges in _RANGES.items():
        for first, last in ranges:
            table[first : last + 1] |= bit
    table[[code for code in range(_LAST + 1) if chr(code).isspace()]] |= _SEPARATOR
    return table
