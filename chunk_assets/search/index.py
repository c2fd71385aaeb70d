"""One question over the published tables: exact cosine, BM25, or both fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.embedders import EMBEDDERS, Embedder, load_embedder
from chunk_assets.errors import ConfigurationError, unknown
from chunk_assets.search.bm25 import WordIndex
from chunk_assets.search.filters import Filters, mask_of
from chunk_assets.search.passages import Collector, Hit, hits_of
from chunk_assets.search.ranking import best, fused
from chunk_assets.search.rows import Rows, open_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DENSE = "dense"
BM25 = "bm25"
HYBRID = "hybrid"
MODES = (HYBRID, DENSE, BM25)
# Ranks of each list that are fused; a row further down adds less than a hundredth of a first place.
CANDIDATES = 100
# What the table says of its vectors, and the card of the query's embedder must say as well.
CONTRACT = ("model_id", "dimension", "pooling", "normalized", "metric", "query_prefix")


def open_index(home: Path | str, source: str | None = None, embedder: Embedder | None = None) -> Index:
    """The published chunks of one source, or of all, ready for questions.

    ``embedder`` embeds queries and must be the one that made the vectors; by default it's found by
    what the tables say. Raises ``ConfigurationError`` without tables or with several models in them.
    """
    return Index(open_rows(Path(home), source), embedder)


class Index:
    """Chunks with vectors and words. Everything heavy is read at the first search that needs it."""

    def __init__(self, rows: Rows, embedder: Embedder | None = None) -> None:
        self.rows = rows
        if embedder is not None:
            _check_contract(rows.facts, embedder)
        self._given = embedder

    def __len__(self) -> int:
        """Chunks."""
        return int(self.rows.table.num_rows)

    @cached_property
    def _embedder(self) -> Embedder:
        return self._given or _embedder_of(self.rows.facts)

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self.rows)

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
            mode: ``dense`` (cosine), ``bm25``, or ``hybrid`` (reciprocal rank fusion of both).
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
        return hits_of(self.rows.table, collector.passages, query)

    def ranked(
        self, query: str, count: int, mode: str = HYBRID, filters: Filters | None = None
    ) -> list[tuple[int, float]]:
        """(row, score) of the ``count`` best chunks, best first.

        For ``bm25`` a row without any word of the query is no hit.
        """
        mask = mask_of(self.rows.table, filters or {})
        if mode == HYBRID:
            lists = {name: [row for row, _ in self._one(query, count, name, mask)] for name in (DENSE, BM25)}
            return fused(lists, self.rows.ranks)[:count]
        return self._one(query, count, mode, mask)

    def _one(
        self, query: str, count: int, mode: str, mask: NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        scores = self.rows.vectors @ self._query_vector(query) if mode == DENSE else self._words.scores(query)
        found = best(scores, self.rows.ranks, count, mask)
        return [(int(row), float(scores[row])) for row in found if mode == DENSE or scores[row] > 0]

    def _query_vector(self, query: str) -> NDArray[np.float32]:
        if not self.rows.vectors.shape[1]:
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
            _check_contract(facts, embedder)
            return embedder
    raise ConfigurationError(
        f"the vectors are by {facts['model_id']} (revision {facts['model_revision']}); "
        f"give its embedder to embed the query, one of: {', '.join(sorted(EMBEDDERS))}"
    )


def _check_contract(facts: Mapping[str, str], embedder: Embedder) -> None:
    """Query and passage vectors must come from one model with the prefixes it was used with."""
    card = embedder.card
    said = {name: str(getattr(card, name)) for name in CONTRACT} | {"model_revision": card.revision}
    said["normalized"] = said["normalized"].lower()
    wrong = [name for name, value in said.items() if name in facts and facts[name] != value]
    if wrong:
        name = wrong[0]
        raise ConfigurationError(
            f"the embedder does not match the tables: its {name} is {said[name]!r}, theirs {facts[name]!r}"
        )
