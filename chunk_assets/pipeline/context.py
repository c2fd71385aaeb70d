"""What the stages of one batch share: catalog, paths, lock, listing, recipe and embedder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.catalog import Catalog, Source
from chunk_assets.compute import WorkerPool
from chunk_assets.errors import ConfigurationError, StopRun
from chunk_assets.hashing import sha256_text
from chunk_assets.pipeline.recipe import Recipe, recipe_of
from chunk_assets.pipeline.reports import Progress, silent
from chunk_assets.records import TABLES
from chunk_assets.sources import Listed, Listing, list_source
from chunk_assets.storage import staging
from chunk_assets.storage.commit import Manifest, damaged_tables, load_manifest
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.locks import hold, share
from chunk_assets.storage.rates import note_rate
from chunk_assets.storage.schemas import embeddings_schema
from chunk_assets.storage.state import BatchState, load_state, save_state
from chunk_assets.storage.vectors import VectorStore

if TYPE_CHECKING:
    import pyarrow as pa

    from chunk_assets.embedders.base import Embedder


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run. Only ``mode`` (``CHUNKING_FACTORY_MODE``) changes what is made.

    ``workers`` 0 means the catalog's choice (0 there: one a core). ``budget_tokens`` bounds what is sent
    to the embedder. ``lock_wait`` is how many seconds to wait for another run on the same batch.
    ``retry_parked`` tries documents again that failed too often. ``version`` builds under
    ``<home>/versions/<version>``. ``owner`` is shown to whoever finds the batch locked.
    ``scratch`` is a folder for a rehearsal: stages are written there, and the home is only read.
    """

    workers: int = 0
    progress: Progress = silent
    allow_deletions: bool = False
    budget_tokens: int | None = None
    lock_wait: float = 0.0
    retry_parked: bool = False
    version: str = ""
    owner: str = ""
    mode: str = ""
    executor: Executor | None = None
    scratch: Path | None = None


@dataclass(slots=True)
class Budget:
    """Tokens that may still be sent to the embedder; ``None`` is no bound."""

    left: int | None

    def spend(self, tokens: int) -> None:
        """Takes tokens off."""
        if self.left is not None:
            self.left -= tokens


