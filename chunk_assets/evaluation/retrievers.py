"""Retrievers: pieces and queries → the best pieces of each query, best first.

A retriever is named like this: an embedder's name for dense retrieval (``bge_small``), ``bm25``, or
both with a plus for fusion (``bge_small+bm25``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunk_assets.evaluation.records import Piece
from chunk_assets.evaluation.vectors import Matrix

BM25 = "bm25"
RRF_K = 60  # Cormack, Clarke and Büttcher, SIGIR 2009
Scores = NDArray[np.float64]  # [queries, pieces]
Ranking = NDArray[np.int64]  # [queries, depth], piece indices, best first
Embed = Callable[[Sequence[str]], Matrix]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pieces of a set with the texts that are embedded or indexed: context, then text."""

    pieces: tuple[Piece, ...]
    inputs: tuple[str, ...]


def similarities(corpus: Corpus, queries: Sequence[str], passages: Embed, ask: Embed) -> Scores:
    """Cosine of unit vectors, ``float64[queries, pieces]``, without the digits that BLAS may change."""
    products = ask(queries).astype(np.float64) @ passages(corpus.inputs).astype(np.float64).T
    rounded: Scores = np.round(products, 6)
    return rounded


def bm25(corpus: Corpus, queries: Sequence[str]) -> Scores:
    """BM25 in Lucene's form (k1 1.5, b 0.75), English stop words, no stemming."""
    import bm25s

    tokenized = bm25s.tokenize(list(corpus.inputs), show_progress=False)
    index = bm25s.BM25()
    index.index(tokenized, show_progress=False)
    asked = bm25s.tokenize(list(queries), show_progress=False, return_ids=False)
    scores = np.zeros((len(queries), len(corpus.pieces)))
    for row, words in enumerate(asked):
        kept = [word for word in words if word in tokenized.vocab]
        if kept:
            scores[row] = index.get_scores(kept)
    rounded: Scores = np.round(scores, 6)
    return rounded


def fuse(first: Ranking, second: Ranking, pieces: int) -> Scores:
    """Reciprocal rank fusion: a piece's score is the sum of ``1 / (60 + rank)`` over both rankings."""
    scores = np.zeros((len(first), pieces))
    for ranking in (first, second):
        weight = 1.0 / (RRF_K + 1 + np.arange(ranking.shape[1]))
        rows = np.arange(len(ranking))[:, None]
        scores[rows, ranking] += weight[None, :]
    rounded: Scores = np.round(scores, 12)
    return rounded


def top(scores: Scores, depth: int) -> Ranking:
    """Indices of the ``depth`` best columns of each row; ties go to the lower index.

    >>> top(np.array([[0.1, 0.9, 0.9]]), 2).tolist()
    [[1, 2]]
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    return order[:, : min(depth, scores.shape[1])]
