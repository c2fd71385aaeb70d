"""Publishing a batch: its four files change for every reader at one moment (ADR 0006).

Beside ``tables`` lies a second tree of links to the same files. The new files of a batch go into that
tree, then the two folders are exchanged by one system call. Whenever a process dies, ``tables`` is
either the old or the new version. Where folders can't be exchanged, files are replaced one by one in an
order in which every chunk always has its vector.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from chunk_assets.hashing import sha256_bytes
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, TABLES
from chunk_assets.storage.files import (
    TEMPORARY,
    exchange,
    link,
    read_if_there,
    remove,
    remove_tree,
    write_atomic,
    writing,
)
from chunk_assets.storage.layout import PART, Batch, Layout
from chunk_assets.storage.locks import hold
from chunk_assets.storage.tables import FileFacts, hash_file

PUBLISH_WAIT = 120.0
MISSING = "the file is missing"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is published of a batch. Content only: equal tables have equal manifests."""

    files: Mapping[str, FileFacts]
    recipe: str = ""
    model_fingerprint: str = ""

    def to_bytes(self) -> bytes:
        """JSON with sorted keys."""
        return json.dumps(asdict(self), sort_keys=True, indent=1).encode()

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest: names one version of a batch."""
        return sha256_bytes(self.to_bytes())


def load_manifest(layout: Layout, batch: Batch) -> Manifest | None:
    """The manifest of the published version of a batch; ``None`` when there is none that can be read."""
    data = read_if_there(layout.manifest_file(batch))
    try:
        value = json.loads(data or b"")
        files = {name: FileFacts(**facts) for name, facts in value.pop("files").items()}
        return Manifest(files, **value)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def damaged_tables(
    layout: Layout, batch: Batch, manifest: Manifest | None, stamps: Mapping[str, tuple[int, int]]
) -> dict[str, str]:
    """Tables whose published file is not what the manifest says: missing, altered or without a manifest.

    A file with the size and time of ``stamps`` is taken for unaltered; others are hashed.
    """
    found: dict[str, str] = {}
    for table in TABLES:
        path = layout.table_file(table, batch)
        expected = manifest.files.get(table) if manifest else None
        if fault := _fault(path, expected, stamps.get(table)):
            found[table] = fault
    return found


def _fault(path: Path, expected: FileFacts | None, stamp: tuple[int, int] | None) -> str:
    now = stamp_of(path)
    if expected is None:
        return "the file is in no manifest" if now else ""
    if now is None:
        return MISSING
    if now == stamp:
        return ""
    sha256, size = hash_file(path)
    if sha256 == expected.sha256:
        return ""
    return f"the file was altered: {size} bytes, SHA-256 {sha256[:12]}, published {expected.sha256[:12]}"


def stamp_of(path: Path) -> tuple[int, int] | None:
    """Size and modification time (ns) of a file; ``None`` when it is not there."""
    try:
        facts = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return facts.st_size, facts.st_mtime_ns


def published_batches(layout: Layout) -> list[Batch]:
    """Every batch that has a manifest or a table file, in order."""
    found = {_batch_of(path.parent) for table in TABLES for path in layout.tables.glob(f"{table}/*/*/{PART}")}
    for path in layout.tables.glob("_manifest/*/*.json"):
        found.add(_batch_of(path.with_suffix("")))
    return sorted(found)


def _batch_of(folder: Path) -> Batch:
    return Batch(folder.parent.name.removeprefix("source="), folder.name.removeprefix("slice="))


def publish_files(
    layout: Layout, batch: Batch, staged: Mapping[str, Path], manifest: Manifest | None
) -> None:
    """Makes ``staged`` files (those that changed) and the manifest the published ones.

    Without a manifest the batch is withdrawn: all its files go. Staged files stay where they are.

    Raises:
        LockHeld: another process has been publishing for minutes.
        StopRun: the disk is full or read-only; the published tables are unchanged.
    """
    with hold(layout.publish_lock, "publishing", wait=PUBLISH_WAIT):
        with writing(layout.tables):
            layout.tables.mkdir(parents=True, exist_ok=True)
            for path in staged.values():
                _flush_to_disk(path)
        mirror(layout.tables, layout.back)
        _place(layout, layout.back, batch, staged, manifest)
        if exchange(layout.tables, layout.back):
            _mirror_batch(layout, batch)
        else:
            _place(layout, layout.tables, batch, staged, manifest)


def _place(
    layout: Layout, tree: Path, batch: Batch, staged: Mapping[str, Path], manifest: Manifest | None
) -> None:
    """Puts a batch into a tree: additions from the vectors up, removals from the documents' chunks down."""
    manifest_file = tree / layout.manifest_file(batch).relative_to(layout.tables)
    if manifest is None:
        for table in (CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS):
            remove(tree / table / batch.hive / PART)
        remove(manifest_file)
        return
    for table in (RAW_DOCUMENTS, MARKDOWN_DOCUMENTS, EMBEDDINGS, CHUNKS):
        if table in staged:
            link(staged[table], tree / table / batch.hive / PART)
    write_atomic(manifest_file, manifest.to_bytes())


def mirror(front: Path, back: Path) -> None:
    """Makes ``back`` a tree of links to exactly the files of ``front``."""
    with writing(back):
        back.mkdir(parents=True, exist_ok=True)
    ours, theirs = dict(_files(front)), dict(_files(back))
    for name in theirs.keys() - ours.keys():
        remove(back / name)
    for name, inode in sorted(ours.items()):
        if theirs.get(name) != inode:
            link(front / name, back / name)


def _mirror_batch(layout: Layout, batch: Batch) -> None:
    """Brings the tree that was exchanged away up to date, so that nothing deleted stays in it."""
    names = [f"{table}/{batch.hive}/{PART}" for table in TABLES] + [f"_manifest/{batch.hive}.json"]
    for name in names:
        if (layout.tables / name).exists():
            link(layout.tables / name, layout.back / name)
        else:
            remove(layout.back / name)


def _files(tree: Path) -> Iterator[tuple[str, int]]:
    """Relative name and inode of every file below a folder."""
    folders = [str(tree)]
    start = len(str(tree)) + 1
    while folders:
        with os.scandir(folders.pop()) as items:
            for item in items:
                if item.is_dir(follow_symlinks=False):
                    folders.append(item.path)
                elif not item.name.startswith(TEMPORARY):
                    yield item.path[start:], item.inode()


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def snapshot(layout: Layout, folder: Path) -> Iterator[Path]:
    """A folder of links to all published files as of now: for readers that need tables to agree for long.

    ``folder`` (new, on the same file system) stays as it is whatever is published, and goes at the end.
    """
    with hold(layout.publish_lock, "publishing", wait=PUBLISH_WAIT):
        mirror(layout.tables, folder)
    try:
        yield folder
    finally:
        remove_tree(folder)


def switch(layout: Layout, other: Layout) -> None:
    """Exchanges the tables of two versions at one moment; writes no table (promotion and rollback).

    Raises:
        StopRun: this file system can't exchange folders.
    """
    from chunk_assets.errors import StopRun

    with (
        hold(layout.publish_lock, "publishing", wait=PUBLISH_WAIT),
        hold(other.publish_lock, "publishing", wait=PUBLISH_WAIT),
    ):
        remove_tree(layout.back)
        remove_tree(other.back)
        if not exchange(layout.tables, other.tables):
            msg = f"{layout.tables.parent} is on a file system that can't exchange two folders at one moment"
            raise StopRun(msg)
