"""Scores one ranking: every measure for one question."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from chunk_assets.evaluation import measures
from chunk_assets.evaluation.budget import Range, TokenMap, read
from chunk_assets.evaluation.intervals import Intervals, intervals

BUDGETS = (500, 1000, 2000)
DEPTHS = (1, 3, 5, 10)
CUT = 5  # k of precision and IoU


def score(
    alternatives: Sequence[Sequence[Range]],
    ranked: Sequence[Range],
    chunks: Sequence[Range],
    tokens: TokenMap,
) -> dict[str, float]:
    """All measures of an answerable question; of several alternatives, the best for each measure.

    ``ranked`` are retrieved chunks, best first; ``chunks`` all there are, sorted by start.
    """
    reads = {budget: intervals(read(ranked, tokens, budget)) for budget in BUDGETS}
    found: dict[str, float] = {}
    for truth in alternatives:
        for name, value in _alternative(truth, ranked, chunks, reads).items():
            found[name] = max(value, found.get(name, 0.0))
    return found


def _alternative(
    truth: Sequence[Range], ranked: Sequence[Range], chunks: Sequence[Range], reads: Mapping[int, Intervals]
) -> dict[str, float]:
    target = intervals(truth)
    near = _near(truth, chunks)
    return {
        **{f"recall@{b}tok": measures.recall(target, covered) for b, covered in reads.items()},
        **{f"recall@{k}": measures.recall(target, intervals(ranked[:k])) for k in DEPTHS},
        f"precision@{CUT}": measures.precision(target, ranked[:CUT]),
        f"iou@{CUT}": measures.iou(target, ranked[:CUT]),
        **_ranks(truth, ranked),
        "precision_omega": measures.precision_omega(target, near),
        "whole_spans": measures.whole_span_rate(truth, near),
    }


def _ranks(truth: Sequence[Range], ranked: Sequence[Range]) -> dict[str, float]:
    ranks = [rank for rank, chunk in enumerate(ranked, 1) if measures.holds_whole(truth, chunk)]
    return {**{f"hit@{k}": measures.hit(ranks, k) for k in DEPTHS}, "mrr": measures.reciprocal_rank(ranks)}


def _near(truth: Sequence[Range], chunks: Sequence[Range]) -> list[Range]:
    """The chunks that touch a truth span."""
    last = bisect_left(chunks, (max(end for _, end in truth),))
    return [c for c in chunks[:last] if any(c[0] < end and c[1] > start for start, end in truth)]
