"""The one engine: from markdown and a strategy to chunks that keep every promise.

A strategy says where chunks should end. The engine lays the text out in units that fit, and then
slices, counts, bounds, and says of each chunk what is above it and why it ends.
"""

from chunk_assets.chunking.chosen import VERSION, ChunkingStrategy, strategy
from chunk_assets.chunking.engine import chunk_markdown
from chunk_assets.chunking.finish import CONTENT_KINDS
from chunk_assets.text.contexts import embedder_text
from chunk_assets.text.facts import has_clean_paragraphs
from chunk_assets.text.markdown import headings, n_tables

__all__ = [
    "CONTENT_KINDS",
    "VERSION",
    "ChunkingStrategy",
    "chunk_markdown",
    "embedder_text",
    "has_clean_paragraphs",
    "headings",
    "n_tables",
    "strategy",
]
