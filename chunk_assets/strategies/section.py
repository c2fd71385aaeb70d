"""Section: the blocks as their author made them, under their headings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunk_assets.strategies import packing
from chunk_assets.strategies.base import Parameters, Piece, Size, Strategy
from chunk_assets.text import reasons

if TYPE_CHECKING:
    from chunk_assets.text.layout import Layout


class Section(Parameters):
    """Blocks up to 256 tokens; those under 32 join their neighbour in the section."""

    target_tokens: Size = 256
    max_tokens: Size = 500
    merge_below_tokens: Size = 32
    """Blocks under this join their neighbour."""


def split(layout: Layout, parameters: Section) -> list[Piece]:
    """Natural blocks; no chunk goes over a heading."""
    sections = layout.ranks >= reasons.SECTION
    return packing.pieces(layout, packing.natural(layout, sections, parameters.merge_below_tokens))


SECTION = Strategy(
    "section",
    1,
    Section,
    split,
    "One natural block a chunk (paragraph, list, table, code), small ones joined within their section.",
)
