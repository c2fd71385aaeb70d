"""Word tables as grids of text: merges filled, nested tables flattened into their cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import Block
from chunk_assets.converters.cells import MAX_SPAN, cell_text, grid_blocks, repeated
from chunk_assets.converters.ooxml import SHORT, attribute, child, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lxml import etree

# A cell of more text than this holds a part of the page rather than a value.
_LAYOUT_CHARS = 2_000
_WRAPPERS = {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its blocks, how many columns it spans, and whether it goes on from the row above."""

    blocks: tuple[Block, ...]
    span: int = 1
    merge: str = ""  # "", "restart" or "continue"


def table_blocks(table: etree._Element, read_cell: Callable[[etree._Element], list[Block]]) -> list[Block]:
    """The blocks of a ``w:tbl``: one pipe table, or the cells' own blocks where it is only layout."""
    rows = [_cells(row, read_cell) for row in _children(table, "w:tr") if not _deleted(row)]
    filled = [[cell for cell in row if cell.blocks] for row in rows]
    count = sum(map(len, filled))
    if count == 0:
        return []
    if count == 1 or (count <= 4 and any(_size(cell) > _LAYOUT_CHARS for row in filled for cell in row)):
        return [block for row in filled for cell in row for block in cell.blocks]
    return grid_blocks(_grid(rows))


def _size(cell: Cell) -> int:
    return sum(len(block.text) for block in cell.blocks)


def _children(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Children with this name, also those inside content controls and tracked insertions."""
    pending = list(reversed(element))
    while pending:
        found = pending.pop()
        short = SHORT[found.tag]
        if short == name:
            yield found
        elif short in _WRAPPERS:
            pending.extend(reversed(found))


def _deleted(row: etree._Element) -> bool:
    properties = child(row, "w:trPr")
    return child(properties, "w:del") is not None


def _cells(row: etree._Element, read_cell: Callable[[etree._Element], list[Block]]) -> list[Cell]:
    properties = child(row, "w:trPr")
    before, after = (_span(value(properties, name), 0) for name in ("w:gridBefore", "w:gridAfter"))
    cells = [Cell((), 1)] * before
    for element in _children(row, "w:tc"):
        settings = child(element, "w:tcPr")
        if child(settings, "w:cellDel") is not None:
            continue
        cells.append(
            Cell(tuple(read_cell(element)), _span(value(settings, "w:gridSpan"), 1), _merge(settings))
        )
    return cells + [Cell((), 1)] * after


def _merge(settings: etree._Element | None) -> str:
    merge = child(settings, "w:vMerge")
    if merge is None:
        return ""
    return "restart" if attribute(merge, "val") == "restart" else "continue"


def _span(text: str | None, default: int) -> int:
    return min(int(text), MAX_SPAN) if text and text.isdigit() and len(text) < 9 else default


def _grid(rows: list[list[Cell]]) -> list[list[str]]:
    """Text by row and column. A merged value stands in each of its rows, but once in a row."""
    above: dict[int, str] = {}
    grid = []
    for row in rows:
        line: list[str] = []
        for cell in row:
            text, at = cell_text(cell.blocks), len(line)
            if cell.merge == "continue":
                text = text or above.get(at, "")
            elif cell.merge == "restart":
                above[at] = repeated(text)
            line += [text, *[""] * (max(cell.span, 1) - 1)]
        grid.append(line)
    return grid
