"""Columns of a page, told by the order in which it is drawn: one after the other, each full of text.

A table is drawn row by row, or its cells are short: neither looks like that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from chunk_assets.converters.pdf.lines import line_rows
from chunk_assets.converters.pdf.model import Line

# What is wider than this share of the text is a title over columns.
_WIDE = 0.45
_LEAST = 8
_GAP = 4.0
# A table of four rows crosses each of its gutters seven times.
_CROSSINGS = 4


def sides(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines by columns of the page; one group without columns."""
    whole = [list(lines)]
    if len(lines) < 2 * _LEAST:
        return whole
    width = max([line.x1 for line in lines]) - min([line.x0 for line in lines])
    narrow = sorted([line for line in lines if line.x1 - line.x0 <= _WIDE * width], key=_order)
    groups = _groups(narrow)
    if len(groups) < 2 or not all(map(_is_rich, groups)) or not _beside(groups):
        return whole
    wide = [line for line in lines if line.x1 - line.x0 > _WIDE * width]
    return [*groups, wide] if wide else groups


def _order(line: Line) -> int:
    return line.seq


def _groups(lines: list[Line]) -> list[list[Line]]:
    """The lines, in drawing order, by the gutters that the drawing hardly ever crosses."""
    gutters = [x for x in _gaps(lines) if _crossings(lines, x) <= _CROSSINGS]
    groups: list[list[Line]] = [[] for _ in range(len(gutters) + 1)]
    for line in lines:
        groups[bisect_right(gutters, line.x0)].append(line)
    return groups


def _gaps(lines: Sequence[Line]) -> list[float]:
    """The middles of the vertical strips without any text."""
    gaps = []
    edge: float | None = None
    for x0, x1 in sorted([(line.x0, line.x1) for line in lines]):
        if edge is not None and x0 - edge >= _GAP:
            gaps.append((edge + x0) / 2)
        edge = x1 if edge is None else max(edge, x1)
    return gaps


def _crossings(lines: Sequence[Line], x: float) -> int:
    """How often the drawing goes from one side of ``x`` to the other."""
    left = [line.x0 < x for line in lines]
    return sum([one != other for one, other in pairwise(left)])


def _is_rich(group: Sequence[Line]) -> bool:
    """Whether a group is a column of a page and not of a table: with longer lines, or with columns itself."""
    if len(group) < _LEAST:
        return False
    words = sum([len(line.words) for line in group])
    rows = line_rows(group)
    several = sum([len(row) > 1 for row in rows])
    return words >= 3.5 * len(group) or several * 10 >= 3 * len(rows)


def _beside(groups: Sequence[Sequence[Line]]) -> bool:
    """Whether the groups stand side by side for most of their heights."""
    tops = [min([line.top for line in group]) for group in groups]
    bottoms = [max([line.bottom for line in group]) for group in groups]
    shared = min(bottoms) - max(tops)
    return shared * 2 > min([bottom - top for top, bottom in zip(tops, bottoms, strict=True)])
