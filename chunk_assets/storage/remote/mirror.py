"""The working folder of a home in an object store: made to show what the store has.

Manifests, states and golden questions are small and always all there. Tables are fetched for what is to be
read: one batch before it is worked on, all of them before a command that reads tables. A table that is not
there is missing, never an old one under a new manifest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from chunk_assets.records import TABLES
from chunk_assets.sources.remote import SIDE_BY_SIDE
from chunk_assets.storage import staging
from chunk_assets.storage.commit import Manifest, damaged_tables, load_manifest, mirror
from chunk_assets.storage.files import exchange, link, read_if_there, remove, write_atomic
from chunk_assets.storage.layout import PART, Batch, Layout
from chunk_assets.storage.locks import hold, is_held
from chunk_assets.storage.remote.manifests import (
    PREFIX,
    RemoteManifest,
    batch_of,
    manifest_key,
    object_key,
    parse_manifest,
)
from chunk_assets.storage.remote.objects import Damaged, ObjectStore
from chunk_assets.storage.state import load_state

BOOKS = ".remote"
STATE = "state/"
SMALL = (PREFIX, STATE, "golden/")
# States are of batches and of their checks; other files there are caches of this machine.
OF_BATCHES = re.compile(r"state/(outcomes/)?source=[^/]+/slice=[^/]+\.json")
PATIENCE_SECONDS = 600.0


class Mirror:
    """The folder ``layout.home`` as an image of ``store``."""

    def __init__(self, store: ObjectStore, layout: Layout) -> None:
        self._store, self.layout = store, layout

    def manifest(self, batch: Batch) -> RemoteManifest | None:
        """What the store had of a batch when it was last asked."""
        data = read_if_there(self._book("manifests", f"{batch.hive}.json"))
        return parse_manifest(data) if data else None

    def refresh(self) -> bool:
        """Takes over every manifest, state and question that changed since the last time; whether any did.

        Raises:
            StoreUnavailable: the store can't be listed or read; nothing is concluded from half an answer.
        """
        listed = {
            key: found.token
            for prefix in SMALL
            for key, found in self._store.list(prefix).items()
            if not key.startswith(STATE) or OF_BATCHES.fullmatch(key)
        }
        with self._alone():
            changed = [key for key, token in listed.items() if self._token(key) != token]
            answers = {key: a for key, a in self._store.get_many(changed) if a is not None}
            gone = self._noted() - listed.keys()
            busy = {key for key in (*answers, *gone) if self._is_busy(key)}
            self._take({key: answer.data for key, answer in answers.items() if key not in busy})
            self._take(dict.fromkeys(gone - busy))
            for key in (answers.keys() | gone) - busy:
                self.note(key, answers[key].token if key in answers else None)
        return bool(answers or gone)

    def _take(self, objects: Mapping[str, bytes | None]) -> None:
        """Shows objects as they are now; ``None``: gone."""
        self.take_manifests({batch_of(key): data for key, data in objects.items() if key.startswith(PREFIX)})
        for key, data in objects.items():
            if key.startswith(PREFIX):
                continue
            if data is None:
                remove(self.layout.home / key)
            else:
                write_atomic(self.layout.home / key, data)

    def _is_busy(self, key: str) -> bool:
        """Whether a run of this machine works on the batch; it looks at the manifest by itself."""
        return key.startswith(PREFIX) and is_held(self.layout.batch_lock(batch_of(key)))

    def take_manifests(self, manifests: Mapping[Batch, bytes | None]) -> None:
        """Shows versions of batches: their manifests, and no table that is not of them."""
        changes: dict[Batch, tuple[Manifest | None, list[str]]] = {}
        for batch, data in manifests.items():
            book = self._book("manifests", f"{batch.hive}.json")
            if data is None:
                book.unlink(missing_ok=True)
            else:
                write_atomic(book, data)
            now, before = parse_manifest(data).local if data else None, load_manifest(self.layout, batch)
            if now != before or (now is None and self._has_any(batch)):
                changes[batch] = (
                    now,
                    [t for t in TABLES if now is None or _facts(now, t) != _facts(before, t)],
                )
        if changes:
            with self._changing() as tree:
                for batch, (now, stale) in changes.items():
                    _place(self.layout, tree, batch, now, stale)
        for batch in changes:  # what was staged was made from tables that are not the published ones
            staging.clear(self.layout, batch, TABLES)

    def missing(self, batch: Batch) -> dict[str, str]:
        """The tables of a batch that are not here, with their SHA-256."""
        manifest = self.manifest(batch)
        return {
            table: facts.sha256
            for table, facts in (manifest.files.items() if manifest else ())
            if not self.layout.table_file(table, batch).exists()
        }

    def fetch(self, batches: Iterable[Batch]) -> dict[tuple[Batch, str], str]:
        """Fetches tables that are missing; gives those that can't be had, with what is wrong."""
        wanted = {(b, table): sha256 for b in batches for table, sha256 in self.missing(b).items()}
        paths = {item: self._book("incoming", _incoming(*item, sha256)) for item, sha256 in wanted.items()}
        with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            told = threads.map(lambda item: self._download(item, wanted[item], paths[item]), wanted)
            faults = {item: fault for item, fault in zip(wanted, told, strict=True) if fault}
        if arrived := {item: path for item, path in paths.items() if item not in faults}:
            self._show(arrived)
        return faults

    def note_manifest(self, batch: Batch, manifest: RemoteManifest, token: str | None) -> None:
        """Remembers a version that this machine put, once the folder shows it."""
        if load_manifest(self.layout, batch) == manifest.local:
            write_atomic(self._book("manifests", f"{batch.hive}.json"), manifest.to_bytes(batch))
            self.note(manifest_key(batch), token)

    def shows(self, key: str) -> bool:
        """Whether the folder shows some version of an object."""
        return bool(self._token(key))

    def note(self, key: str, token: str | None) -> None:
        """Remembers which version of an object the folder shows; ``None``: it shows none."""
        path = self._book("seen", key)
        if token is None:
            path.unlink(missing_ok=True)
        else:
            write_atomic(path, token.encode())

    def _show(self, arrived: Mapping[tuple[Batch, str], Path]) -> None:
        """Puts fetched tables in place, all at one moment, unless their manifest has changed since."""
        with self._changing() as tree:
            for (batch, table), path in arrived.items():
                now = _facts(load_manifest(self.layout, batch), table)
                if now and path.name.endswith(now):
                    link(path, tree / table / batch.hive / PART)
        for path in arrived.values():
            path.unlink(missing_ok=True)

    @contextmanager
    def _changing(self) -> Iterator[Path]:
        """A tree to change; readers of the folder see all of it at one moment."""
        layout = self.layout
        with hold(layout.publish_lock, "publishing", wait=PATIENCE_SECONDS):
            layout.tables.mkdir(parents=True, exist_ok=True)
            mirror(layout.tables, layout.back)
            yield layout.back
            if not exchange(layout.tables, layout.back):
                mirror(layout.back, layout.tables)
            mirror(layout.tables, layout.back)

    def _download(self, item: tuple[Batch, str], sha256: str, path: Path) -> str:
        batch, table = item
        key = object_key(table, batch, sha256)
        try:
            return "" if self._store.download(key, path, sha256) else f"{self._store.uri(key)} is gone"
        except Damaged as error:
            return str(error)

    def _has_any(self, batch: Batch) -> bool:
        return any(self.layout.table_file(table, batch).exists() for table in TABLES)

    def drop_altered(self, batch: Batch) -> None:
        """Removes tables of the folder that are not what the manifest says, so that they are fetched."""
        stamps = load_state(self.layout.state_file(batch)).stamps
        altered = damaged_tables(self.layout, batch, load_manifest(self.layout, batch), stamps)
        for table in altered:
            if self.layout.table_file(table, batch).exists():
                with self._changing() as tree:
                    remove(tree / table / batch.hive / PART)

    def _token(self, key: str) -> str:
        return (read_if_there(self._book("seen", key)) or b"").decode()

    def _noted(self) -> set[str]:
        folder = self._book("seen", "")
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}

    def _alone(self) -> AbstractContextManager[None]:
        return hold(self.layout.home / BOOKS / "refresh.lock", "the working folder", wait=PATIENCE_SECONDS)

    def _book(self, kind: str, name: str) -> Path:
        return self.layout.home / BOOKS / kind / name


def _incoming(batch: Batch, table: str, sha256: str) -> str:
    return f"{batch.hive}/{os.getpid()}-{table}-{sha256}"


def _facts(manifest: Manifest | None, table: str) -> str:
    facts = manifest.files.get(table) if manifest else None
    return facts.sha256 if facts else ""


def _place(layout: Layout, tree: Path, batch: Batch, manifest: Manifest | None, stale: Iterable[str]) -> None:
    for table in stale:
        remove(tree / table / batch.hive / PART)
    path = tree / layout.manifest_file(batch).relative_to(layout.tables)
    if manifest is None:
        remove(path)
    else:
        write_atomic(path, manifest.to_bytes())
