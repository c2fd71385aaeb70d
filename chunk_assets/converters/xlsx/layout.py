"""A sheet as titles and tables: merged cells filled, blank rows and columns taken as borders."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from chunk_assets.converters.base import Limits
from chunk_assets.converters.grid import Block, block_markdown, filled, is_header, kind
from chunk_assets.converters.xlsx.sheet import Row, Sheet
from chunk_assets.errors import DocumentFailure

# Cells that merged areas of one sheet may fill: far more than people merge.
_MAX_FILLED = 1_000_000
# A merged area: first row and column, rows, columns; counted from 0.
Area = tuple[int, int, int, int]


def sheet_lines(sheet: Sheet, limits: Limits) -> list[str]:
    """The lines of markdown of all that is on the sheet, from top to bottom."""
    merges = _fill(sheet, limits.max_output_chars)
    blocks: list[tuple[list[int], Block]] = []
    for rows in _bands(sheet.rows, merges):
        for columns, block in _blocks(rows, merges):
            if blocks and _continues(*blocks[-1], columns, block):
                _append(*blocks[-1], columns, block)
            else:
                blocks.append((columns, block))
    last = len(blocks) - 1
    return [line for i, (_, block) in enumerate(blocks) for line in block_markdown(block, caption=i < last)]


def _continues(columns: list[int], table: Block, more_columns: list[int], more: Block) -> bool:
    """Whether rows below a blank row belong to the table above: same columns, figures, no header."""
    if len(table.cells) < 2 or filled(more.cells[0]) < 2 or not set(more_columns) <= set(columns):
        return False
    figures = any(kind(cell) in ("number", "date") for cell in more.cells[0])
    return figures and (len(more.cells) == 1 or not is_header(more.cells[0], more.cells[1:]))


def _append(columns: list[int], table: Block, more_columns: list[int], more: Block) -> None:
    places = [columns.index(column) for column in more_columns]
    for row in more.cells:
        line = [""] * len(columns)
        for place, text in zip(places, row, strict=True):
            line[place] = text
        table.cells.append(line)


def _fill(sheet: Sheet, max_chars: int) -> list[Area]:
    """Copies the text of each merged area into its cells; the areas that have text.

    Across: only labels, since a figure in three columns would count three times, and only where the row
    has other cells too, since a label over the whole width is a title.
    """
    by_number = {row.number: row for row in sheet.rows} if sheet.merges else {}
    used: list[Area] = []
    additions: dict[int, dict[int, str]] = {}
    cells_left, chars_left = _MAX_FILLED, max_chars
    for area in sheet.merges:
        row = by_number.get(area[0])
        if row is None or area[1] not in row.columns:
            continue
        used.append(area)
        text = row.texts[row.columns.index(area[1])]
        once = len(row.columns) == 1 or kind(text) != "text"
        for r, c in _covered(area, by_number, once=once):
            additions.setdefault(r, {}).setdefault(c, text)
            cells_left -= 1
            chars_left -= len(text)
            if cells_left < 0 or chars_left < 0:
                raise DocumentFailure("too_large", "merged cells repeat their text too often")
    for number, cells in additions.items():
        row = by_number[number]
        merged = cells | dict(zip(row.columns, row.texts, strict=True))
        row.columns = sorted(merged)
        row.texts = [merged[column] for column in row.columns]
    return used


def _covered(area: Area, rows: Mapping[int, Row], *, once: bool) -> Iterator[tuple[int, int]]:
    """The cells of the area beside its first one, in rows that have text; ``once`` a row or in all."""
    top, left, height, width = area
    below = range(top, top + height)
    for r in below if height <= len(rows) else [r for r in rows if r in below]:
        if r in rows:
            for c in range(left, left + (1 if once else width)):
                if (r, c) != (top, left):
                    yield r, c


def _bands(rows: Sequence[Row], merges: Sequence[Area]) -> Iterator[list[Row]]:
    """Runs of rows without a blank row between them, or with one that a merged area spans."""
    bridged = {
        r for top, _, height, _ in merges if height > 1 for r in range(top, min(top + height, top + 50))
    }
    band: list[Row] = []
    for row in rows:
        if band and row.number > band[-1].number + 1:
            gap = range(band[-1].number + 1, row.number)
            if not all(r in bridged for r in gap):
                yield band
                band = []
        band.append(row)
    if band:
        yield band


def _blocks(rows: list[Row], merges: Sequence[Area]) -> Iterator[tuple[list[int], Block]]:
    """The tables that stand side by side in a band, from left to right, with their columns."""
    used = sorted(set().union(*{id(row.columns): row.columns for row in rows}.values()))
    groups: list[list[int]] = []
    for column in used:
        if groups and column == groups[-1][-1] + 1:
            groups[-1].append(column)
        else:
            groups.append([column])
    for group in _joined(groups, rows):
        yield group, _block(rows, group, merges)


def _joined(groups: list[list[int]], rows: list[Row]) -> list[list[int]]:
    """Column groups with those joined that are one table with a spacer column in it."""
    joined = [groups[0]]
    for group in groups[1:]:
        if _apart(joined[-1], group, rows):
            joined.append(group)
        else:
            joined[-1] = joined[-1] + group
    return joined


def _apart(left: list[int], right: list[int], rows: list[Row]) -> bool:
    """Two tables: each has two columns or more, and the right one other rows or labels of its own."""
    if len(left) < 2 or len(right) < 2:
        return False
    in_left = [not set(left).isdisjoint(row.columns) for row in rows]
    in_right = [not set(right).isdisjoint(row.columns) for row in rows]
    both = sum(a and b for a, b in zip(in_left, in_right, strict=True))
    if both * 2 < min(sum(in_left), sum(in_right)):
        return True
    labels = [row.texts[row.columns.index(right[0])] for row in rows if right[0] in row.columns]
    texts = sum(1 for label in labels if kind(label) == "text")
    return texts * 2 > len(labels) and len(labels) > 1


def _block(rows: list[Row], columns: list[int], merges: Sequence[Area]) -> Block:
    """The cells of the rows in ``columns``, blank rows at the ends left out."""
    place = {column: i for i, column in enumerate(columns)}
    cells, numbers = [], []
    for row in rows:
        if row.columns == columns:
            cells.append(row.texts)
            numbers.append(row.number)
            continue
        line = [""] * len(columns)
        for column, text in zip(row.columns, row.texts, strict=True):
            at = place.get(column)
            if at is not None:
                line[at] = text
        if filled(line):
            cells.append(line)
            numbers.append(row.number)
    index = {number: i for i, number in enumerate(numbers)}
    spans = [
        (index[top], place[left], bisect_left(numbers, top + height) - index[top], width)
        for top, left, height, width in merges
        if top in index and left in place
    ]
    return Block(cells, spans)
