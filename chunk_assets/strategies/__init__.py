"""The shelf of strategies. To add one: a file beside these, and its line in the table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from chunk_assets.strategies.base import Parameters, Piece, Strategy
from chunk_assets.strategies.fixed import FIXED
from chunk_assets.strategies.paragraph import PARAGRAPH
from chunk_assets.strategies.recursive import RECURSIVE
from chunk_assets.strategies.row import ROW
from chunk_assets.strategies.section import SECTION
from chunk_assets.strategies.semantic import SEMANTIC
from chunk_assets.strategies.sentence_window import SENTENCE_WINDOW

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {s.name: s for s in (FIXED, RECURSIVE, PARAGRAPH, SENTENCE_WINDOW, SEMANTIC, SECTION, ROW)}
)

__all__ = ["STRATEGIES", "Parameters", "Piece", "Strategy"]
