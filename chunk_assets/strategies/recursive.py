"""Recursive: as much as fits, ended at the best border there is: paragraph, item or row, sentence, word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunk_assets.strategies import packing
from chunk_assets.strategies.base import Parameters, Piece, Size, Strategy
from chunk_assets.text import reasons

if TYPE_CHECKING:
    from chunk_assets.text.layout import Layout

_RANKS = (reasons.BLOCK, reasons.ROW)


class Recursive(Parameters):
    """1,000 characters with an overlap of 200, or tokens where they are given."""

    max_chars: Size = 1000
    overlap_chars: Size = 200


def split(layout: Layout, parameters: Recursive) -> list[Piece]:  # noqa: ARG001 - its sizes are in the layout
    """Windows that rather end with a paragraph than with a sentence."""
    preferred = packing.Preferred(layout, _RANKS)
    runs = [
        run
        for first, last in packing.parts(layout)
        for run in packing.windows(layout, first, last, preferred)
    ]
    return packing.pieces(layout, runs)


RECURSIVE = Strategy(
    "recursive",
    1,
    Recursive,
    split,
    "As much as fits, ended at a paragraph if one ends there, else an item or row, else a sentence.",
)
