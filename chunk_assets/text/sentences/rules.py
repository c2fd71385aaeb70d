"""The splitter of the house: rules over the raw text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Goes up whenever a boundary of any text can move.
VERSION = 1

_ENDS = re.compile(r"[.?!…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])|[。！？؟।]+[”’」』）]*\s*|\s*\n[ \t]*\n\s*")


def sentence_starts(
    text: str,
    hard_breaks: NDArray[np.int64] | None = None,
    atomic: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Sorted character offsets at which sentences begin; the spans between them tile ``text``.

    Args:
        text: any text; blank lines always end a sentence, a single newline is white space.
        hard_breaks: offsets that must be starts (block borders), sorted.
        atomic: ``(n, 2)`` sorted, disjoint spans inside which no start may lie.

    Returns:
        ``int64[k]``, beginning with 0, empty for an empty text.
    """
    if not text:
        return np.zeros(0, dtype=np.int64)
    found = {0, *(match.end() for match in _ENDS.finditer(text))} - {len(text)}
    starts = np.array(sorted(found), dtype=np.int64)
    return combined(starts, hard_breaks, atomic, len(text))


def combined(
    starts: NDArray[np.int64],
    hard_breaks: NDArray[np.int64] | None,
    atomic: NDArray[np.int64] | None,
    length: int,
) -> NDArray[np.int64]:
    """``starts`` without those strictly inside an atomic span, and with the hard breaks."""
    if atomic is not None and len(atomic):
        within = np.searchsorted(atomic[:, 0], starts, side="right") - 1
        inside = (within >= 0) & (starts > atomic[within, 0]) & (starts < atomic[within, 1])
        starts = starts[~inside]
    if hard_breaks is not None and len(hard_breaks):
        starts = np.union1d(starts, hard_breaks[(hard_breaks >= 0) & (hard_breaks < length)])
    return starts