@dataclass(slots=True)
class Session:
    """What the batches of one run share: the model, listings and recipes are loaded once."""

    catalog: Catalog
    options: RunOptions = field(default_factory=RunOptions)
    embedder: Embedder | None = None
    listings: dict[str, Listing] = field(default_factory=dict)
    slices: dict[str, dict[str, tuple[Listed, ...]]] = field(default_factory=dict)
    pool: WorkerPool | None = None
    recipes: dict[str, Recipe] = field(default_factory=dict)
    stores: dict[str, VectorStore] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget(None))
    # Sources whose listing was compared with the tables already.
    guarded: set[str] = field(default_factory=set)
    # Tables that are to be made anew whatever their files say (repair).
    distrusted: dict[tuple[Batch, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.budget = Budget(self.options.budget_tokens)

    @property
    def layout(self) -> Layout:
        """The paths of the version that this run builds."""
        return Layout(Path(self.catalog.home), self.options.version, self.options.scratch)

    @property
    def workers(self) -> int:
        """How many processes or threads to use."""
        return self.options.workers or self.catalog.workers or os.cpu_count() or 1

    def model(self) -> Embedder:
        """The catalog's embedder."""
        if self.embedder is None:
            from chunk_assets.embedders import load_embedder

            choice = self.catalog.embedder
            self.embedder = load_embedder(choice.name, **choice.settings)
        return self.embedder

    def listing(self, source: str) -> Listing:
        """What is in a source, listed once a session."""
        if source not in self.listings:
            self.listings[source] = list_source(self.catalog, source)
        return self.listings[source]

    def documents(self, source: str, slice_key: str) -> tuple[Listed, ...]:
        """The listed documents of one batch, in order of their ids."""
        if source not in self.slices:
            self.slices[source] = self.listing(source).by_slice()
        return self.slices[source].get(slice_key, ())

    def executor(self) -> Executor:
        """Where documents are converted: the caller's executor, or killable local processes."""
        if self.options.executor is not None:
            return self.options.executor
        if self.pool is None:
            self.pool = WorkerPool(self.workers)
        return self.pool

    def close(self) -> None:
        """Ends the worker processes."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def recipe(self, source: str) -> Recipe:
        """The recipe of a source."""
        if source not in self.recipes:
            self.recipes[source] = recipe_of(self.catalog, source, self.model(), self.options.mode)
        return self.recipes[source]

    def store(self, source: str) -> VectorStore:
        """The vector store of the catalog's model."""
        recipe = self.recipe(source)
        if recipe.model_fingerprint not in self.stores:
            folder = self.layout.vectors(recipe.model_fingerprint)
            self.stores[recipe.model_fingerprint] = VectorStore(folder, recipe.card.dimension)
        return self.stores[recipe.model_fingerprint]

    @contextmanager
    def batch(self, source: str, slice_key: str) -> Iterator[BatchContext]:
        """Locks a batch for the block; see ``open_batch``."""
        context = self.peek(source, slice_key)
        lock = self.layout.batch_lock(context.batch)
        options = self.options
        with (
            hold(lock, f"batch {context.batch}", name=options.owner, wait=options.lock_wait),
            share(self.layout.vectors_lock, "the vector store"),
        ):
            try:
                yield context
            except StopRun as error:
                if isinstance(error.__cause__, OSError):  # a full disk: don't hold on to half of it
                    staging.clear(self.layout, context.batch, TABLES)
                raise

    def peek(self, source: str, slice_key: str) -> BatchContext:
        """A batch without its lock: for reading only."""
        self.catalog.source(source)
        if not slice_key or "/" in slice_key:
            msg = f"{slice_key!r} is no slice of source {source}"
            raise ConfigurationError(msg)
        return BatchContext(self, Batch(source, slice_key))


@dataclass
class BatchContext:
    """One batch in a session."""

    session: Session
    batch: Batch

    @property
    def catalog(self) -> Catalog:
        """All settings."""
        return self.session.catalog

    @property
    def source(self) -> Source:
        """The settings of the batch's source."""
        return self.catalog.source(self.batch.source)

    @property
    def options(self) -> RunOptions:
        """How to run."""
        return self.session.options

    @property
    def layout(self) -> Layout:
        """Paths."""
        return self.session.layout

    @property
    def recipe(self) -> Recipe:
        """What to make."""
        return self.session.recipe(self.batch.source)

    @property
    def store(self) -> VectorStore:
        """Vectors by content."""
        return self.session.store(self.batch.source)

    @cached_property
    def documents(self) -> tuple[Listed, ...]:
        """The listed documents of this batch, in order of their ids."""
        return self.session.documents(self.batch.source, self.batch.slice)

    @cached_property
    def by_id(self) -> dict[str, Listed]:
        """The listed documents of this batch by id."""
        return {listed.document_id: listed for listed in self.documents}

    @cached_property
    def listing_digest(self) -> str:
        """Names the listing of this batch: equal digests, nothing to read."""
        return sha256_text("\n".join(map(repr, self.documents)))

    @cached_property
    def state(self) -> BatchState:
        """What is remembered of the batch."""
        return load_state(self.layout.state_file(self.batch))

    @cached_property
    def manifest(self) -> Manifest | None:
        """What is published of the batch."""
        return load_manifest(self.layout, self.batch)

    @cached_property
    def damaged(self) -> dict[str, str]:
        """Published tables whose file is not what the manifest says, with what is wrong."""
        found = damaged_tables(self.layout, self.batch, self.manifest, self.state.stamps)
        distrusted = self.session.distrusted.items()
        return found | {table: what for (batch, table), what in distrusted if batch == self.batch}

    def published_file(self, table: str) -> Path | None:
        """The published file of a table when it can be relied on."""
        if self.manifest is None or table in self.damaged or table not in self.manifest.files:
            return None
        return self.layout.table_file(table, self.batch)

    @cached_property
    def embeddings_schema(self) -> pa.Schema:
        """The schema of ``embeddings`` under the catalog's model."""
        return embeddings_schema(self.recipe.card, self.recipe.model_fingerprint)

    @property
    def is_complete(self) -> bool:
        """Whether listing, recipe and published files are those of the last run that published."""
        if self.manifest is None:
            return not self.documents
        return (
            self.manifest.recipe == self.recipe.digest
            and self.state.listing_digest == self.listing_digest
            and not self.damaged
        )

    @property
    def is_current(self) -> bool:
        """Whether there is nothing to do: complete, and no failed document is to be tried again."""
        return self.is_complete and not self.due

    @property
    def due(self) -> bool:
        """Whether some document that failed is to be tried again by the next run."""
        most = self.catalog.retry_rule(self.batch.source).max_attempts
        return any(
            attempts.count < most or self.options.retry_parked for attempts in self.state.attempts.values()
        )

    def forget(self) -> None:
        """Looks at the published files again when they are asked for next."""
        for name in ("manifest", "damaged", "state"):
            self.__dict__.pop(name, None)

    def save(self) -> None:
        """Writes the state, unless this is a rehearsal."""
        if self.options.scratch is None:
            save_state(self.layout.state_file(self.batch), self.state)

    def note_rate(self, name: str, amount: float, seconds: float) -> None:
        """Remembers how fast a kind of work went."""
        if self.options.scratch is None:
            note_rate(self.layout.rates, name, amount, seconds)

    def tell(self, stage: str, done: int, total: int, unit: str) -> None:
        """Reports progress of this batch."""
        self.options.progress(stage, done, total, unit)


@contextmanager
def open_batch(
    catalog: Catalog,
    source: str,
    slice_key: str,
    options: RunOptions | None = None,
    *,
    listing: Listing | None = None,
    embedder: Embedder | None = None,
) -> Iterator[BatchContext]:
    """Locks a batch and gives what its stages need; the lock is freed at the end.

    ``listing`` saves listing the source again; ``embedder`` saves loading the model again.

    Raises:
        LockHeld: another run works on this batch; names its host, process and since when.
        ConfigurationError: the source or slice is not in the catalog.
    """
    session = Session(catalog, options or RunOptions(), embedder)
    if listing is not None:
        session.listings[source] = listing
    try:
        with session.batch(source, slice_key) as context:
            yield context
    finally:
        session.close()
