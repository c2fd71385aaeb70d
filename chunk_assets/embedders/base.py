"""What an embedder is: it holds a model, says its limits, and turns texts into unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Settings(BaseModel):
    """Base of every embedder's settings: frozen, unknown names refused, checked at birth."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class EmbedderCard:
    """What is fixed about a model: identity for fingerprints, and the rules for its input.

    ``revision`` is a digest of the weights (or of the provider's model name and dimension when the
    weights are remote). ``max_tokens`` counts special tokens and prefix. ``price`` is in
    ``currency`` units per million tokens, 0 for local models. ``dimension`` is the vocabulary size
    for a sparse model, and ``most_weights`` how many weights a text has at most (0: it is dense).
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
    most_weights: int = 0


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse vector: ``indices`` (``int32``, rising) and positive ``weights`` (``float32``)."""

    indices: NDArray[np.int32]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedded:
    """The answer for one text of a request, by its position; ``error`` when there is no vector.

    ``retryable`` tells a fault that may pass (network, rate limit) from a refusal of this text.
    ``sparse`` is set, and ``vector`` is not, by an embedder whose card says ``metric="dot"`` and
    ``pooling="splade"``.
    """

    index: int
    vector: NDArray[np.float32] | None
    error: str = ""
    retryable: bool = False
    sparse: Sparse | None = None


@dataclass(slots=True)
class Usage:
    """What an embedder has spent since it was loaded; only remote ones count requests.

    ``paused_seconds`` is how long nothing was sent because the provider asked for a pause.
    """

    requests: int = 0
    throttled: int = 0
    retries: int = 0
    texts: int = 0
    tokens: int = 0
    price: float = 0.0
    paused_seconds: float = 0.0


def spent(embedder: object) -> dict[str, float]:
    """The totals of a remote embedder by name, ``price`` with its currency; empty for a local one."""
    usage, card = getattr(embedder, "usage", None), getattr(embedder, "card", None)
    if not isinstance(usage, Usage) or card is None:
        return {}
    totals: dict[str, float] = asdict(usage)
    return {name: value for name, value in totals.items() if name != "price"} | {
        f"price ({card.currency})": usage.price
    }


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
        """Frees sessions and connections."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderPlugin:
    """One way to embed. ``load`` takes the checked settings and opens nothing heavy by itself.

    A ``sparse`` one gives ``Embedded.sparse`` instead of a vector: it stands beside a dense one
    (``sparse_embedder`` of the catalog) and can't be the only embedder.
    """

    name: str
    settings: type[Settings]
    load: Callable[[Any], Embedder]
    promise: str
    sparse: bool = False


def ordered(results: Iterable[Embedded], count: int) -> list[Embedded]:
    """Results in the order of their texts; a missing answer becomes an error."""
    found: list[Embedded] = [Embedded(i, None, "no answer from the embedder") for i in range(count)]
    for result in results:
        found[result.index] = result
    return found


def too_long(index: int, tokens: int, limit: int) -> Embedded:
    """The refusal of a text that the model would have to truncate."""
    return Embedded(index, None, f"{tokens} tokens with special tokens, the model reads at most {limit}")


def unit(vector: NDArray[Any]) -> NDArray[np.float32]:
    """The vector divided by its L2 norm, computed in double precision; ``ValueError`` without one."""
    import numpy as np

    wide = np.asarray(vector, dtype=np.float64)
    norm = float(np.sqrt(np.dot(wide, wide)))
    if not np.isfinite(norm) or norm == 0:
        raise ValueError(f"a vector of norm {norm} has no direction")
    return np.asarray(wide / norm, dtype=np.float32)
