"""Characters as numbers, and spans without the white space around them.

Offsets are characters (code points), spans are half open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What ``str.isspace`` calls white space; a chunk neither begins nor ends with any of it.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_WHITE_CODES = np.array([ord(c) for c in WHITE_SPACE], dtype=np.int64)

_SURROGATES = re.compile("[\ud800-\udfff]+")

# After this many vectorised steps the few spans left are trimmed one by one.
_STEPS = 6


def codes(text: str) -> NDArray[Any]:
    """The code points of ``text``, as the narrowest of uint8, uint16 and uint32 that holds them."""
    try:
        return np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
    except UnicodeEncodeError:
        pass
    pairs = text.encode("utf-16-le", "surrogatepass")
    if len(pairs) == 2 * len(text):
        return np.frombuffer(pairs, dtype="<u2")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def without_surrogates(text: str) -> str:
    """``text`` with U+FFFD for each lone surrogate, which no encoder takes; offsets stay as they are."""
    return _SURROGATES.sub(lambda run: "\ufffd" * len(run.group()), text)


def is_white(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of the code points are white space, in the sense of ``str.isspace``."""
    white: NDArray[np.bool_] = (values == 32) | ((values >= 9) & (values <= 13))
    odd = (values >= 0x1C) & (values != 32) & ((values < 0x21) | ((values >= 0x85) & (values <= 0x3000)))
    if odd.any():
        white[odd] = np.isin(values[odd], _WHITE_CODES)
    return white


def merged(*arrays: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sorted union of sorted arrays; ``np.union1d`` hashes, which takes ten times as long."""
    together = np.concatenate(arrays)
    together.sort(kind="stable")
    is_new = np.ones(len(together), dtype=np.bool_)
    np.not_equal(together[1:], together[:-1], out=is_new[1:])
    return together[is_new]


def trimmed(
    text: str, points: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The spans without white space at either side; a blank span becomes empty at its start.

    ``points`` are ``codes(text)``. Linear in the white space that is removed.
    """
    ends = _trim_ends(text, points, starts, ends.copy())
    return _trim_starts(text, points, starts.copy(), ends), ends


def _trim_ends(
    text: str, points: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    left = np.flatnonzero(ends > starts)
    for _ in range(_STEPS):
        left = left[is_white(points[ends[left] - 1])]
        ends[left] -= 1
        left = left[ends[left] > starts[left]]
        if not len(left):
            return ends
    for at in left.tolist():
        start, end = int(starts[at]), int(ends[at])
        ends[at] = start + len(text[start:end].rstrip())
    return ends


def _trim_starts(
    text: str, points: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    left = np.flatnonzero(ends > starts)
    for _ in range(_STEPS):
        left = left[is_white(points[starts[left]])]
        starts[left] += 1
        left = left[ends[left] > starts[left]]
        if not len(left):
            return starts
    for at in left.tolist():
        start, end = int(starts[at]), int(ends[at])
        starts[at] = end - len(text[start:end].lstrip())
    return starts
