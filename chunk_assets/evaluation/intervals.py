"""Sets of characters as sorted, disjoint, half-open intervals: ``int64[n, 2]``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Intervals = NDArray[np.int64]
EMPTY: Intervals = np.zeros((0, 2), dtype=np.int64)


def intervals(spans: Iterable[tuple[int, int]]) -> Intervals:
    """The union of ``spans``, sorted and disjoint; empty spans are dropped.

    >>> intervals([(5, 9), (0, 3), (2, 4), (7, 7)]).tolist()
    [[0, 4], [5, 9]]
    """
    merged: list[list[int]] = []
    for start, end in sorted(s for s in spans if s[0] < s[1]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return np.array(merged, dtype=np.int64).reshape(-1, 2)


def size(a: Intervals) -> int:
    """Number of characters in ``a``."""
    return int((a[:, 1] - a[:, 0]).sum())


def intersection(a: Intervals, b: Intervals) -> Intervals:
    """Characters in both."""
    if not len(a) or not len(b):
        return EMPTY
    low = np.maximum(a[:, None, 0], b[None, :, 0]).ravel()
    high = np.minimum(a[:, None, 1], b[None, :, 1]).ravel()
    kept = low < high
    found = np.stack([low[kept], high[kept]], axis=1)
    return found[np.argsort(found[:, 0], kind="stable")]
