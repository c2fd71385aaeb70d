"""Percentile bootstrap over questions (Efron and Tibshirani, 1993), seeded so that it repeats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
RESAMPLES = 2_000
SEED = 20_260_301


def mean_interval(scores: Scores, resamples: int = RESAMPLES, seed: int = SEED) -> tuple[float, float, float]:
    """Mean of ``scores`` (one a question) and the 95 % interval of that mean.

    NaN three times for no scores. The same input gives the same figures on every machine: draws
    come from PCG64 with a fixed seed.
    """
    if not len(scores):
        return (float("nan"),) * 3
    draws = np.random.Generator(np.random.PCG64(seed)).integers(0, len(scores), (resamples, len(scores)))
    means = scores[draws].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(scores.mean()), float(low), float(high)


def paired_interval(
    ours: Scores, theirs: Scores, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[float, float, float]:
    """Mean difference ``ours − theirs`` over the same questions with its 95 % interval.

    An interval without zero is a difference that the number of questions can carry.
    """
    if ours.shape != theirs.shape:
        raise ValueError(f"paired scores need the same questions: {len(ours)} and {len(theirs)}")
    return mean_interval(ours - theirs, resamples, seed)
