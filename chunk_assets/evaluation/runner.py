"""Runs contenders × retrievers × sets and keeps every question's scores.

The figures depend on sets, contenders and models only: no clock, and draws come from a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from chunk_assets.chunking import embedder_text
from chunk_assets.embedders import load_embedder
from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation import retrievers
from chunk_assets.evaluation.bootstrap import Scores
from chunk_assets.evaluation.contenders import Contender
from chunk_assets.evaluation.frame import Frame, frame
from chunk_assets.evaluation.records import Piece, Question, QuestionSet
from chunk_assets.evaluation.scoring import score
from chunk_assets.evaluation.vectors import VectorCache
from chunk_assets.hashing import sha256_text

DEPTH = 400  # pieces ranked a question: far more than 2,000 tokens hold
DEFAULT_COUNTER = "bge_small"  # counts tokens for bm25, which has no tokenizer of its own
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Result:
    """One contender with one retriever on one set.

    ``scores`` has a row of values a measure, in the order of ``questions`` (answerable ones).
    ``best`` are the highest similarities of answerable and unanswerable questions, empty for fusion.
    """

    set: str
    contender: str
    retriever: str
    questions: tuple[str, ...]
    kinds: tuple[str, ...]
    scores: dict[str, Scores]
    cost: dict[str, float]
    best: tuple[Scores, Scores]


@dataclass(slots=True)
class Bench:
    """Loads each embedder once and shares vectors and token maps between contenders."""

    cache: Path | None = None
    workers: int = 1
    _caches: dict[str, VectorCache] = field(default_factory=dict)
    _frames: dict[tuple[str, str], Frame] = field(default_factory=dict)

    def vectors(self, embedder: str) -> VectorCache:
        """The vector cache of an embedder of the shelf."""
        if embedder not in self._caches:
            self._caches[embedder] = VectorCache(load_embedder(embedder), self.cache, self.workers)
        return self._caches[embedder]

    def frame(self, questions: QuestionSet, embedder: str) -> Frame:
        """A set's documents on one line, counted by an embedder's tokenizer."""
        key = (sha256_text("\0".join(d.markdown for d in questions.documents)), embedder)
        if key not in self._frames:
            self._frames[key] = frame(questions.documents, self.vectors(embedder).embedder.count_tokens)
        return self._frames[key]

    def close(self) -> None:
        """Frees the models."""
        for cache in self._caches.values():
            cache.embedder.close()


def evaluate(
    sets: Sequence[QuestionSet],
    contenders: Sequence[Contender],
    retriever_names: Sequence[str] = ("bge_small",),
    *,
    bench: Bench | None = None,
    progress: Progress = lambda _: None,
) -> list[Result]:
    """Every combination, in the order given.

    ``ConfigurationError`` for an unknown retriever, and for a set without answerable questions.
    """
    bench = bench or Bench()
    parts = [_parts(name) for name in retriever_names]  # refuses an unknown name before any work
    found = []
    for questions in sets:
        if not any(q.answerable for q in questions.questions):
            raise ConfigurationError(f"question set {questions.name} has no question with an answer")
        for entry in contenders:
            corpus = cut(questions, entry)
            for name, (embedder, lexical) in zip(retriever_names, parts, strict=True):
                progress(f"{questions.name}: {entry.name} × {name} ({len(corpus.pieces)} chunks)")
                found.append(_result(questions, entry.name, name, corpus, bench, embedder, lexical))
    return found


def cut(questions: QuestionSet, entry: Contender) -> retrievers.Corpus:
    """All documents of a set cut by one contender."""
    pieces: list[Piece] = []
    inputs: list[str] = []
    for document in questions.documents:
        made = entry.chunk(document)
        pieces += made
        inputs += [embedder_text(p.context, document.markdown[p.start : p.end]) for p in made]
    if not pieces:
        raise ConfigurationError(f"{entry.name} makes no chunks of {questions.name}")
    return retrievers.Corpus(tuple(pieces), tuple(inputs))


def ranked(questions: QuestionSet, corpus: retrievers.Corpus, retriever: str, bench: Bench) -> Scores:
    """Scores of every piece for every question by the retriever of that name."""
    embedder, lexical = _parts(retriever)
    return _scores(questions, corpus, bench, embedder, lexical)


def _parts(name: str) -> tuple[str | None, bool]:
    """The embedder and whether BM25 takes part, from a retriever's name."""
    names = name.split("+")
    dense = [n for n in names if n != retrievers.BM25]
    if not name or len(dense) > 1 or len(names) != len(set(names)):
        raise ConfigurationError(f"retriever {name!r}: an embedder, bm25, or both as in bge_small+bm25")
    for embedder in dense:
        load_embedder(embedder)
    return (dense[0] if dense else None), retrievers.BM25 in names


def _result(
    questions: QuestionSet,
    contender: str,
    retriever: str,
    corpus: retrievers.Corpus,
    bench: Bench,
    embedder: str | None,
    lexical: bool,
) -> Result:
    vectors = bench.vectors(embedder or DEFAULT_COUNTER)
    cost = _cost(corpus, vectors)
    if embedder:
        inputs, cost["truncated"] = vectors.fitted(corpus.inputs)
        corpus = retrievers.Corpus(corpus.pieces, tuple(inputs))
    scores = _scores(questions, corpus, bench, embedder, lexical)
    kept = [q for q in questions.questions if q.answerable]
    rows = _scored(questions, corpus, bench.frame(questions, embedder or DEFAULT_COUNTER), scores)
    return Result(
        questions.name,
        contender,
        retriever,
        tuple(q.id for q in kept),
        tuple(q.kind for q in kept),
        {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})},
        cost,
        _best(questions.questions, scores if not (embedder and lexical) else None),
    )


def _scores(
    questions: QuestionSet, corpus: retrievers.Corpus, bench: Bench, embedder: str | None, lexical: bool
) -> Scores:
    asked = [q.text for q in questions.questions]
    found: list[Scores] = []
    if embedder:
        vectors = bench.vectors(embedder)
        found.append(retrievers.similarities(corpus, asked, vectors.passages, vectors.queries))
    if lexical:
        found.append(retrievers.bm25(corpus, asked))
    if len(found) == 1:
        return found[0]
    first, second = (retrievers.top(s, DEPTH) for s in found)
    return retrievers.fuse(first, second, len(corpus.pieces))


def _scored(
    questions: QuestionSet, corpus: retrievers.Corpus, line: Frame, scores: Scores
) -> list[dict[str, float]]:
    """A row of measures for each answerable question, in order."""
    chunks = [line.place(piece) for piece in corpus.pieces]
    ordered = sorted(chunks)
    rows = []
    for question, ranking in zip(questions.questions, retrievers.top(scores, DEPTH), strict=True):
        if question.answerable:
            truth = [[line.place(p) for p in one] for one in question.alternatives]
            rows.append(score(truth, [chunks[i] for i in ranking], ordered, line.tokens))
    return rows


def _cost(corpus: retrievers.Corpus, vectors: VectorCache) -> dict[str, float]:
    counts = vectors.embedder.count_tokens(corpus.inputs)
    return {
        "chunks": float(len(corpus.pieces)),
        "tokens_embedded": float(sum(counts)),
        "tokens_a_chunk": round(sum(counts) / len(counts), 1),
    }


def _best(questions: Sequence[Question], scores: Scores | None) -> tuple[Scores, Scores]:
    if scores is None:
        return np.zeros(0), np.zeros(0)
    highest = scores.max(axis=1)
    known = np.array([q.answerable for q in questions], dtype=bool)
    return highest[known], highest[~known]
