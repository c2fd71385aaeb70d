"""Tables without rules: rows whose pieces stand under each other in columns.

A table is looked for among visual rows; prose in columns looks much the same, so the pieces must
be short, or figures, and the gaps between columns must run through (nearly) all rows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from chunk_assets.converters.pdf.cells import bulleted, cut_cell, trimmed
from chunk_assets.converters.pdf.joining import join_two
from chunk_assets.converters.pdf.lines import CELL_GAP, line_rows
from chunk_assets.converters.pdf.model import Line, Table, Word
from chunk_assets.converters.pdf.sides import sides

# In type sizes: the least gap between two columns.
COLUMN_GAP = 0.55
_FIGURE = frozenset("0123456789.,%$€£¥()-–—+/*:−<>≤≥±~ ")
_CAPTION = re.compile(r"(?:table|exhibit|figure|schedule|chart)\s+\S*\d", re.IGNORECASE)
_LEADER = re.compile(r"\.{4}|\. \. \.|…|____|····")
_DOTS = re.compile(r"[.·…]{3,}$|^[.·]$")


@dataclass(slots=True)
class _Row:
    """A visual row cut into pieces at wide gaps."""

    parts: list[Line]
    pieces: list[list[Word]]
    top: float
    bottom: float
    size: float

    @property
    def leader(self) -> bool:
        """Whether it is a line of a table of contents or of a form, with dots or a line to the right."""
        return bool(_LEADER.search(" ".join([part.text for part in self.parts])))

    @property
    def several(self) -> bool:
        """Whether it has several pieces; after a label with dots they must be figures."""
        if len(self.pieces) < 2:
            return False
        return not self.leader or all(map(_is_figure, self.pieces[1:]))


def open_tables(lines: list[Line]) -> tuple[list[Table], list[Line]]:
    """Tables found by alignment among line fragments, and the fragments that are in none of them."""
    flat = [line for line in lines if line.angle == 0]
    if len(flat) < 6:
        return [], lines
    rows = line_rows(flat)
    if sum([len(row) > 1 for row in rows]) < 3:
        return [], lines
    tables = []
    taken: set[int] = set()
    columns = sides(flat)
    for side in [rows] if len(columns) == 1 else map(line_rows, columns):
        for run in _runs([_row(row) for row in side]):
            for table in _tables_in(run):
                tables.append(table)
                taken.update(part.seq for row in run for part in row.parts)
    return tables, [line for line in lines if line.seq not in taken] if taken else lines


def _row(parts: list[Line]) -> _Row:
    size = max(*[part.size for part in parts], 4.0)
    pieces = [list(parts[0].words)]
    edge = parts[0].x1
    for part in parts[1:]:
        if part.x0 - edge > CELL_GAP * size:
            pieces.append([])
        pieces[-1].extend(part.words)
        edge = max(edge, part.x1)
    return _Row(parts, pieces, min([p.top for p in parts]), max([p.bottom for p in parts]), size)


def _runs(rows: list[_Row]) -> list[list[_Row]]:
    """Stretches of rows with two or more pieces; up to two single rows in a row stay inside."""
    runs: list[list[_Row]] = []
    current: list[_Row] = []
    single = 0
    for row in rows:
        several = row.several
        apart = bool(current) and row.top - current[-1].bottom > 2.6 * row.size
        if apart or (current and not several and single >= 2):
            runs.append(current)
            current, single = [], 0
        if several or current:
            current.append(row)
            single = 0 if several else single + 1
    runs.append(current)
    stripped = [_stripped(run) for run in runs]
    return [run for run in stripped if sum(len(row.pieces) > 1 for row in run) >= 3]


def _stripped(run: list[_Row]) -> list[_Row]:
    """The run without single rows at its end, and without what stands above and in a caption."""
    while run and len(run[-1].pieces) < 2 and not (len(run) > 1 and _hangs(run[-1], run[-2])):
        run = run[:-1]
    captions = [index for index, row in enumerate(run[:6]) if _CAPTION.match(row.parts[0].text)]
    return run[captions[-1] + 1 :] if captions else run


def _hangs(row: _Row, above: _Row) -> bool:
    """Whether a single piece is the next line of a cell that is not the first of the row above."""
    starts = [piece[0].x0 for piece in above.pieces[1:]]
    close = row.top - above.bottom <= 0.5 * row.size
    return close and any(abs(row.pieces[0][0].x0 - start) < 2 for start in starts)


def _tables_in(run: list[_Row]) -> list[Table]:
    run = [_undotted(row) for row in run]
    if _is_prose(run):
        return []
    columns = _columns(run)
    if len(columns) < 2:
        return []
    grid = [_cells(row, columns) for row in run]
    if not _tabular(grid, run):
        return []
    texts = _folded(grid, run)
    texts = trimmed(texts)
    if len(texts) < 2 or len(texts[0]) < 2 or bulleted(texts):
        return []
    every = [part for row in run for part in row.parts]
    return [
        Table(
            texts,
            min([w.x0 for w in every]),
            run[0].top,
            max([w.x1 for w in every]),
            run[-1].bottom,
            min([w.seq for w in every]),
            False,
            tuple(columns),
        )
    ]


def _undotted(row: _Row) -> _Row:
    """The row without the dots between its label and its figures."""
    if not row.leader:
        return row
    pieces = []
    for piece in row.pieces:
        words = [word._replace(text=_DOTS.sub("", word.text)) for word in piece]
        pieces.append([word for word in words if word.text] or piece)
    return replace(row, pieces=pieces)


def _is_prose(run: list[_Row]) -> bool:
    """Whether nearly all pieces are of many words: columns of prose, seen at once."""
    lengths = [len(piece) for row in run if len(row.pieces) > 1 for piece in row.pieces]
    return sum([length > 4 for length in lengths]) * 10 >= 8 * len(lengths)


def _columns(run: list[_Row]) -> list[float]:
    """Left edges of the columns: where a gap runs down through nearly all rows of several pieces."""
    events: list[tuple[float, int]] = []
    rows = [row for row in run if len(row.pieces) > 1]
    for row in rows:
        for piece in row.pieces:
            events.append((piece[0].x0, 1))
            events.append((max([word.x1 for word in piece]), -1))
    events.sort()
    size = sorted(row.size for row in rows)[len(rows) // 2]
    allowed = len(rows) // 12
    edges = [events[0][0]]
    depth = 0
    free_from: float | None = None
    for x, step in events:
        if step > 0 and depth + 1 > allowed and free_from is not None:
            if x - free_from >= COLUMN_GAP * size:
                edges.append(x)
            free_from = None
        depth += step
        if step < 0 and depth <= allowed and free_from is None:
            free_from = x
    return edges


def _cells(row: _Row, columns: list[float]) -> list[list[Word]]:
    """The row's words by column; a piece belongs where it starts, a long one is cut at no column."""
    cells: list[list[Word]] = [[] for _ in columns]
    for piece in row.pieces:
        middle = piece[0].x0 + 0.5
        column = max(bisect_right(columns, middle + 1) - 1, 0)
        if len(piece) == 1:
            cells[column] += piece
            continue
        for words in cut_cell(piece, [*columns[column:], float("inf")]):
            cells[column].extend(words)
            column += 1
    return cells


