"""All that decides what is made of bytes, with a fingerprint for each part: equal prints, equal rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunk_assets.catalog import Catalog
from chunk_assets.converters.base import Options
from chunk_assets.embedders.base import EmbedderCard
from chunk_assets.hashing import fingerprint
from chunk_assets.records import ChunkSpan, DocumentMetadata

if TYPE_CHECKING:
    from chunk_assets.embedders.base import Embedder
    from chunk_assets.policy import ChunkingStrategy

# Goes up when a column is added or its meaning changes: then all rows are made anew (no text is embedded).
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Recipe:
    """The recipe of one source. ``digest`` covers everything; equal digests make equal tables."""

    options: Options
    card: EmbedderCard
    model_fingerprint: str
    digest: str
    strategy: Callable[[DocumentMetadata], ChunkingStrategy]
    chunk: Callable[[str, ChunkingStrategy], list[ChunkSpan]]
    count_model_tokens: Callable[[Sequence[str]], list[int]]
    max_model_tokens: int
    min_tokens: int
    engine: str

    def convert_fingerprint(self, media_type: str, *, failed: bool = False) -> str:
        """Of converter, its version and options; for documents that failed also of the limits.

        So that a raised limit gives a refused document another chance, and does nothing to the others.
        """
        from chunk_assets.conversion import converter_id

        parts = {
            "converter": converter_id(media_type),
            "media_type": media_type,
            "ocr": self.options.ocr,
            "html_keep": self.options.html_keep,
            "schema": SCHEMA_VERSION,
        }
        if failed:
            limits = self.options.limits
            parts["limits"] = {name: getattr(limits, name) for name in limits.__dataclass_fields__}
        return fingerprint(parts)

    def chunk_fingerprint(self, convert_fingerprint: str, strategy: ChunkingStrategy) -> str:
        """Of everything between bytes and chunks."""
        return fingerprint(
            {"convert": convert_fingerprint, "strategy": strategy.fingerprint, "engine": self.engine}
        )


def model_fingerprint(card: EmbedderCard) -> str:
    """Of everything about a model that can change a vector."""
    names = ("model_id", "revision", "version", "dimension", "passage_prefix", "pooling", "normalized")
    return fingerprint({name: getattr(card, name) for name in names})


def recipe_of(catalog: Catalog, source: str, embedder: Embedder) -> Recipe:
    """The recipe of a source as the catalog, the environment and the installed versions have it now."""
    raise NotImplementedError
