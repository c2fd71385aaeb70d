"""What the batches of one run share, and opening a batch: the lock, and what its stages need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.catalog import Catalog
from chunk_assets.compute import Cluster, WorkerPool, engine
from chunk_assets.errors import ConfigurationError, SourceUnavailable, StopRun
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.pruning import merge_blocks
from chunk_assets.pipeline.recipe import Recipe, recipe_of
from chunk_assets.pipeline.reports import Progress, silent
from chunk_assets.records import TABLES
from chunk_assets.sources import Listed, Listing, apart, list_source
from chunk_assets.storage import staging
from chunk_assets.storage.commit import publish_files
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.locks import hold, share
from chunk_assets.storage.remote import RemoteHome, StoreUnavailable, remote_home
from chunk_assets.storage.tables import frugal_memory
from chunk_assets.storage.vectors import VectorStore

if TYPE_CHECKING:
    from chunk_assets.embedders.base import Embedder
    from chunk_assets.embedders.sparse_rows import RowEmbedder


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
    sparse: RowEmbedder | None = None
    # Models that this session loaded itself: it closes them.
    loaded: list[Embedder] = field(default_factory=list)
    listings: dict[str, Listing] = field(default_factory=dict)
    # Listings as they are without a look at other sources.
    alone: dict[str, Listing] = field(default_factory=dict)
    slices: dict[str, dict[str, tuple[Listed, ...]]] = field(default_factory=dict)
    pool: WorkerPool | Cluster | None = None
    recipes: dict[str, Recipe] = field(default_factory=dict)
    stores: dict[str, VectorStore] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget(None))
    # Sources whose listing was compared with the tables already.
    guarded: set[str] = field(default_factory=set)
    # Tables that are to be made anew whatever their files say (repair).
    distrusted: dict[tuple[Batch, str], str] = field(default_factory=dict)

    # What stands behind the home's folder, when the home is in an object store.
    remote: RemoteHome | None = None

    def __post_init__(self) -> None:
        frugal_memory()
        self.budget = Budget(self.options.budget_tokens)
        self.remote = remote_home(self.catalog.home)
        if self.remote is not None:
            self.remote.refuse_version(self.options.version)
            self.remote.rules = self.catalog.object_store

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
            self.loaded.append(self.embedder)
        return self.embedder

    def sparse_model(self) -> RowEmbedder | None:
        """The catalog's sparse embedder, if it has one; its vectors are rows."""
        choice = self.catalog.sparse_embedder
        if self.sparse is None and choice is not None:
            from chunk_assets.embedders import load_sparse_embedder

            self.sparse = load_sparse_embedder(choice.name, **choice.settings)
            self.loaded.append(self.sparse)
        return self.sparse

    def listing(self, source: str) -> Listing:
        """What is in a source, listed once a session; ids that another source gives as well are refused."""
        if source not in self.listings:
            self.listings[source] = apart(self._listing_alone(source), self._rivals(source))
        return self.listings[source]

    def _listing_alone(self, source: str) -> Listing:
        if source not in self.alone:
            self.alone[source] = list_source(self.catalog, source)
        return self.alone[source]

    def _rivals(self, source: str) -> Iterator[Listing]:
        """Other sources that could give an id of this one: those with a template that can be listed."""
        named = [name for name, settings in self.catalog.sources.items() if settings.id_template]
        for name in named if source in named else ():
            with suppress(SourceUnavailable):
                if name != source:
                    yield self._listing_alone(name)

    def documents(self, source: str, slice_key: str) -> tuple[Listed, ...]:
        """The listed documents of one batch, in order of their ids."""
        if source not in self.slices:
            self.slices[source] = self.listing(source).by_slice()
        return self.slices[source].get(slice_key, ())

    def executor(self, worth: int = 0) -> Executor:
        """Where documents are converted: the caller's executor, or the catalog's engine.

        A pool of this session has at most as many processes as were ever ``worth`` their start (0: all).
        """
        if self.options.executor is not None:
            return self.options.executor
        wanted = min(worth, self.workers) or self.workers
        if self.pool is None:
            compute = self.catalog.compute
            self.pool = engine(compute.engine, compute.address, wanted)
        elif isinstance(self.pool, WorkerPool):
            self.pool.workers = max(self.pool.workers, wanted)
        return self.pool

    def close(self) -> None:
        """Ends the worker processes, or leaves the cluster, and closes the models that were loaded here."""
        for model in self.loaded:
            model.close()
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def recipe(self, source: str) -> Recipe:
        """The recipe of a source."""
        if source not in self.recipes:
            sparse = self.sparse_model()
            beside = sparse.card if sparse else None
            self.recipes[source] = recipe_of(self.catalog, source, self.model(), self.options.mode, beside)
        return self.recipes[source]

    def store(self, source: str) -> VectorStore:
        """The vector store of the catalog's model."""
        recipe = self.recipe(source)
        if recipe.model_fingerprint not in self.stores:
            folder = self._vectors(recipe.model_fingerprint)
            self.stores[recipe.model_fingerprint] = VectorStore(folder, recipe.card.dimension)
        return self.stores[recipe.model_fingerprint]

    def sparse_store(self, source: str) -> VectorStore:
        """The store of the catalog's sparse vectors, as rows."""
        recipe, sparse = self.recipe(source), self.sparse_model()
        if sparse is None:
            raise ConfigurationError("the catalog has no sparse_embedder")
        if recipe.sparse_fingerprint not in self.stores:
            folder = self._vectors(recipe.sparse_fingerprint)
            self.stores[recipe.sparse_fingerprint] = VectorStore(folder, sparse.width)
        return self.stores[recipe.sparse_fingerprint]

    def rewriting(self, folder: Path) -> AbstractContextManager[None]:
        """For a block that merges or drops stored vectors, so that the home's object store follows."""
        return nullcontext() if self.remote is None else self.remote.blocks.rewriting(folder)

    def _vectors(self, fingerprint: str) -> Path:
        """The folder of a model's vectors; those that other machines made are fetched."""
        folder = self.layout.vectors(fingerprint)
        if self.remote is not None:
            self.remote.blocks.pull(folder)
        return folder

    @contextmanager
    def batch(self, source: str, slice_key: str) -> Iterator[BatchContext]:
        """Locks a batch for the block, and merges vector blocks when it was published; see ``open_batch``."""
        context = self.peek(source, slice_key)
        lock = self.layout.batch_lock(context.batch)
        options = self.options
        with ExitStack() as stack:
            held = hold(lock, f"batch {context.batch}", name=options.owner, wait=options.lock_wait)
            stack.enter_context(held)
            stack.enter_context(share(self.layout.vectors_lock, "the vector store"))
            if self.remote is not None and options.scratch is None:
                there = self.remote.batch(context.batch, owner=options.owner, wait=options.lock_wait)
                stack.enter_context(there)
            try:
                yield context
            except StopRun as error:
                full_disk = isinstance(error.__cause__, OSError) and not isinstance(error, StoreUnavailable)
                if full_disk:  # don't hold on to half of it
                    staging.clear(self.layout, context.batch, TABLES)
                raise
        if context.published:
            merge_blocks(self)

    def withdraw(self, batch: Batch) -> None:
        """Removes a batch that belongs to no source any more, for all readers."""
        if self.remote is not None:
            with self.remote.batch(batch, owner=self.options.owner, wait=self.options.lock_wait):
                self.remote.commit(batch, {}, None)
        publish_files(self.layout, batch, {}, None)

    def peek(self, source: str, slice_key: str) -> BatchContext:
        """A batch without its lock: for reading only."""
        self.catalog.source(source)
        if not slice_key or "/" in slice_key:
            msg = f"{slice_key!r} is no slice of source {source}"
            raise ConfigurationError(msg)
        return BatchContext(self, Batch(source, slice_key))


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
