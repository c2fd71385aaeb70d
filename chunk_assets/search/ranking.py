"""Scores of all rows → the best of them, in an order that equal scores can't change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # Chunk ids of rows, which order equal scores.
    Names = Callable[[NDArray[np.int64]], list[str]]

# Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009.
RRF_K = 60


def best(
    scores: NDArray[np.floating], names: Names, count: int, mask: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Rows of the ``count`` highest scores, best first; equal ones by chunk id."""
    import numpy as np

    rows = np.arange(len(scores)) if mask is None else np.flatnonzero(mask)
    values = scores if mask is None else scores[rows]
    if count < len(rows):
        least = np.partition(values, len(values) - count)[len(values) - count]
        chosen = np.flatnonzero(values >= least)  # all that tie for the last place
        rows, values = rows[chosen], values[chosen]
    ids = np.asarray(names(rows), dtype=object)
    ranks = np.empty(len(ids), np.int64)
    ranks[np.argsort(ids, kind="stable")] = np.arange(len(ids))
    return np.asarray(rows[np.lexsort((ranks, -values))[:count]], dtype=np.int64)


def fused(rankings: Mapping[str, Sequence[int]], names: Names) -> list[tuple[int, float]]:
    """(row, score) by reciprocal rank fusion, best first; equal scores by chunk id."""
    import numpy as np

    scores: dict[int, float] = {}
    for name in sorted(rankings):
        for place, row in enumerate(rankings[name], start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (RRF_K + place)
    ids = dict(zip(scores, names(np.array(list(scores), np.int64)), strict=True))
    return sorted(scores.items(), key=lambda item: (-item[1], ids[item[0]]))
