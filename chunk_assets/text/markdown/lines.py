"""Lines of a text as arrays: where they start and end, how far they are indented, how they begin.

A line ends with a newline, a carriage return (with or without a newline) or a form feed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text import spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEWLINE, _FORM_FEED, _RETURN, _SPACE, _TAB = 10, 12, 13, 32, 9
_BOM = "\ufeff"
_BLANKS = re.compile(r"[ \t]*")
_STEPS = 12


@dataclass(frozen=True, slots=True)
class Lines:
    """``n`` lines: ``starts`` tile the text, ``ends`` leave out the line break.

    ``content`` is the first character that is neither blank nor tab (``ends`` of a blank line),
    ``indent`` the columns before it (tab stops of four), ``first`` the code point there (-1 for a
    blank line).
    """

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    content: NDArray[np.int64]
    indent: NDArray[np.int64]
    first: NDArray[np.int64]


def scan(text: str, points: NDArray[Any] | None = None) -> Lines:
    """The lines of ``text``; ``points`` are ``spans.codes(text)`` where they are at hand."""
    points = spans.codes(text) if points is None else points
    starts, ends = _breaks(points)
    content, indent = starts.copy(), np.zeros(len(starts), dtype=np.int64)
    if text.startswith(_BOM):
        content[0] = 1
    _skip_blanks(text, points, content, indent, ends)
    if text.startswith(_BOM) and content[0] >= ends[0]:
        content[0] = 0  # a mark alone on its line is visible, and belongs somewhere
    first = np.full(len(starts), -1, dtype=np.int64)
    filled = content < ends
    first[filled] = points[content[filled]]
    return Lines(text, starts, ends, content, indent, first)


def _breaks(points: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    size = len(points)
    # One comparison finds the few controls; what they are is looked at afterwards.
    at = np.flatnonzero(points <= _RETURN)
    controls = points[at]
    has_returns = bool((controls == _RETURN).any())
    breaks = (controls == _NEWLINE) | (controls == _FORM_FEED)
    if has_returns:
        lone = controls == _RETURN
        lone &= points[np.minimum(at + 1, size - 1)] != _NEWLINE
        breaks |= lone
    at = at[breaks]
    starts = np.concatenate((np.zeros(1, dtype=np.int64), at + 1))
    ends = np.concatenate((at, np.full(1, size, dtype=np.int64)))
    if has_returns:
        newline = np.flatnonzero((ends < size) & (ends > starts))
        before = points[ends[newline] - 1]
        newline = newline[(points[ends[newline]] == _NEWLINE) & (before == _RETURN)]
        ends[newline] -= 1
    if starts[-1] >= size:
        starts, ends = starts[:-1], ends[:-1]
    return starts, ends


def _skip_blanks(
    text: str,
    points: NDArray[Any],
    content: NDArray[np.int64],
    indent: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> None:
    left = np.flatnonzero(content < ends)
    for _ in range(_STEPS):
        here = points[content[left]]
        blank = (here == _SPACE) | (here == _TAB)
        left, tab = left[blank], (here == _TAB)[blank]
        indent[left] += np.where(tab, 4 - indent[left] % 4, 1)
        content[left] += 1
        left = left[content[left] < ends[left]]
        if not len(left):
            return
    for at in left.tolist():
        found = _BLANKS.match(text, int(content[at]), int(ends[at]))
        skipped = found.group() if found else ""
        content[at] += len(skipped)
        indent[at] = len((" " * int(indent[at]) + skipped).expandtabs(4))
