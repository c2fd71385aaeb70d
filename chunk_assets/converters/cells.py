"""Grids of finished table cells, for readers of Word, HTML and PowerPoint."""

from __future__ import annotations

from collections.abc import Sequence

from chunk_assets.converters.blocks import PAGE, Block, table_block
from chunk_assets.converters.markup import cell_markdown

# No real table has more columns than this, whatever spans a document claims.
MAX_SPAN = 1024
# A value merged over rows is repeated in each of them, since a row is read alone; long text is not.
MAX_REPEATED = 200
_ESCAPED_PIPE = "\ufdd2"


def cell_text(blocks: Sequence[Block]) -> str:
    """The blocks of a cell in one line; a nested table as its rows, with slashes between cells."""
    return "<br>".join(filter(None, map(_flat, blocks)))


def _flat(block: Block) -> str:
    if block.kind != "table":
        return cell_markdown(block.text.lstrip("# ") if block.kind == "heading" else block.text)
    lines = [line for at, line in enumerate(block.text.split("\n")) if at != 1]
    return "<br>".join(filter(None, map(_flat_row, lines)))


def _flat_row(line: str) -> str:
    cells = line.replace("\\|", _ESCAPED_PIPE).strip(f"{PAGE}| ").split(" | ")
    return " / ".join(cell.strip() for cell in cells if cell.strip()).replace(_ESCAPED_PIPE, "\\|")


def repeated(text: str) -> str:
    """What the rows below show of a value merged over rows."""
    return text.replace(PAGE, "") if len(text) <= MAX_REPEATED else ""


def trimmed(grid: Sequence[Sequence[str]]) -> list[list[str]]:
    """The grid without empty rows and columns, its rows equally long."""
    kept = [row for row in grid if any(row)]
    width = max(map(len, kept), default=0)
    used = [at for at in range(width) if any(at < len(row) and row[at] for row in kept)]
    return [[row[at] if at < len(row) else "" for at in used] for row in kept]


def grid_blocks(grid: Sequence[Sequence[str]]) -> list[Block]:
    """A grid as a pipe table; empty rows and columns left out; nothing for an empty grid."""
    rows = trimmed(grid)
    return [table_block(rows)] if rows else []