def _is_figure(cell: list[Word]) -> bool:
    text = cell[0].text if len(cell) == 1 else "".join([word.text for word in cell])
    digits = sum(map(str.isdigit, text))
    return (digits > 0 and digits * 2 >= len(text)) or (len(text) <= 3 and all(c in _FIGURE for c in text))


def _tabular(grid: list[list[list[Word]]], run: list[_Row]) -> bool:
    """Whether the aligned pieces are a table and not prose in columns or scattered labels."""
    rows = [row for row in grid if sum(1 for cell in row if cell) > 1]
    if len(rows) < 3 or len(rows) * 2 < len(run):
        return False
    columns = len(grid[0])
    filled = [[cell for row in rows if (cell := row[index])] for index in range(columns)]
    cells = [cell for column in filled for cell in column]
    share = len(cells) / (len(rows) * columns)
    figures = sum(1 for cell in cells if _is_figure(cell))
    words = [sum(map(len, column)) / max(len(column), 1) for column in filled]
    if figures * 4 >= len(cells):
        return share >= 0.35
    small = sum(1 for cell in cells if cell[0].text[0].islower())
    if small * 10 > 3 * len(cells):
        return False
    long_columns = sum(1 for mean in words if mean > 4.5)
    if columns == 2:
        return long_columns == 0 and share >= 0.8 and len(rows) >= 4
    return long_columns <= 1 and share >= 0.5


def _text(cell: list[Word]) -> str:
    return " ".join([word.text for word in cell])


def _folded(grid: list[list[list[Word]]], run: list[_Row]) -> list[list[str]]:
    """Cell texts with wrapped lines put back into the row they continue."""
    texts = [[_text(cell) for cell in row] for row in grid]
    result: list[list[str]] = []
    for index, row in enumerate(texts):
        if result and _wraps(texts, grid, run, index):
            result[-1] = [join_two(above, here) for above, here in zip(result[-1], row, strict=True)]
        else:
            result.append(row)
    return _headed(result)


def _wraps(texts: list[list[str]], grid: list[list[list[Word]]], run: list[_Row], index: int) -> bool:
    """A row that only continues text of the row above, close below it, and has no first cell."""
    row, above = texts[index], texts[index - 1]
    if index == 0 or run[index].top - run[index - 1].bottom > 0.5 * run[index].size:
        return False
    places = [place for place, text in enumerate(row) if text]
    if any(_is_figure(grid[index][place]) for place in places) or any(not above[place] for place in places):
        return False
    return 0 not in places or (places == [0] and row[0][0].islower())


def _headed(rows: list[list[str]]) -> list[list[str]]:
    """The first rows without figures folded into one header row, when figures follow below."""

    def has_figures(row: list[str]) -> bool:
        return any(cell and sum(c.isdigit() for c in cell) * 2 >= len(cell) for cell in row[1:])

    first = next((index for index, row in enumerate(rows) if has_figures(row)), 0)
    if not 2 <= first <= 4 or len(rows) - first < 2:
        return rows
    header = rows[0]
    for row in rows[1:first]:
        header = [join_two(above, here) for above, here in zip(header, row, strict=True)]
    return [header, *rows[first:]]
