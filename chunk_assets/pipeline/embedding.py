"""From rows of ``chunks`` to rows of ``embeddings``: every vector is looked up before it is paid for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.embedders.base import spent
from chunk_assets.errors import BudgetReached
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.trials import Trials, faults_by
from chunk_assets.records import EMBEDDINGS
from chunk_assets.text.contexts import embedder_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from chunk_assets.pipeline.sparse import SparseEmbedding

ROW_COLUMNS = ("chunk_id", "point_id", "document_id", "chunk_sha256", "input_sha256")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text without a vector. A final one is not sent again until the text or the model changes."""

    reason: str
    final: bool


@dataclass
class Missing:
    """A document's chunks without a vector (id and reason), of how many; keys that may pass next time."""

    chunks: int = 0
    without: list[tuple[str, str]] = field(default_factory=list)
    passing: list[bytes] = field(default_factory=list)


@dataclass
class Embedding:
    """The embedding of one batch: what was sent, what it cost, what was refused."""

    context: BatchContext
    chunks_file: Path
    sparse: SparseEmbedding | None = None
    refusals: dict[bytes, Refusal] = field(default_factory=dict)
    missing: dict[str, Missing] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    recoverable: set[bytes] = field(default_factory=set)
    texts: int = 0
    tokens: int = 0
    reused: int = 0
    rows: int = 0
    seconds: float = 0.0
    provider: dict[str, float] = field(default_factory=dict)

    def vectors_for_all(self) -> None:
        """Puts a vector of every chunk into the store, or the reason why there is none.

        Raises:
            BudgetReached: more tokens are needed than the budget has left.
            StopRun: the embedder is down.
        """
        wanted = self.missing_keys()
        self._recover()
        before = spent(self.context.session.embedder)
        try:
            self._embed_missing(wanted)
        finally:
            self.context.store.flush()
            after = spent(self.context.session.embedder)
            self.provider = {name: amount - before.get(name, 0) for name, amount in after.items()}
        if self.sparse is not None:
            self.sparse.vectors_for_all()

    def portions(self) -> Iterator[pa.Table]:
        """Rows of ``embeddings`` in the order of the chunks; refused texts have none."""
        for rows in row_groups(self.chunks_file, ROW_COLUMNS):
            keys = keys_of(rows)
            vectors, found = self.context.store.get(keys)
            self._note_missing(rows, keys, found)
            made = self._as_rows(rows, vectors, found)
            yield made if self.sparse is None else self.sparse.beside(made)

    def _note_missing(self, rows: pa.Table, keys: Sequence[bytes], found: NDArray[np.bool_]) -> None:
        ids = rows["document_id"].to_pylist()
        self.counts.update(ids)
        for row in (~found).nonzero()[0].tolist():
            refusal = self.refusals.get(keys[row], Refusal("its vector was lost while this ran", final=False))
            entry = self.missing.setdefault(ids[row], Missing())
            entry.without.append((rows["chunk_id"][row].as_py(), refusal.reason))
            if not refusal.final:
                entry.passing.append(keys[row])
        for name in set(ids) & self.missing.keys():
            self.missing[name].chunks = self.counts[name]

    def missing_keys(self) -> dict[bytes, int]:
        """Keys without a vector anywhere, in reading order, with the tokens of their texts."""
        remembered = self.context.state.refused.get(self.context.recipe.model_fingerprint, {})
        remembered = {} if self.context.options.retry_parked else remembered
        wanted: dict[bytes, int] = {}
        for rows in row_groups(self.chunks_file, ("input_sha256", "model_token_count")):
            keys = keys_of(rows)
            self.rows += len(keys)
            there = self.context.store.contains(keys).tolist()
            tokens = rows["model_token_count"].to_pylist()
            for key, known, count in zip(keys, there, tokens, strict=True):
                if known:
                    continue
                if key.hex() in remembered:
                    self.refusals[key] = Refusal(remembered[key.hex()], final=True)
                else:
                    wanted[key] = count
        for rows in self._published_rows(("input_sha256",)) if wanted else ():
            for key in keys_of(rows):
                if wanted.pop(key, None) is not None:
                    self.recoverable.add(key)
        self.reused = self.rows - len(wanted) - len(self.refusals)
        return wanted

    def _published_rows(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Published embeddings, when they are of the model that is wanted."""
        path = self.context.published_file(EMBEDDINGS)
        if path is not None and self.same_model:
            yield from row_groups(path, columns)

    @property
    def same_model(self) -> bool:
        """Whether there are published embeddings of this model: rows of theirs are not new."""
        path, manifest = self.context.published_file(EMBEDDINGS), self.context.manifest
        model = self.context.recipe.model_fingerprint
        return path is not None and manifest is not None and manifest.model_fingerprint == model

    @property
    def same_rows(self) -> bool:
        """Whether rows of the published embeddings are rows of this recipe, sparse vectors and all."""
        return self.same_model and (self.sparse is None or self.sparse.same_model)

    def _recover(self) -> None:
        """Takes vectors that the store has lost from the published table."""
        import numpy as np

        for rows in self._published_rows(("input_sha256", "vector")) if self.recoverable else ():
            vectors = np.asarray(rows["vector"].combine_chunks().flatten(), np.float32)
            vectors = vectors.reshape(rows.num_rows, -1)
            for row, key in enumerate(keys_of(rows)):
                if key in self.recoverable:
                    self.context.store.add(key, vectors[row])

    def _embed_missing(self, wanted: dict[bytes, int]) -> None:
        total, done = len(wanted), 0
        affordable, left_over = _within(wanted, self.context.session.budget.left)
        for group in self._groups(affordable):
            self._embed_group(list(group), list(group.values()))
            done += len(group)
            cost = sum(affordable[key] for key in group)
            self.tokens += cost
            self.context.session.budget.spend(cost)
            self.context.tell(EMBEDDINGS, done, total, "texts")
        if left_over:
            more = sum(left_over.values())
            msg = (
                f"the token budget is used up: {len(left_over)} texts with {more} tokens of batch "
                f"{self.context.batch} are left; {self.texts} texts were embedded and are kept. "
                "Run again with a new budget to go on"
            )
            raise BudgetReached(msg)

    def _groups(self, wanted: dict[bytes, int]) -> Iterator[dict[bytes, str]]:
        """Texts of the wanted keys, each once, as many as a row group has."""
        import pyarrow.parquet as pq

        open_keys = set(wanted)
        with pq.ParquetFile(self.chunks_file) as file:
            for number in range(file.num_row_groups):
                keys = keys_of(file.read_row_group(number, columns=["input_sha256"]))
                if open_keys.isdisjoint(keys):
                    continue
                texts = inputs_of(file.read_row_group(number, columns=["context", "text"]))
                yield {key: text for key, text in zip(keys, texts, strict=True) if key in open_keys}
                open_keys.difference_update(keys)

    def _embed_group(self, keys: list[bytes], texts: list[str]) -> None:
        started = time.perf_counter()
        session = self.context.session
        trials = Trials(session.model(), session.workers, faults_by(self.context.recipe.card))
        for answer in trials.answers(texts):
            self.texts += 1
            if answer.vector is not None:
                self.context.store.add(keys[answer.index], answer.vector)
            else:
                self.refusals[keys[answer.index]] = Refusal(answer.error, final=not answer.retryable)
        self.seconds += time.perf_counter() - started

    def _as_rows(self, rows: pa.Table, vectors: NDArray[np.float32], found: NDArray[np.bool_]) -> pa.Table:
        import numpy as np
        import pyarrow as pa

        kept = np.flatnonzero(found)
        vector = pa.FixedSizeListArray.from_arrays(
            pa.array(vectors[kept].reshape(-1), pa.float32()), self.context.recipe.card.dimension
        )
        constant = {
            "model": self.context.recipe.card.model_id,
            "model_fingerprint": self.context.recipe.model_fingerprint,
        }
        columns = {name: rows[name].take(kept) for name in ROW_COLUMNS} | {
            "vector": vector,
            **{name: pa.array([value] * len(kept), pa.string()) for name, value in constant.items()},
        }
        whole = self.context.embeddings_schema
        schema = pa.schema([field for field in whole if field.name in columns], metadata=whole.metadata)
        return pa.table([columns[name] for name in schema.names], schema=schema)


def _within(wanted: dict[bytes, int], budget: int | None) -> tuple[dict[bytes, int], dict[bytes, int]]:
    """The first texts that fit in the budget together, and the others."""
    if budget is None:
        return wanted, {}
    affordable: dict[bytes, int] = {}
    for key, tokens in wanted.items():
        if tokens > budget:
            break
        budget -= tokens
        affordable[key] = tokens
    return affordable, {key: tokens for key, tokens in wanted.items() if key not in affordable}


def keys_of(rows: pa.Table) -> list[bytes]:
    """The keys of embedder inputs."""
    return list(map(bytes.fromhex, rows["input_sha256"].to_pylist()))


def inputs_of(rows: pa.Table) -> list[str]:
    """What the embedder reads of each row: ``context`` and ``text``."""
    pairs = zip(rows["context"].to_pylist(), rows["text"].to_pylist(), strict=True)
    return [embedder_text(context, text) for context, text in pairs]


def row_groups(path: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The row groups of a table file."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=list(columns))
