"""Homes in an object store: the store is the truth, a folder of this machine is where work is done."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from chunk_assets.catalog.origin import origin_of
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.locks import is_held
from chunk_assets.storage.remote.home import RemoteHome
from chunk_assets.storage.remote.objects import StoreUnavailable

__all__ = [
    "RemoteHome",
    "StoreUnavailable",
    "bring_up_to_date",
    "is_worked_on",
    "learn_what_is_published",
    "remote_home",
]


def remote_home(home: str | Path) -> RemoteHome | None:
    """What stands behind a working folder; ``None`` for a home that is its own folder."""
    url = origin_of(home)
    return _opened(Path(home), url) if url else None


def learn_what_is_published(home: str | Path) -> None:
    """Manifests, states and questions of a home in an object store, without its tables."""
    if (remote := remote_home(home)) is not None:
        remote.refresh()


def bring_up_to_date(home: str | Path) -> None:
    """All tables of a home in an object store, for what reads them all."""
    if (remote := remote_home(home)) is not None:
        remote.pull()


def is_worked_on(layout: Layout, batch: Batch) -> bool:
    """Whether a run holds a batch, on this machine or on another one."""
    if is_held(layout.batch_lock(batch)):
        return True
    remote = remote_home(layout.home)
    return remote is not None and remote.is_locked(batch)


@cache
def _opened(home: Path, url: str) -> RemoteHome:
    return RemoteHome(home, url)
