"""Where the words and lines of a page's text are, found with a table of characters."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The bits of what is rare are the highest, so that one look at the greatest tells whether there is any.
_SEPARATOR, _LINE_END, _HYPHEN, FIGURE, _UNMAPPED, _EAST_ASIAN, _LEFTWARD = 1, 2, 4, 8, 16, 32, 64
_FEED = 10
_LONE_RETURN = re.compile(r"\r(?!\n)")
_LAST = 0xFFFF
# Kind of character → first and last code of its ranges.
_RANGES = {
    _SEPARATOR: ((0, 0x20), (0xFFFE, 0xFFFE)),
    _LINE_END: ((_FEED, _FEED), (2, 2), (0xFFFE, 0xFFFE)),
    _HYPHEN: ((2, 2), (0xFFFE, 0xFFFE)),
    FIGURE: ((0x2B, 0x2B), (0x2D, 0x2D), (0x30, 0x39), (0x2013, 0x2013), (0x2212, 0x2212)),
    _UNMAPPED: ((0, 1), (3, 8), (0x0E, 0x1F), (0xE000, 0xF8FF), (0xFFFD, 0xFFFD)),
    _EAST_ASIAN: ((0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF)),
    _LEFTWARD: ((0x0590, 0x08FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFC)),
}


class Spans(NamedTuple):
    """Where the words are in the page's text, which of PDFium's lines each stands on, where lines end.

    ``kinds`` are bits of each character, with one more at either end; ``unmapped`` counts characters
    without a Unicode value; ``east_asian`` says that there are such, ``leftward`` that most are Arabic,
    Hebrew or of another script that runs to the left.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]
    line_ends: list[int]
    kinds: NDArray[np.uint8]
    unmapped: int
    east_asian: bool
    leftward: bool


def spans_of(text: str) -> Spans:
    """The words of a page in order; a hyphen at a line's end ends its word and starts a new line too."""
    import numpy as np

    kinds = np.ones(len(text) + 2, np.uint8)
    # A separator before and after all spares the questions of where a text begins and ends.
    kinds[1:-1] = _kinds()[_codes(text)]
    apart = kinds & _SEPARATOR
    bounds = np.flatnonzero(apart[1:] != apart[:-1])
    starts, ends = bounds[::2], bounds[1::2]
    ends = ends + ((kinds[ends + 1] & _HYPHEN) > 0)
    line_ends = _line_ends(text, kinds[1:-1])
    lines = np.searchsorted(line_ends, starts, side="right")
    rare = int(kinds.max()) >= _UNMAPPED
    unmapped = int(np.count_nonzero(kinds & _UNMAPPED)) if rare else 0
    east_asian = rare and bool((kinds & _EAST_ASIAN).any())
    leftward = rare and int(np.count_nonzero(kinds & _LEFTWARD)) * 2 > int((ends - starts).sum())
    return Spans(starts, ends, lines, line_ends.tolist(), kinds, unmapped, east_asian, leftward)


def _codes(text: str) -> NDArray[np.integer[Any]]:
    """The characters' codes; those over U+FFFF are all alike."""
    import numpy as np

    units = np.frombuffer(text.encode("utf-16-le", "replace"), np.uint16)
    if len(units) == len(text):
        return units
    return np.minimum(np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32), _LAST)


def _line_ends(text: str, kinds: NDArray[np.uint8]) -> NDArray[np.int64]:
    r"""The places after each line's end, and the end of the text; ``\r\n`` is one."""
    import numpy as np

    found = np.flatnonzero(kinds & _LINE_END) + 1
    if text.count("\r") > text.count("\r\n"):
        lone = [match.end() for match in _LONE_RETURN.finditer(text)]
        found = np.sort(np.append(found, lone))
    return np.append(found, len(text))


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
