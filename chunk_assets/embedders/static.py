"""The bundled static embedding as an embedder: about a hundred times faster than bge-small.

For drafts, for semantic chunking, and where the same bytes on every machine matter more than
quality: a text is the sum of its words, whatever their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from chunk_assets.embedders.base import Embedded, EmbedderCard, EmbedderPlugin, Settings, too_long
from chunk_assets.embedders.counting import count_inputs
from chunk_assets.errors import ConfigurationError
from chunk_assets.text import static_embedding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 1024


class StaticSettings(Settings):
    """Word sums have no limit of their own; with bge-small's, a draft's chunks fit that model too."""

    max_tokens: int = Field(default=512, ge=1)
    """Tokens of a text at most."""
    tokenizer: str = "bge-small-en-v1.5"
    """Whose tokens these are."""


class Static:
    """Sums of WordLlama's word vectors, of unit length."""

    def __init__(self, settings: StaticSettings) -> None:
        self.card = EmbedderCard(
            name="static",
            model_id="wordllama/l2_supercat_256",
            revision=static_embedding.REVISION,
            version=static_embedding.VERSION,
            dimension=static_embedding.DIMENSION,
            max_tokens=settings.max_tokens,
            tokenizer=settings.tokenizer,
            pooling="sum of words",
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens by the tokenizer of the settings."""
        return count_inputs(self.card.tokenizer, texts)

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """Unit vectors in order; a text without any word is refused."""
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            vectors = static_embedding.static_vectors(block)
            for offset, tokens in enumerate(self.count_tokens(block)):
                yield self._result(start + offset, vectors[offset], tokens)

    def _result(self, index: int, vector: NDArray[np.float32], tokens: int) -> Embedded:
        if tokens > self.card.max_tokens:
            return too_long(index, tokens, self.card.max_tokens)
        if not vector.any():
            return Embedded(index, None, "there is no word to embed")
        return Embedded(index, vector)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The same vector as for a passage; ``ConfigurationError`` for a query without a word."""
        vector: NDArray[np.float32] = static_embedding.static_vectors([text])[0]
        if not vector.any():
            raise ConfigurationError("the query has no word to embed")
        return vector

    def close(self) -> None:
        """Nothing is held that others don't share."""


STATIC = EmbedderPlugin(
    "static",
    StaticSettings,
    Static,
    "sums of WordLlama's word vectors (256 dimensions): drafts in seconds, the same on every machine",
)
