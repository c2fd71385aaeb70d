"""Blocks to markdown: escapes where needed, pipe tables, and the page map."""

from __future__ import annotations

import re
from collections.abc import Collection

from chunk_assets.converters.pdf.blocks import strip_marker, without_leader
from chunk_assets.converters.pdf.joining import join_lines
from chunk_assets.converters.pdf.model import Block, Table
from chunk_assets.records import Page

_AT_START = re.compile(r"^(?=#{1,6}(?:\s|$)|>|(?:```|~~~)|(?:[-+*])(?:\s|$)|-{3,}\s*$|\|)")
_NUMBER_AT_START = re.compile(r"^(\d{1,9})([.)])(?=\s)")
_EMPHASIS = re.compile(r"(?<![\w\\])([*_])(?=\S)(?=[^*_]*\S\1(?!\w))")
_CODE = re.compile(r"`")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\[(?=[^\]\n]*\]\()")


def escaped(text: str) -> str:
    """Inline text with a backslash before what markdown would take for markup."""
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(r"\\\1", text)
    if "`" in text:
        text = _CODE.sub(r"\\`", text)
    if "<" in text:
        text = _TAG.sub(r"\\<", text)
    return _LINK.sub(r"\\[", text) if "[" in text else text


def paragraph(text: str) -> str:
    """A paragraph's text, escaped also against what only counts at the start of a line."""
    text = escaped(text)
    text = _NUMBER_AT_START.sub(r"\1\\\2", text)
    return _AT_START.sub(r"\\", text)


def table_markdown(table: Table, header: bool = True) -> str:
    """A GFM pipe table; without ``header`` only its rows, for the rest of a table begun before."""
    rows = [f"| {' | '.join([_cell(cell) for cell in row])} |" for row in table.rows]
    if header:
        rows.insert(1, "|" + " --- |" * len(table.rows[0]))
    return "\n".join(rows)


def _cell(text: str) -> str:
    if not text:
        return " "
    plain = without_leader(text) if "..." in text or ". . ." in text else text
    return escaped(plain).replace("|", "\\|")


def block_markdown(block: Block, known: Collection[str]) -> str:
    """The markdown of one block that is no table."""
    if block.kind == "leader":
        return paragraph(without_leader(block.text))
    if block.kind == "code":
        return code(block)
    text = join_lines([line.text for line in block.lines], known)
    if block.kind == "heading":
        return f"{'#' * block.level} {escaped(text)}"
    if block.kind == "item":
        return f"{' ' * block.indent}{block.marker} {escaped(strip_marker(block, text))}".rstrip()
    return paragraph(text)


def code(block: Block) -> str:
    """Lines of fixed pitch: a fence with the indents kept; a single line is prose."""
    left = min(line.x0 for line in block.lines)
    if len(block.lines) == 1:
        return paragraph(block.text)
    width = max(block.lines[0].size, 4.0) * 0.6
    rows = [" " * min(round((line.x0 - left) / width), 40) + line.text for line in block.lines]
    fence = "```"
    while any(fence in row for row in rows):
        fence += "`"
    return "\n".join([fence, *rows, fence])


class Writer:
    """Collects the markdown and where each page's text starts."""

    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self.size = 0
        self.limit = limit
        self.starts: list[tuple[int, int]] = []

    def page(self, number: int) -> None:
        """What follows is of page ``number``."""
        self.starts.append((number, self.size))

    def write(self, text: str) -> None:
        """Append ``text`` as it is."""
        self.parts.append(text)
        self.size += len(text)

    def drop_last_character(self) -> None:
        """Take back the hyphen of a word that goes on overleaf."""
        self.parts[-1] = self.parts[-1][:-1]
        self.size -= 1
        if self.starts and self.starts[-1][1] > self.size:
            self.starts[-1] = (self.starts[-1][0], self.size)

    @property
    def full(self) -> bool:
        """Whether the output limit is passed."""
        return self.size > self.limit

    def markdown(self) -> str:
        """All that was written."""
        return "".join(self.parts)

    def pages(self) -> tuple[Page, ...]:
        """The page map: pages tile the text; an empty page is an empty span."""
        ends = [start for _, start in self.starts[1:]] + [self.size]
        first = self.starts[0][0] if self.starts else 0
        return tuple(
            Page(number, 0 if number == first else start, end)
            for (number, start), end in zip(self.starts, ends, strict=True)
        )
