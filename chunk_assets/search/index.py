"""One question over the published tables: exact cosine, BM25, learned sparse weights, or all fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.embedders import EMBEDDERS, Embedder, load_embedder
from chunk_assets.embedders.base import EmbedderCard
from chunk_assets.errors import ConfigurationError, unknown
from chunk_assets.search.bm25 import WordIndex
from chunk_assets.search.filters import Filters, mask_of
from chunk_assets.search.learned import SparseIndex, has_sparse
from chunk_assets.search.passages import Collector, Hit, hits_of
from chunk_assets.search.ranking import best, fused
from chunk_assets.search.rows import Rows, open_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DENSE = "dense"
BM25 = "bm25"
SPARSE = "sparse"
HYBRID = "hybrid"
MODES = (HYBRID, DENSE, BM25, SPARSE)
# Ranks of each list that are fused; a row further down adds less than a hundredth of a first place.
CANDIDATES = 100
# What the table says of its vectors, and the card of the query's embedder must say as well.
CONTRACT = ("model_id", "dimension", "pooling", "normalized", "metric", "query_prefix")
SPARSE_CONTRACT = ("model_id", "dimension", "metric", "query_prefix")


def open_index(
    home: Path | str,
    source: str | None = None,
    embedder: Embedder | None = None,
    sparse_embedder: Embedder | None = None,
) -> Index:
    """The published chunks of one source, or of all, ready for questions.

    ``embedder`` embeds queries and must be the one that made the vectors; by default it's found by
    what the tables say, and so is ``sparse_embedder`` for the column ``sparse``. Raises
    ``ConfigurationError`` without tables or with several models in them.
    """
    return Index(open_rows(Path(home), source), embedder, sparse_embedder)


class Index:
    """Chunks with vectors and words. Everything heavy is read at the first search that needs it."""

    def __init__(
        self, rows: Rows, embedder: Embedder | None = None, sparse_embedder: Embedder | None = None
    ) -> None:
        self.rows = rows
        if embedder is not None:
            _check_contract(rows.facts, embedder.card)
        if sparse_embedder is not None:
            _check_contract(rows.facts, sparse_embedder.card, "sparse_", SPARSE_CONTRACT)
        self._given, self._given_sparse = embedder, sparse_embedder

    def __len__(self) -> int:
        """Chunks."""
        return int(self.rows.table.num_rows)

    @cached_property
    def _embedder(self) -> Embedder:
        return self._given or _embedder_of(self.rows.facts)

    @cached_property
    def _sparse_embedder(self) -> Embedder:
        return self._given_sparse or _sparse_embedder_of(self.rows.facts)

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self.rows)

    @cached_property
    def _sparse(self) -> SparseIndex:
        return SparseIndex(self.rows)

    @property
    def fused(self) -> tuple[str, ...]:
        """The modes that ``hybrid`` puts together."""
        return (DENSE, BM25, SPARSE) if has_sparse(self.rows) else (DENSE, BM25)

    def search(
        self,
        query: str,
        k: int = 5,
        mode: str = HYBRID,
        filters: Filters | None = None,
        budget: int | None = None,
        *,
        join: bool = True,
        neighbours: int = 0,
    ) -> list[Hit]:
        """The best passages, best first.

        Args:
            query: a question or words.
            k: how many passages at most.
            mode: ``dense`` (cosine), ``bm25``, ``sparse`` (learned weights, where the tables have
                them), or ``hybrid`` (reciprocal rank fusion of all there are).
            filters: see ``filters.mask_of``.
            budget: tokens of all passages together; a chunk that does not fit any more is passed over.
            join: chunks that touch become one passage.
            neighbours: chunks added before and after each passage, outside the budget.

        Raises:
            ConfigurationError: unknown mode or filter, or no model for the query.
        """
        if mode not in MODES:
            raise unknown("mode", mode, MODES)
        if k < 1 or not query.strip():
            raise ConfigurationError(f"a search needs a question and k of at least 1, not {query!r} and {k}")
        ranked = self.ranked(query, max(CANDIDATES, 4 * k), mode, filters)
        collector = self._collect(ranked, k, budget, join=join)
        collector.widen(neighbours)
        return hits_of(self.rows, collector.passages, query)

    def ranked(
        self, query: str, count: int, mode: str = HYBRID, filters: Filters | None = None
    ) -> list[tuple[int, float]]:
        """(row, score) of the ``count`` best chunks, best first.

        For ``bm25`` and ``sparse`` a row without any word of the query is no hit.
        """
        mask = mask_of(self.rows.table, filters or {})
        if mode == HYBRID:
            lists = {name: [row for row, _ in self._one(query, count, name, mask)] for name in self.fused}
            return fused(lists, self.rows.names)[:count]
        return self._one(query, count, mode, mask)

    def _one(
        self, query: str, count: int, mode: str, mask: NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        scores = self._scores(query, mode)
        if mode != DENSE:
            mask = scores > 0 if mask is None else mask & (scores > 0)
        return [(int(row), float(scores[row])) for row in best(scores, self.rows.names, count, mask)]

    def _scores(self, query: str, mode: str) -> NDArray[np.float32]:
        if mode == DENSE:
            return self.rows.cosines(self._query_vector(query))
        if mode == SPARSE:
            index = self._sparse  # first: it says when there is nothing to ask
            return index.scores(self._sparse_embedder.embed_query(query))
        return self._words.scores(query)

    def _query_vector(self, query: str) -> NDArray[np.float32]:
        if not self.rows.dimension:
            raise ConfigurationError(
                "the tables have no vectors yet; use mode bm25 or run the embeddings first"
            )
        return self._embedder.embed_query(query)

    def _collect(
        self, ranked: Sequence[tuple[int, float]], k: int, budget: int | None, *, join: bool
    ) -> Collector:
        collector = Collector(self.rows.table, join=join)
        tokens = self.rows.table["token_count"]
        left = budget
        for row, score in ranked:
            if len(collector.passages) == k and not collector.touching(row):
                break
            cost = tokens[row].as_py()
            if left is not None and cost > left:
                continue
            left = None if left is None else left - cost
            collector.add(row, score)
        return collector


def _embedder_of(facts: Mapping[str, str]) -> Embedder:
    """The local embedder whose card is what the table says; others must be given."""
    guesses = {"hash": {"dimension": int(facts.get("dimension", "1"))}}
    for name in ("bge_small", "static", "hash"):
        embedder = load_embedder(name, **guesses.get(name, {}))
        if (embedder.card.model_id, embedder.card.revision) == (facts["model_id"], facts["model_revision"]):
            _check_contract(facts, embedder.card)
            return embedder
    raise ConfigurationError(
        f"the vectors are by {facts['model_id']} (revision {facts['model_revision']}); "
        f"give its embedder to embed the query, one of: {', '.join(sorted(EMBEDDERS))}"
    )


def _sparse_embedder_of(facts: Mapping[str, str]) -> Embedder:
    """The default sparse model when it is the table's; another one must be given."""
    embedder = load_embedder("splade", keep=int(facts["sparse_most_weights"]))
    if embedder.card.revision != facts["sparse_model_revision"]:
        raise ConfigurationError(
            f"the sparse vectors are by {facts['sparse_model_id']} "
            f"(revision {facts['sparse_model_revision']}); give its embedder to embed the query"
        )
    return embedder


def _check_contract(
    facts: Mapping[str, str], card: EmbedderCard, prefix: str = "", names: Sequence[str] = CONTRACT
) -> None:
    """Query and passage vectors must come from one model with the prefixes it was used with."""
    said = {f"{prefix}{name}": str(getattr(card, name)) for name in names}
    said[f"{prefix}model_revision"] = card.revision
    if "normalized" in said:
        said["normalized"] = said["normalized"].lower()
    wrong = [name for name, value in said.items() if name in facts and facts[name] != value]
    if wrong:
        name = wrong[0]
        raise ConfigurationError(
            f"the embedder does not match the tables: its {name} is {said[name]!r}, theirs {facts[name]!r}"
        )
