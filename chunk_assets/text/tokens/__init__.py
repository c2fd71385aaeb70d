"""Token counts that are exact for every part of a text, from one pass over it."""

from chunk_assets.text.tokens.base import Marks, TokenCounter, TokenIndex
from chunk_assets.text.tokens.counters import KNOWN, counter

__all__ = ["KNOWN", "Marks", "TokenCounter", "TokenIndex", "counter"]
