"""The structure of a markdown text: blocks, headings, tables, with exact character spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chunk_assets.records import Heading
from chunk_assets.text.markdown import kinds
from chunk_assets.text.markdown.blocks import parse
from chunk_assets.text.markdown.kinds import Blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Goes up whenever a block border of any text can move.
VERSION = 1

__all__ = ["VERSION", "Blocks", "headings", "kinds", "n_tables", "parse", "structure"]


def structure(markdown: str, points: NDArray[Any] | None = None) -> tuple[Blocks, tuple[Heading, ...]]:
    """Blocks and headings of ``markdown`` in one pass; ``points`` are ``spans.codes(markdown)``."""
    blocks, found = parse(markdown, points)
    return blocks, tuple(Heading(level, title, start) for level, title, start in found)


def headings(markdown: str) -> tuple[Heading, ...]:
    """The headings that divide ``markdown`` into sections (none of those inside quotes and lists)."""
    return structure(markdown)[1]


def n_tables(markdown: str) -> int:
    """How many tables there are, in markdown or HTML."""
    return len(structure(markdown)[0].tables)
