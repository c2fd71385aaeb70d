"""Rows of a table of contents: number, title, dots and page number are one line, however far apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from chunk_assets.converters.pdf.blocks import has_leader
from chunk_assets.converters.pdf.lines import line_rows
from chunk_assets.converters.pdf.model import Line, line_of

_PAGE = re.compile(r"(?:[A-Z]{1,2}[-.–])?(?:\d{1,4}|[ivxlc]{1,7})$", re.IGNORECASE)
_PAGE_LAST = re.compile(r"[.·…_]\s*(?:[A-Z]{1,2}[-.–])?(?:\d{1,4}|[ivxlc]{1,7})$", re.IGNORECASE)
_FIGURE = re.compile(r"[$€£¥(–—-]*\s*\d[\d.,%)\s]*$|[$€£¥–—-]$")
# In type sizes: what stands farther away than this belongs to another column.
_REACH = 8.0
# So many rows with dots make a table of contents, where rows without dots count as well.
_LIST = 3


def with_leaders(lines: list[Line]) -> list[Line]:
    """Lines with the parts of each row that has a row of dots joined, also rows among them without."""
    if not any([has_leader(line.text) for line in lines]):  # noqa: C419 - a list is faster
        return lines
    upright = [line for line in lines if line.angle == 0]
    rows = line_rows(upright)
    groups = [group for row in rows for group in _groups(row)]
    edges = Counter(round(group[-1].x1) for group in groups)
    edge, count = edges.most_common(1)[0] if edges else (0, 0)
    if count >= _LIST:
        taken = {line.seq for group in groups for line in group}
        groups += [row for row in rows if _is_entry(row, edge) and not any(p.seq in taken for p in row)]
    return _joined(lines, [group for group in groups if len(group) > 1])


def _groups(row: Sequence[Line]) -> list[list[Line]]:
    """The parts of a visual row, from left to right, that a row of dots holds together."""
    groups: list[list[Line]] = []
    open_group: list[Line] = []
    dotted = False
    if _has_figures(row):
        return []
    for line in row:
        if open_group and line.x0 - open_group[-1].x1 > _REACH * max(line.size, 4.0):
            open_group, dotted = [], False
        if dotted and not (_PAGE.match(line.text) or has_leader(line.text)):
            open_group, dotted = [], False
        open_group.append(line)
        if not dotted and has_leader(line.text):
            dotted = True
            groups.append(open_group)
        if dotted and (_PAGE.match(line.text) or _PAGE_LAST.search(line.text)):
            open_group, dotted = [], False
    return groups


def _has_figures(row: Sequence[Line]) -> bool:
    """Whether two figures stand side by side: a row of a table whose labels have dots after them."""
    figures = [bool(_FIGURE.match(line.text)) and not has_leader(line.text) for line in row]
    return any(one and other for one, other in pairwise(figures))


def _is_entry(row: Sequence[Line], edge: float) -> bool:
    """Whether a row without dots is a title and a page number below those of the rows with dots."""
    at_edge = len(row) in {2, 3} and abs(row[-1].x1 - edge) <= 2 and _PAGE.match(row[-1].text)
    return bool(at_edge) and row[-2].text[:1].isalpha()


def _joined(lines: list[Line], groups: Sequence[Sequence[Line]]) -> list[Line]:
    first = {min(line.seq for line in group): group for group in groups}
    gone = {line.seq for group in groups for line in group}
    result = []
    for line in lines:
        if line.seq in first:
            whole = line_of([word for part in first[line.seq] for word in part.words])
            whole.seq = line.seq
            result.append(whole)
        elif line.seq not in gone:
            result.append(line)
    return result
