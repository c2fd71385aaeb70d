"""Sparse vectors as rows of one width, so that they are kept and looked up as dense ones are.

A row is ``float32[2 * most]``: the indices, then their weights; an unused place has the weight 0.
``float32`` holds every integer below 2**24, which no vocabulary reaches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from chunk_assets.embedders.base import Embedded, Embedder, EmbedderCard, Sparse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]


def row_of(sparse: Sparse, most: int) -> Rows:
    """``float32[2 * most]``; ``ValueError`` when there are more weights."""
    import numpy as np

    count = len(sparse.indices)
    if count > most:
        raise ValueError(f"{count} weights, at most {most}")
    row = np.zeros(2 * most, np.float32)
    row[:count] = sparse.indices
    row[most : most + count] = sparse.weights
    return row


def flat(rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.int32], Rows]:
    """All weights of ``float32[n, 2 * most]``: how many each row has, their indices, and themselves."""
    import numpy as np

    most = rows.shape[1] // 2
    indices, weights = rows[:, :most], rows[:, most:]
    used = weights > 0
    return used.sum(axis=1, dtype=np.int32), indices[used].astype(np.int32), weights[used]


@dataclass(frozen=True, slots=True)
class RowEmbedder:
    """A sparse embedder whose answers are rows (``Embedded.vector``), for what handles dense ones."""

    embedder: Embedder

    @property
    def card(self) -> EmbedderCard:
        """That of the sparse model."""
        return self.embedder.card

    @property
    def width(self) -> int:
        """Numbers of a row."""
        return 2 * self.card.most_weights

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Those of the sparse model."""
        return self.embedder.count_tokens(texts)

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """Each sparse vector as a row."""
        for answer in self.embedder.embed(texts, workers=workers):
            if answer.sparse is None:
                yield answer
            else:
                yield replace(answer, vector=row_of(answer.sparse, self.card.most_weights), sparse=None)

    def embed_query(self, text: str) -> Any:
        """``float32[dimension]`` of the sparse model."""
        return self.embedder.embed_query(text)

    def close(self) -> None:
        """Frees the sparse model."""
        self.embedder.close()
