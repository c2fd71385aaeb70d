"""Scores one ranking: every measure for every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunk_assets.evaluation import measures
from chunk_assets.evaluation.budget import TokenMap, read
from chunk_assets.evaluation.intervals import Intervals, intervals, size
from chunk_assets.evaluation.records import Piece, Question
from chunk_assets.records import Span

BUDGETS = (500, 1000, 2000)
DEPTHS = (1, 3, 5, 10)
CUT = 5  # k of precision and IoU
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cutting:
    """All pieces of a set by document, and the token maps to read them by."""

    by_document: Mapping[str, tuple[Range, ...]]
    maps: Mapping[str, TokenMap]


def score(question: Question, ranked: Sequence[Piece], cutting: Cutting) -> dict[str, float]:
    """All measures of an answerable question; of several alternatives, the best for each measure."""
    reads = {b: intervals(read(ranked, cutting.maps, b).get(question.document, ())) for b in BUDGETS}
    found: dict[str, float] = {}
    for truth in question.alternatives:
        for name, value in _alternative(question.document, truth, ranked, cutting, reads).items():
            found[name] = max(value, found.get(name, 0.0))
    return found


def _alternative(
    document: str,
    truth: Sequence[Span],
    ranked: Sequence[Piece],
    cutting: Cutting,
    reads: Mapping[int, Intervals],
) -> dict[str, float]:
    spans = [(s.start, s.end) for s in truth]
    target = intervals(spans)
    return {
        **{f"recall@{b}tok": measures.recall(target, covered) for b, covered in reads.items()},
        **_at_depths(document, target, ranked),
        **_ranks(document, spans, ranked),
        "precision_omega": measures.precision_omega(target, _near(target, cutting.by_document[document])),
        "whole_spans": measures.whole_span_rate(spans, _near(target, cutting.by_document[document])),
    }


def _at_depths(document: str, target: Intervals, ranked: Sequence[Piece]) -> dict[str, float]:
    found: dict[str, float] = {}
    for k in DEPTHS:
        chunks = [(p.start, p.end) for p in ranked[:k] if p.document == document]
        found[f"recall@{k}"] = measures.recall(target, intervals(chunks))
        if k == CUT:
            chars = sum(p.end - p.start for p in ranked[:k])
            found[f"precision@{k}"] = measures.precision(target, chunks, chars)
            found[f"iou@{k}"] = measures.iou(target, chunks, chars)
    return found


def _ranks(document: str, spans: Sequence[Range], ranked: Sequence[Piece]) -> dict[str, float]:
    ranks = [
        rank
        for rank, piece in enumerate(ranked, 1)
        if piece.document == document and measures.holds_whole(spans, (piece.start, piece.end))
    ]
    return {**{f"hit@{k}": measures.hit(ranks, k) for k in DEPTHS}, "mrr": measures.reciprocal_rank(ranks)}


def _near(target: Intervals, chunks: Sequence[Range]) -> list[Range]:
    """The chunks that can touch the truth; the others change nothing."""
    low, high = (int(target[0, 0]), int(target[-1, 1])) if size(target) else (0, 0)
    return [c for c in chunks if c[0] < high and c[1] > low]
