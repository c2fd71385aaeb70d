"""Versions side by side: built beside the published one, promoted and rolled back by one exchange.

A version is a folder ``<home>/versions/<name>`` with tables and state of its own and, when it has other
settings, a ``sources.yaml``. All versions share the vector store. After a promotion the folder holds
what was published before, so that the same exchange is the way back.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from chunk_assets.catalog import HOME_FILE, Catalog, load_catalog
from chunk_assets.errors import ConfigurationError, StopRun, unknown
from chunk_assets.pipeline.run import all_batches
from chunk_assets.pipeline.session import RunOptions, Session
from chunk_assets.records import CHUNKS, RAW_DOCUMENTS
from chunk_assets.storage.commit import load_manifest, mirror, published_batches, switch
from chunk_assets.storage.files import exchange, read_if_there, remove_tree, write_atomic
from chunk_assets.storage.layout import Layout, layouts
from chunk_assets.storage.locks import share
from chunk_assets.storage.remote import remote_home

LAST = "promoted.json"


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """One version of a home; the published one has the name ``""``."""

    name: str
    batches: int
    documents: int
    chunks: int
    models: tuple[str, ...]


def versions(home: str | Path) -> list[VersionInfo]:
    """The published version and all beside it."""
    return [_info(layout) for layout in layouts(Path(home))]


def version_catalog(home: str | Path, name: str) -> Catalog:
    """The settings of a version: its own ``sources.yaml``, or the home's; paths are relative to the home."""
    layout = Layout(Path(home), name)
    if name and (layout.root / HOME_FILE).is_file():
        return load_catalog(layout.root).model_copy(update={"home": str(home)})
    return load_catalog(home)


def create_version(home: str | Path, name: str, settings: str | None = None) -> Layout:
    """Makes a version that starts from the published tables (links), so that only what differs is made.

    ``settings`` is the text of its ``sources.yaml``; ``None`` keeps the home's.

    Raises:
        ConfigurationError: the name is not usable or taken.
    """
    _on_disk(home)
    layout = Layout(Path(home), name)
    if not name or layout.root.exists():
        raise ConfigurationError(f"version {name!r} is there already" if name else "a version needs a name")
    published = Layout(Path(home))
    layout.root.mkdir(parents=True)
    if published.tables.is_dir():
        mirror(published.tables, layout.tables)
    if published.state.is_dir():
        shutil.copytree(published.state, layout.state)
    if settings is not None:
        write_atomic(layout.root / HOME_FILE, settings.encode())
    return layout


def promote(home: str | Path, name: str, *, loss: float | None = None, margin: float = 0.02) -> None:
    """Makes a version the published one, at one moment; the published one takes its place.

    ``loss`` is by how much retrieval got worse (recall before less recall after), as ``evaluate`` measured
    it; more than ``margin`` is refused.

    Raises:
        StopRun: the version is not complete, or finds less.
        LockHeld: a run is going on.
        ConfigurationError: there is no such version.
    """
    layout = _known(home, name)
    if loss is not None and loss > margin:
        msg = f"version {name} is not promoted: recall falls by {loss:.3f}, more than the margin {margin:.3f}"
        raise StopRun(msg)
    if behind := list(_behind(home, name)):
        msg = f"version {name} is not complete: {', '.join(behind[:5])}; run --version {name} first"
        raise StopRun(msg)
    _switch(Layout(Path(home)), layout)
    write_atomic(layout.root.parent / LAST, json.dumps({"name": name}).encode())


def rollback(home: str | Path) -> str:
    """Undoes the last promotion, at one moment; gives the name of the version.

    Raises:
        StopRun: nothing was promoted.
        LockHeld: a run is going on.
    """
    _on_disk(home)
    data = read_if_there(Path(home) / "versions" / LAST)
    if data is None:
        raise StopRun("nothing was promoted, so there is nothing to roll back")
    name = str(json.loads(data)["name"])
    _switch(Layout(Path(home)), _known(home, name))
    (Path(home) / "versions" / LAST).unlink()
    return name


def drop_version(home: str | Path, name: str) -> None:
    """Removes a version; its vectors go with the next pruning."""
    layout = _known(home, name)
    with _no_run(layout):
        remove_tree(layout.root)
    last = Path(home) / "versions" / LAST
    if (data := read_if_there(last)) and json.loads(data)["name"] == name:
        last.unlink()


def _switch(published: Layout, other: Layout) -> None:
    """Tables first, for the readers. State and settings follow: a kill in between costs hashing, no data.

    While a run is going on nothing is switched: what it publishes next would land in the other version.
    """
    with _no_run(published):
        switch(published, other)
        other.state.mkdir(parents=True, exist_ok=True)
        published.state.mkdir(parents=True, exist_ok=True)
        exchange(published.state, other.state)
        if (other.root / HOME_FILE).is_file():
            exchange(published.root / HOME_FILE, other.root / HOME_FILE)


def _no_run(layout: Layout) -> AbstractContextManager[None]:
    """Every run of a home shares this lock while it works on a batch of any version."""
    return share(layout.vectors_lock, f"home {layout.home}", alone=True)


def _behind(home: str | Path, name: str) -> Iterator[str]:
    """Batches that a version lacks, or has in another form than its settings and sources ask for."""
    session = Session(version_catalog(home, name), RunOptions(version=name))
    for batch in all_batches(session):
        if not session.peek(batch.source, batch.slice).is_complete:
            yield str(batch)


def _on_disk(home: str | Path) -> None:
    if (remote := remote_home(home)) is not None:
        remote.refuse_version("any")


def _known(home: str | Path, name: str) -> Layout:
    _on_disk(home)
    names = [layout.version for layout in layouts(Path(home)) if layout.version]
    if name not in names:
        raise unknown("version", name, names)
    return Layout(Path(home), name)


def _info(layout: Layout) -> VersionInfo:
    manifests = [m for b in published_batches(layout) if (m := load_manifest(layout, b)) is not None]
    return VersionInfo(
        layout.version,
        len(manifests),
        sum(manifest.files[RAW_DOCUMENTS].rows for manifest in manifests),
        sum(manifest.files[CHUNKS].rows for manifest in manifests),
        tuple(sorted({manifest.model_fingerprint for manifest in manifests})),
    )
