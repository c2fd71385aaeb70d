"""Homes in an object store: the store is the truth, a folder of this machine is where work is done."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from chunk_assets.catalog.origin import origin_of
from chunk_assets.storage.remote.home import RemoteHome
from chunk_assets.storage.remote.objects import StoreUnavailable

__all__ = ["RemoteHome", "StoreUnavailable", "remote_home"]


def remote_home(home: str | Path) -> RemoteHome | None:
    """What stands behind a working folder; ``None`` for a home that is its own folder."""
    url = origin_of(home)
    return _opened(Path(home), url) if url else None


@cache
def _opened(home: Path, url: str) -> RemoteHome:
    return RemoteHome(home, url)
