"""What the stages of one batch share: catalog, paths, lock, listing, recipe and embedder."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass

from chunk_assets.catalog import Catalog
from chunk_assets.embedders.base import Embedder
from chunk_assets.pipeline.reports import Progress, silent
from chunk_assets.sources import Listing
from chunk_assets.storage.layout import Batch


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run, never what to make: no option changes a byte of the tables.

    ``workers`` 0 means the catalog's choice (0 there: one a core). ``budget_tokens`` bounds what is sent
    to the embedder. ``lock_wait`` is how many seconds to wait for another run on the same batch.
    ``retry_parked`` tries documents again that failed too often. ``version`` builds under
    ``<home>/versions/<version>``. ``owner`` is shown to whoever finds the batch locked.
    """

    workers: int = 0
    progress: Progress = silent
    allow_deletions: bool = False
    budget_tokens: int | None = None
    lock_wait: float = 0.0
    retry_parked: bool = False
    version: str = ""
    owner: str = ""
    executor: Executor | None = None


class BatchContext:
    """Holds the lock on a batch while it is open; see ``open_batch``."""

    catalog: Catalog
    batch: Batch
    options: RunOptions


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
    raise NotImplementedError
    yield
