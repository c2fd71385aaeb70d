"""A home in an object store: what a run does there beside its work in the working folder (ADR 0012)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from chunk_assets.catalog import ObjectStoreRules
from chunk_assets.errors import ConfigurationError, LockHeld, StopRun
from chunk_assets.storage.commit import Manifest, published_batches
from chunk_assets.storage.files import read_if_there
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.remote.blocks import Blocks
from chunk_assets.storage.remote.conditional import Answer, Conflict
from chunk_assets.storage.remote.lease import Lease, is_live, owner_of, refuse_careless_store
from chunk_assets.storage.remote.manifests import (
    RemoteManifest,
    manifest_key,
    object_key,
    parse_manifest,
)
from chunk_assets.storage.remote.mirror import BOOKS, Mirror
from chunk_assets.storage.remote.objects import ObjectStore, StoreUnavailable

LOCKS = "locks/"
# Held alone by whoever removes objects that no manifest names.
SWEEP_LOCK = f"{LOCKS}sweep.json"
PROBE = f"{LOCKS}probe.json"
FRESH_SECONDS = 5.0


@dataclass(slots=True)
class Held:
    """A batch that is being worked on: its lock, and the manifest that the work starts from.

    ``absent`` are keys of objects that the manifest names and the store can't give.
    """

    lease: Lease
    manifest: RemoteManifest
    token: str | None
    absent: frozenset[str] = frozenset()


@dataclass
class RemoteHome:
    """The object store behind one working folder."""

    home: Path
    url: str
    rules: ObjectStoreRules = field(default_factory=ObjectStoreRules)
    # Whether every table that the store can give was in the folder at the last look.
    complete: bool = False
    looked: float = float("-inf")
    held: dict[Batch, Held] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.layout = Layout(self.home)
        self.store = ObjectStore(self.url)
        self.mirror = Mirror(self.store, self.layout)
        self.blocks = Blocks(self.store, self.home)
        self.nonce = secrets.token_hex(8)

    def refresh(self) -> None:
        """Learns what is published; who asked a moment ago does not ask again."""
        if time.monotonic() - self.looked < FRESH_SECONDS:
            return
        if self.mirror.refresh():
            self.complete = False
        self.looked = time.monotonic()

    def pull(self) -> dict[tuple[Batch, str], str]:
        """All tables, for commands that read them; those that can't be had, with the reason."""
        self.mirror.refresh()
        faults = self.mirror.fetch(published_batches(self.layout))
        self.looked, self.complete = time.monotonic(), True
        return faults

    def uris(self, table: str) -> list[str]:
        """The URLs of a table's objects, as of the last look."""
        manifests = ((batch, self.mirror.manifest(batch)) for batch in published_batches(self.layout))
        return [
            self.store.uri(key)
            for batch, manifest in manifests
            for name, key in (manifest.objects(batch) if manifest else ())
            if name == table
        ]

    def is_elsewhere(self, batch: Batch) -> bool:
        """Whether a table that is missing in the folder is only not fetched: nobody works on it here."""
        return not self.complete and batch not in self.held

    def is_locked(self, batch: Batch) -> bool:
        """Whether some run, here or elsewhere, holds a batch."""
        lock = self.store.get(f"{LOCKS}{batch.hive}.json")
        return lock is not None and is_live(lock)

    def refuse_version(self, name: str) -> None:
        """Versions side by side are folders that are exchanged; an object store has none.

        Raises:
            ConfigurationError: always, but for the published one (an empty name).
        """
        if name:
            msg = (
                f"home {self.url}: versions beside the published one need a home on a disk; build the other "
                "settings in a home under a prefix of its own, and let readers change over to it"
            )
            raise ConfigurationError(msg)

    def try_out(self) -> None:
        """Writes to the store, and sees that it keeps its conditions."""
        refuse_careless_store(self.store, PROBE)

    @contextmanager
    def batch(self, batch: Batch, *, owner: str, wait: float) -> Iterator[None]:
        """Locks a batch in the store, and brings its tables into the working folder.

        A lock that is taken over from a holder that seems dead gives the manifest a new generation first:
        what that holder read of it is then old, so it can't publish any more, whatever it believes.

        Raises:
            LockHeld: another run works on it; names host, process and since when.
            StoreUnavailable: the store does not answer.
            ConfigurationError: the store can't keep two writers apart.
        """
        self._probe()
        lease = Lease(self.store, f"{LOCKS}{batch.hive}.json", f"batch {batch}", self.rules.lock_seconds)
        lease.acquire(owner, wait)
        try:
            self._refuse_sweep()
            lease.keep(self.blocks.push_quietly)
            self.held[batch] = self._check_out(batch, lease)
            try:
                yield
            finally:
                self._save(batch, self.held.pop(batch))
        finally:
            lease.release()

    def commit(self, batch: Batch, files: Mapping[str, Path], manifest: Manifest | None) -> None:
        """Makes ``files`` (those that changed) and the manifest the published ones, for everybody.

        Raises:
            LockHeld: the lock was lost, or somebody else has published: nothing is published by this call.
            StoreUnavailable: the store does not answer; unless the answer to the very last request got
                lost, nothing is published.
        """
        held = self.held[batch]
        self.blocks.push()
        there = {key for _, key in held.manifest.objects(batch)} - held.absent
        for table, facts in (manifest.files if manifest else {}).items():
            key = object_key(table, batch, facts.sha256)
            if key not in there:
                self.store.upload(files.get(table) or self.layout.table_file(table, batch), key)
        held.lease.check()
        # As it is now: not yet saying that this version is there.
        self._put_state(batch)
        self.mirror.note(manifest_key(batch), None)
        made = held.manifest.next(batch, manifest, self.nonce, self.store.now)
        made, expired = self._expire(made)
        self._put_manifest(batch, held, made)
        with suppress(StopRun):  # what stays is found by prune
            self.store.delete(expired)

    def _put_manifest(self, batch: Batch, held: Held, made: RemoteManifest) -> None:
        data = made.to_bytes(batch)
        try:
            held.token = self.store.put_if(manifest_key(batch), data, held.token)
        except Conflict as error:
            msg = f"batch {batch} was published by another run meanwhile; nothing of this run is published"
            raise LockHeld(msg) from error
        held.manifest, held.absent = made, frozenset()

    def _expire(self, made: RemoteManifest) -> tuple[RemoteManifest, list[str]]:
        oldest = self.store.now - 60.0 * self.rules.grace_minutes
        expired = [key for key, since in made.superseded.items() if since <= oldest]
        return made.without(expired), expired

    def _check_out(self, batch: Batch, lease: Lease) -> Held:
        answer = self.store.get(manifest_key(batch))
        held = _held(lease, answer)
        self.mirror.take_manifests({batch: answer.data if answer else None})
        self.mirror.note(manifest_key(batch), answer.token if answer else None)
        if lease.taken_over:
            made = held.manifest.next(batch, held.manifest.local, self.nonce, self.store.now)
            self._put_manifest(batch, held, made)
        self.mirror.drop_altered(batch)
        faults = self.mirror.fetch([batch])
        facts = held.manifest.files
        held.absent = frozenset(object_key(t, batch, facts[t].sha256) for _, t in faults)
        return held

    def _save(self, batch: Batch, held: Held) -> None:
        """Puts what is remembered of a batch beside its tables, and the vectors that were made."""
        self.mirror.note_manifest(batch, held.manifest, held.token)
        with suppress(StopRun):  # all of it is worth less than the reason why the run ended
            self.blocks.push()
            if not held.lease.lost:
                self._put_state(batch)

    def _put_state(self, batch: Batch) -> None:
        for path in (self.layout.state_file(batch), self.layout.state / "outcomes" / f"{batch.hive}.json"):
            key = path.relative_to(self.home).as_posix()
            data = read_if_there(path)
            if data is not None:
                self.mirror.note(key, self.store.put(key, data))
            elif self.mirror.shows(key):
                self.store.delete([key])
                self.mirror.note(key, None)

    def _probe(self) -> None:
        """Refuses a store that can't keep two writers apart; once for each working folder."""
        passed = self.home / BOOKS / "probed"
        if self.rules.single_writer or passed.exists():
            return
        refuse_careless_store(self.store, PROBE)
        passed.parent.mkdir(parents=True, exist_ok=True)
        passed.touch()

    def _refuse_sweep(self) -> None:
        lock = self.store.get(SWEEP_LOCK)
        if lock is not None and is_live(lock):
            raise LockHeld(f"{self.url} is being pruned by {owner_of(lock)}; run again when it is done")


def _held(lease: Lease, answer: Answer | None) -> Held:
    if answer is None:
        return Held(lease, RemoteManifest(0), None)
    try:
        return Held(lease, parse_manifest(answer.data), answer.token)
    except ValueError as error:
        raise StoreUnavailable(f"the manifest can't be read: {error}") from error
