"""What an embedder is: it holds a model, says its limits, and turns texts into unit vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """What is fixed about a model: identity for fingerprints, and the rules for its input.

    ``revision`` is a digest of the weights (or the provider's model name and dimensions when the
    weights are remote). ``max_tokens`` counts special tokens and prefix. ``price`` is in
    ``currency`` units per million tokens, 0 for local models.
    """

    name: str
    model_id: str
    revision: str
    version: int
    dimension: int
    max_tokens: int
    tokenizer: str
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "cls"
    normalized: bool = True
    metric: str = "cosine"
    price_per_million_tokens: float = 0.0
    currency: str = "USD"
    deterministic: bool = True


@dataclass(frozen=True, slots=True)
class Embedded:
    """The answer for one text of a request, by its position; ``error`` when it was refused."""

    index: int
    vector: NDArray[np.float32] | None
    error: str = ""


class Embedder(Protocol):
    """A model that is loaded lazily and may be used until ``close``."""

    @property
    def card(self) -> EmbedderCard:
        """Identity and limits; never loads the weights into memory."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each whole input, special tokens included, exactly as the model counts."""
        ...

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """Vectors (``float32[dimension]``) in any order, as they are ready; never truncates.

        The result for a text does not depend on ``workers`` or on its neighbours.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """One query vector with the query prefix, pooling and normalisation of the card."""
        ...

    def close(self) -> None:
        """Frees sessions and worker processes."""
        ...


def ordered(results: Iterable[Embedded], count: int) -> list[Embedded]:
    """Results in the order of their texts; a missing answer becomes an error."""
    found: list[Embedded] = [Embedded(i, None, "no answer from the embedder") for i in range(count)]
    for result in results:
        found[result.index] = result
    return found
