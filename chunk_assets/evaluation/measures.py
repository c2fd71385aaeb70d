"""Measures of retrieval over characters of a document.

T is the union of a question's truth spans, C the union of the retrieved chunks' spans. Precision,
IoU and precision omega follow Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval"
(Chroma, 2024): there, characters of overlapping chunks count as often as they were retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunk_assets.evaluation.intervals import Intervals, intersection, intervals, size

Spans = Sequence[tuple[int, int]]


def recall(truth: Intervals, covered: Intervals) -> float:
    """``|T ∩ C| / |T|``; in [0, 1]. ``truth`` must not be empty."""
    return size(intersection(truth, covered)) / size(truth)


def precision(truth: Intervals, chunks: Spans) -> float:
    """``|T ∩ C| / Σ|c|``: the share of retrieved characters, repeats included, that are truth.

    0 when nothing was retrieved.
    """
    retrieved = sum(end - start for start, end in chunks)
    return size(intersection(truth, intervals(chunks))) / retrieved if retrieved else 0.0


def iou(truth: Intervals, chunks: Spans) -> float:
    """``|T ∩ C| / (|T| + Σ|c| − |T ∩ C|)``: intersection over union with repeats counted."""
    common = size(intersection(truth, intervals(chunks)))
    return common / (size(truth) + sum(end - start for start, end in chunks) - common)


def precision_omega(truth: Intervals, chunks: Spans) -> float:
    """Precision when exactly the chunks that touch T are retrieved: the best a chunking allows."""
    touching = [c for c in chunks if size(intersection(truth, intervals([c])))]
    return precision(truth, touching)


def holds_whole(truth_spans: Spans, chunk: tuple[int, int]) -> bool:
    """Whether ``chunk`` contains at least one whole truth span."""
    return any(chunk[0] <= start and end <= chunk[1] for start, end in truth_spans)


def hit(ranks: Sequence[int], k: int) -> float:
    """1 when one of the first ``k`` chunks holds a whole truth span; ``ranks`` count from 1."""
    return float(any(rank <= k for rank in ranks))


def reciprocal_rank(ranks: Sequence[int]) -> float:
    """``1 / rank`` of the first chunk that holds a whole truth span; 0 when none does.

    Its mean over questions is MRR (Voorhees, TREC-8, 1999).
    """
    return 1.0 / min(ranks) if ranks else 0.0


def whole_span_rate(truth_spans: Spans, chunks: Spans) -> float:
    """Share of truth spans that lie inside one chunk, retrieval aside."""
    inside = [any(c[0] <= start and end <= c[1] for c in chunks) for start, end in truth_spans]
    return float(np.mean(inside))
