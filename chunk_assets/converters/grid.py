"""From cells on a grid to titles and pipe tables: what the spreadsheet and CSV converters share.

Cells are finished markdown (``markup.escape_cell``); positions are counted from 0. Nothing that has
text is left out: what is no table becomes a line of its own above or below one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chunk_assets.converters.markup import escape_line_start

_NUMBER = re.compile(
    r"[(\-+−]?\s*(?:[$€£¥₹]|[A-Z]{3}\s)?\s*[\-−]?(?:\d[\d.,'’\s]*|[.,]\d+)(?:[eE][+-]?\d+)?\s*(?:%|[$€£¥₹])?\)?"
)
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?")
# Between the cells of a title row, which are no columns of the table below.
_TITLE_GAP = " · "
_YEAR = re.compile(r"(?:19|20)\d\d")
# Header rows that are looked for under each other.
_MAX_HEADER_ROWS = 6
# How many rows are looked at to tell a header from data.
_SAMPLE_ROWS = 20


@dataclass(slots=True)
class Block:
    """Rows that belong together. ``cells[r][c]`` is text, empty where there is none.

    ``spans`` are merged areas inside the block as ``(row, column, rows, columns)``.
    """

    cells: list[list[str]]
    spans: Sequence[tuple[int, int, int, int]] = ()


def kind(text: str) -> str:
    """``empty``, ``number``, ``date`` or ``text``."""
    if not text:
        return "empty"
    if not text[0].isalpha() and _DATE.fullmatch(text):
        return "date"
    return "number" if _NUMBER.fullmatch(text) else "text"


def filled(row: Sequence[str]) -> int:
    """How many cells of the row have text."""
    return len(row) - row.count("")


def title_rows(cells: Sequence[Sequence[str]], width: int) -> int:
    """How many rows above the header are titles: hardly filled rows before a well filled one.

    0 when no row within the first 50 is filled well enough to be a header under titles.
    """
    enough = max(2, (width + 1) // 2)
    for number, row in enumerate(cells[:50]):
        if filled(row) >= enough:
            return number
    return 0


def header_rows(block: Block) -> int:
    """How many rows at the top are the header: 0 when the first row is data like the others."""
    cells = block.cells
    if not is_header(cells[0], cells[1:_SAMPLE_ROWS]):
        return 0
    depth = max((rows for row, _, rows, _ in block.spans if row == 0), default=1)
    wide = any(row == 0 and columns > 1 for row, _, _, columns in block.spans)
    if wide and depth == 1 and len(cells) > 2 and is_header(cells[1], cells[2:_SAMPLE_ROWS]):
        depth = 2
    return min(depth, _MAX_HEADER_ROWS, max(len(cells) - 1, 1))


def is_header(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether ``row`` names columns, seen from the rows below: it has text, and figures unlike theirs."""
    kinds = [kind(cell) for cell in row]
    figures = [i for i, k in enumerate(kinds) if k in ("number", "date")]
    if not figures or not below:
        return "text" in kinds or not below
    if all(_YEAR.fullmatch(row[i]) for i in figures) and not all(
        _YEAR.fullmatch(below[0][i]) for i in figures
    ):
        return True
    return not any(_like(kinds, other) for other in below[:3])


def _like(kinds: Sequence[str], row: Sequence[str]) -> bool:
    """Whether a row has figures in the columns where ``kinds`` has, of the same sort."""
    pairs = list(zip(kinds, map(kind, row), strict=False))
    same = sum(1 for mine, other in pairs if mine == other and mine in ("number", "date"))
    figures = sum(1 for mine in kinds if mine in ("number", "date"))
    return same * 2 > figures


def merged_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """One header row from several: the different texts of each column, from top to bottom."""
    if len(rows) == 1:
        return list(rows[0])
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*rows, strict=True)]


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> Iterator[str]:
    """The lines of a pipe table under ``header``; rows with fewer than ``width`` cells are filled up.

    The header has to be as wide as the widest row: parsers ignore cells beyond it.
    """
    yield _line(header, width)
    yield "|" + " --- |" * len(header)
    for row in rows:
        yield _line(row, width)


def _line(row: Sequence[str], width: int) -> str:
    missing = width - len(row)
    return f"| {' | '.join(row)} |" if missing <= 0 else f"| {' | '.join((*row, *[''] * missing))} |"


def block_markdown(block: Block, *, caption: bool = False) -> list[str]:
    """The block as lines of markdown: titles as paragraphs, then one pipe table.

    Rows with one cell each are text. ``caption``: so is a single row of labels, since a table follows.
    """
    width = max(map(len, block.cells))
    if width > 1 and (max(map(filled, block.cells)) == 1 or (caption and _is_caption(block.cells))):
        return paragraphs(block.cells)
    titles = title_rows(block.cells, width) if width > 1 else 0
    lines = paragraphs(block.cells[:titles])
    rest = block.cells[titles:]
    if len(rest) == 1 and filled(rest[0]) == 1:
        return [*lines, *paragraphs(rest)]
    spans = [(r - titles, c, h, w) for r, c, h, w in block.spans if r >= titles]
    body = Block(rest, spans)
    depth = header_rows(body)
    header = merged_header(rest[:depth]) if depth else [""] * width
    return [*lines, "", *table_lines(header, rest[depth:], width)]


def paragraphs(rows: Sequence[Sequence[str]]) -> list[str]:
    """Each row as a paragraph, its cells apart by dots; a blank line before each."""
    texts = (_TITLE_GAP.join(filter(None, map(str.strip, row))) for row in rows)
    return [line for text in texts for line in ("", escape_line_start(text))]


def _is_caption(cells: Sequence[Sequence[str]]) -> bool:
    return len(cells) == 1 and all(kind(cell) in ("text", "empty") for cell in cells[0])
