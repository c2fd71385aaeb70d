"""Tables of HTML: spans resolved, layout told from data, columns that are only alignment merged."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from chunk_assets.converters.blocks import Block, table_block
from chunk_assets.converters.cells import MAX_SPAN, cell_text, repeated
from chunk_assets.converters.markup import cell_markdown
from chunk_assets.converters.webpage.columns import Grid, merged_columns
from chunk_assets.converters.webpage.headings import promoted

_LABEL = re.compile(
    r"[•●○▪■◦‣·o–—*☐☑☒✓➢§†‡-]|\(?(?:\d{1,3}|[a-zA-Z]{1,2}|[ivxIVX]{1,5})[.)]+|(?:\d{1,2}\.)+\d{0,2}|\(\*+\)"
    r"|(?:item|note|section|article|exhibit|part)\s+[\w.()-]{1,8}[.:]?",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[•●○▪■◦‣·o–—*➢§-]")
_AMOUNT = re.compile(r"[$€£¥(]*\s*-?[\d.,]*\d[\d.,]*\s*[)%]*")
_YEAR = re.compile(r"(?:19|20)\d\d")
# Cells of more text than this hold parts of a page rather than values.
_LAYOUT_CHARS = 1_000
_MOST_HEADER_ROWS = 4


@dataclass(slots=True)
class Cell:
    """A cell being read; ``blocks`` are there once it is closed."""

    columns: int = 1
    rows: int = 1
    header: bool = False
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class Row:
    """A row; ``header`` says that it stands in the table's head."""

    header: bool = False
    cells: list[Cell] = field(default_factory=list)


class TableBuilder:
    """Collects rows and cells of one table and makes blocks of them."""

    def __init__(self, role: str = "") -> None:
        self._presentation = role.lower() in {"presentation", "none"}
        self._rows: list[Row] = []
        self._captions: list[Cell] = []

    def add_row(self, *, header: bool) -> None:
        """Starts a row."""
        self._rows.append(Row(header))

    def add_cell(self, columns: int, rows: int, *, header: bool) -> Cell:
        """Starts a cell of the last row; spans are bounded, 0 rows mean all rows that follow."""
        if not self._rows:
            self.add_row(header=False)
        cell = Cell(min(max(columns, 1), MAX_SPAN), min(rows, 65_534) if rows > 0 else 65_534, header)
        self._rows[-1].cells.append(cell)
        return cell

    def add_caption(self) -> Cell:
        """Starts the caption, which is read like a cell."""
        self._captions.append(Cell())
        return self._captions[-1]

    def blocks(self) -> list[Block]:
        """The caption as paragraphs, then a pipe table, or the cells' own blocks for a layout table."""
        captions = [block for caption in self._captions for block in caption.blocks]
        filled = [cell for row in self._rows for cell in row.cells if cell.blocks]
        if self._is_layout(filled):
            return [*captions, *(block for cell in filled for block in _unwrapped(cell))]
        grid = merged_columns(_grid(self._rows))
        return [*captions, *(_prose(grid) or _table(grid, self._header_rows()))]

    def _is_layout(self, filled: list[Cell]) -> bool:
        if self._presentation or len(filled) <= 1:
            return True
        sizes = [_size(cell.blocks) for cell in filled]
        nested = sum(_size([b for b in cell.blocks if b.kind == "table"]) for cell in filled)
        return (len(filled) <= 4 and max(sizes) > _LAYOUT_CHARS) or nested > 0.6 * sum(sizes)

    def _header_rows(self) -> int:
        """How many rows the table itself marks as its head."""
        count = 0
        for row in self._rows:
            cells = [cell for cell in row.cells if cell.blocks]
            if not row.header and not (cells and all(cell.header for cell in cells)):
                break
            count += 1
        return count


