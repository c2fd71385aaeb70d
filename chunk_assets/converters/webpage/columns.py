"""Columns of a grid that exist only for alignment: empty ones, currency signs, closing brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_OPENER = re.compile(r"[$€£¥(]+|US\$|C\$|A\$|HK\$|R\$|[A-Z]{3}")
_CLOSER = re.compile(r"[)%]+|\)\s?%|\(\d\)|x|pts?|bps")
# Beyond this many columns a grid is data as it stands; merging looks at each pair of neighbours.
_WIDEST = 200


@dataclass(slots=True)
class Grid:
    """Texts by row and column, and for each row the ranges of columns that one cell spans."""

    rows: list[list[str]] = field(default_factory=list)
    spans: list[list[tuple[int, int]]] = field(default_factory=list)


def merged_columns(grid: Grid) -> Grid:
    """The grid without empty rows and columns, and with columns of mere alignment merged."""
    grid = _without_empty(grid)
    at = 0
    while at < _width(grid) - 1 and _width(grid) <= _WIDEST:
        if _belongs_right(grid, at) or _belongs_left(grid, at + 1) or _complements(grid, at):
            _merge(grid, at)
            at = max(at - 1, 0)
        else:
            at += 1
    return grid


def _width(grid: Grid) -> int:
    return len(grid.rows[0]) if grid.rows else 0


def _without_empty(grid: Grid) -> Grid:
    kept = [at for at, row in enumerate(grid.rows) if any(row)]
    width = max((len(grid.rows[at]) for at in kept), default=0)
    padded = [grid.rows[at] + [""] * (width - len(grid.rows[at])) for at in kept]
    used = [column for column in range(width) if any(row[column] for row in padded)]
    new = {column: sum(1 for u in used if u < column) for column in range(width + 1)}
    rows = [[row[column] for column in used] for row in padded]
    spans = [[(new[a], new[min(b, width)]) for a, b in grid.spans[at]] for at in kept]
    return Grid(rows, [[(a, b) for a, b in bounds if b - a > 1] for bounds in spans])


def _own_values(grid: Grid, column: int) -> list[str]:
    """Texts of a column, but for cells that span more columns than it."""
    return [
        row[column]
        for row, bounds in zip(grid.rows, grid.spans, strict=True)
        if row[column] and not any(start <= column < end for start, end in bounds)
    ]


def _belongs_right(grid: Grid, column: int) -> bool:
    values = _own_values(grid, column)
    if not values or not all(_OPENER.fullmatch(value) for value in values):
        return False
    return all(
        row[column + 1] or not row[column] or _spanned(bounds, column)
        for row, bounds in zip(grid.rows, grid.spans, strict=True)
    )


def _belongs_left(grid: Grid, column: int) -> bool:
    values = _own_values(grid, column)
    if not values or not all(_CLOSER.fullmatch(value) for value in values):
        return False
    return all(
        row[column - 1] or not row[column] or _spanned(bounds, column)
        for row, bounds in zip(grid.rows, grid.spans, strict=True)
    )


def _spanned(bounds: list[tuple[int, int]], column: int) -> bool:
    return any(start <= column < end for start, end in bounds)


def _complements(grid: Grid, column: int) -> bool:
    """Whether two columns never both have a text, and some cell spans both: they are one column."""
    if any(row[column] and row[column + 1] for row in grid.rows):
        return False
    return any((column, column + 2) in bounds for bounds in grid.spans)


def _merge(grid: Grid, column: int) -> None:
    """Joins ``column`` and the next one in place."""
    for row, bounds in zip(grid.rows, grid.spans, strict=True):
        row[column : column + 2] = [f"{row[column]}{row[column + 1]}"]
        moved = [(a - (a > column), b - (b > column + 1)) for a, b in bounds]
        bounds[:] = [(a, b) for a, b in moved if b - a > 1]
