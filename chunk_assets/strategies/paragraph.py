"""Paragraph: one paragraph a chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunk_assets.strategies import packing
from chunk_assets.strategies.base import Parameters, Piece, Size, Strategy
from chunk_assets.text import reasons

if TYPE_CHECKING:
    from chunk_assets.text.layout import Layout


class Paragraph(Parameters):
    """Paragraphs up to 2,000 characters; those under ``merge_below_tokens`` join their neighbour."""

    max_chars: Size = 2000
    merge_below_tokens: Size = 0
    """Blocks under this join their neighbour."""


def split(layout: Layout, parameters: Paragraph) -> list[Piece]:
    """Every block is a chunk, headings with what follows them."""
    sections = layout.ranks >= reasons.SECTION
    return packing.pieces(layout, packing.natural(layout, sections, parameters.merge_below_tokens))


PARAGRAPH = Strategy(
    "paragraph", 1, Paragraph, split, "One paragraph a chunk; a long one is cut between sentences."
)
