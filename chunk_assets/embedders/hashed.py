"""Vectors from the SHA-256 of a text: for tests, dry runs and benchmarks of everything around a model.

Equal texts get equal vectors on every machine; different texts get unrelated ones, so a search
over them finds exact copies only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from chunk_assets.embedders.base import Embedded, EmbedderCard, EmbedderPlugin, Settings, too_long, unit
from chunk_assets.embedders.counting import count_inputs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED = b"chunk-assets hash embedder 1\0"


class HashSettings(Settings):
    """The shape of the vectors, and the limits to pretend to have (bge-small's by default)."""

    dimension: int = Field(default=384, ge=1, le=65_536)
    """Length of a vector."""
    max_tokens: int = Field(default=512, ge=1)
    """Tokens of a text at most."""
    tokenizer: str = "bge-small-en-v1.5"
    """Whose tokens these are."""


class HashEmbedder:
    """An embedder without a model."""

    def __init__(self, settings: HashSettings) -> None:
        self._settings = settings
        self.card = EmbedderCard(
            name="hash",
            model_id="sha256",
            revision=f"sha256-{settings.dimension}",
            version=1,
            dimension=settings.dimension,
            max_tokens=settings.max_tokens,
            tokenizer=settings.tokenizer,
            pooling="none",
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens by the tokenizer of the settings."""
        return count_inputs(self.card.tokenizer, texts)

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """One vector a text, in order."""
        for index, (text, tokens) in enumerate(zip(texts, self.count_tokens(texts), strict=True)):
            if tokens > self.card.max_tokens:
                yield too_long(index, tokens, self.card.max_tokens)
            else:
                yield Embedded(index, self.embed_query(text))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The same vector as for a passage: there is no prefix."""
        import numpy as np

        # SHAKE gives as many bytes as the dimension needs; little endian on every machine.
        size = 4 * self.card.dimension
        data = hashlib.shake_256(
            SEED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        ).digest(size)
        whole = np.frombuffer(data, dtype="<u4").astype(np.float64)
        return unit(whole / 2**31 - (1 - 2**-32))

    def close(self) -> None:
        """Nothing is held."""


HASH = EmbedderPlugin(
    "hash",
    HashSettings,
    HashEmbedder,
    "deterministic vectors from the hash of the text, without meaning: for tests and dry runs",
)
