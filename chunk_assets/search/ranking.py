"""Scores of all rows → the best of them, in an order that equal scores can't change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet", SIGIR 2009.
RRF_K = 60


def best(
    scores: NDArray[np.floating], ranks: NDArray[np.int64], count: int, mask: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """Rows of the ``count`` highest scores, best first; equal ones by chunk id (``ranks``)."""
    import numpy as np

    rows = np.arange(len(scores)) if mask is None else np.flatnonzero(mask)
    values = scores if mask is None else scores[rows]
    if count < len(rows):
        least = np.partition(values, len(values) - count)[len(values) - count]
        chosen = np.flatnonzero(values >= least)  # all that tie for the last place
        rows, values = rows[chosen], values[chosen]
    order = np.lexsort((ranks[rows], -values))[:count]
    return np.asarray(rows[order], dtype=np.int64)


def fused(rankings: Mapping[str, Sequence[int]], ranks: NDArray[np.int64]) -> list[tuple[int, float]]:
    """(row, score) by reciprocal rank fusion, best first; equal scores by chunk id."""
    scores: dict[int, float] = {}
    for name in sorted(rankings):
        for place, row in enumerate(rankings[name], start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (RRF_K + place)
    return sorted(scores.items(), key=lambda item: (-item[1], ranks[item[0]]))