def _size(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _unwrapped(cell: Cell) -> list[Block]:
    """A cell's blocks as blocks of the page, where a line may need an escape at its start."""
    return list(cell.blocks)


def _grid(rows: list[Row]) -> Grid:
    """Texts by row and column. Values merged over rows are repeated downwards, never sideways."""
    grid = Grid()
    open_spans: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []
        spans: list[tuple[int, int]] = []
        for cell in row.cells:
            _fill_from_above(line, open_spans)
            text, at = cell_text(cell.blocks), len(line)
            columns = max(1, min(cell.columns, MAX_SPAN - at))
            line += [text, *[""] * (columns - 1)]
            if columns > 1:
                spans.append((at, at + columns))
            if cell.rows > 1 and at < MAX_SPAN:
                for column in range(at, at + columns):
                    open_spans[column] = (cell.rows - 1, repeated(text) if column == at else "")
        _fill_from_above(line, open_spans)
        grid.rows.append(line)
        grid.spans.append(spans)
    return grid


def _fill_from_above(line: list[str], open_spans: dict[int, tuple[int, str]]) -> None:
    """Adds the cells that reach down into this row at the columns that come next."""
    while len(line) in open_spans:
        left, text = open_spans.pop(len(line))
        if left > 1:
            open_spans[len(line)] = (left - 1, text)
        line.append(text)


def _prose(grid: Grid) -> list[Block] | None:
    """Paragraphs for a table of one column, or of labels and what they label; else ``None``."""
    width = len(grid.rows[0]) if grid.rows else 0
    if width == 1:
        return [_paragraph(row[0]) for row in grid.rows]
    if width == 2 and all(_LABEL.fullmatch(row[0]) for row in grid.rows):
        return [_labelled(row[0], row[1]) for row in grid.rows]
    return None


def _paragraph(text: str) -> Block:
    return Block(text.replace("<br>", "\n").replace("\\|", "|"))


def _labelled(label: str, text: str) -> Block:
    body = text.replace("<br>", "\n").replace("\\|", "|")
    level = promoted(f"{label} {body}")
    if level and "\n" not in body:
        return Block(f"{'#' * level} {label} {body}", "heading")
    if _BULLET.fullmatch(label):
        return Block("- " + body.replace("\n", "\n  "), "item")
    return Block(f"{label} {body}")


def _table(grid: Grid, marked: int) -> list[Block]:
    """Title rows as paragraphs, header rows joined into one, then the table."""
    titles = 0
    while titles < len(grid.rows) - 2 and _is_title(grid, titles):
        titles += 1
    blocks = [_paragraph(grid.rows[at][0]) for at in range(titles)]
    rows, spans = grid.rows[titles:], grid.spans[titles:]
    count = max(marked - titles, 0) or _blank_cornered(rows)
    if 1 < count < len(rows):
        rows = [_joined_header(rows[:count], spans[:count]), *rows[count:]]
    return [*blocks, table_block(rows)] if rows else blocks


def _is_title(grid: Grid, at: int) -> bool:
    """Whether a row has only its first cell, over all columns, and the next row has more."""
    row, following = grid.rows[at], grid.rows[at + 1]
    return bool(row[0]) and not any(row[1:]) and (0, len(row)) in grid.spans[at] and any(following[1:])


def _blank_cornered(rows: list[list[str]]) -> int:
    """How many rows at the top have no label and no amounts, as the headers of figures have."""
    count = 0
    for row in rows[: _MOST_HEADER_ROWS + 1]:
        values = [text for text in row if text]
        amounts = sum(1 for text in values if _AMOUNT.fullmatch(text) and not _YEAR.fullmatch(text))
        if row[0] or 2 * amounts > len(values):
            break
        count += 1
    return count if count <= _MOST_HEADER_ROWS else 0


def _joined_header(rows: list[list[str]], spans: list[list[tuple[int, int]]]) -> list[str]:
    """One header row: each column says all that stands above it, group headers included."""
    filled = []
    for row, bounds in zip(rows, spans, strict=True):
        line = list(row)
        for start, end in bounds:
            line[start:end] = [row[start]] * (end - start)
        filled.append(line)
    return [
        cell_markdown(" ".join(dict.fromkeys(filter(None, column)))).replace("\\\\|", "\\|")
        for column in zip(*filled, strict=True)
    ]
