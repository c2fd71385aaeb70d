"""Scores by learned sparse vectors: the product of the query's weights with each chunk's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunk_assets.errors import ConfigurationError
from chunk_assets.search import postings
from chunk_assets.search.rows import SPARSE_MODEL, Rows
from chunk_assets.search.segments import cached

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SparseIndex:
    """All sparse vectors, by index of the vocabulary."""

    def __init__(self, rows: Rows) -> None:
        import numpy as np

        if not has_sparse(rows):
            raise ConfigurationError(
                "the tables have no sparse vectors, or not of one model; set sparse_embedder in the "
                "catalog and run, or use another mode"
            )
        size = int(rows.facts["sparse_dimension"])
        firsts = np.cumsum([0, *(len(segment.table) for segment in rows.segments)])
        numbers = np.arange(size)
        parts = [
            (segment.sparse, numbers, int(first))
            for segment, first in zip(rows.segments, firsts[:-1], strict=True)
            if segment.sparse is not None
        ]
        self._size = int(firsts[-1])
        name = f"sparse-{rows.key}"
        folder = cached(rows.folder, name, lambda target: postings.merged(parts, size).save(target))
        self._found = postings.load(folder)

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """``float32[n]`` for the query's weights, ``float32[vocabulary]``; 0 where nothing is shared."""
        import numpy as np

        scores = np.zeros(self._size, np.float32)
        for term in np.flatnonzero(query):
            rows, values = self._found.of(int(term))
            scores[rows] += query[term] * values  # each row is there once
        return scores


def has_sparse(rows: Rows) -> bool:
    """Whether all batches have sparse vectors, of one model."""
    return SPARSE_MODEL in rows.facts
