"""Removing what nothing names any more from a home in an object store, with no other run at work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from chunk_assets.catalog import load_catalog
from chunk_assets.catalog.origin import origin_of
from chunk_assets.errors import LockHeld
from chunk_assets.records import TABLES
from chunk_assets.storage.remote.home import LOCKS, PROBE, SWEEP_LOCK, RemoteHome
from chunk_assets.storage.remote.lease import Lease, is_live, owner_of
from chunk_assets.storage.remote.manifests import PREFIX, batch_of, parse_manifest
from chunk_assets.storage.remote.objects import ObjectStore, StoreUnavailable


@contextmanager
def tidied(folder: Path, *, dry_run: bool) -> Iterator[None]:
    """For a block that drops vectors of a home's folder: its object store follows, and loses its orphans.

    Nothing but the block happens for a home that is its own folder; a dry run removes nothing.

    Raises:
        LockHeld: a run is going on, on whatever machine.
        StoreUnavailable: a table is missing, so that nobody can tell which vectors are needed.
    """
    url = origin_of(folder)
    if not url:
        yield
        return
    home = RemoteHome(folder, url, load_catalog(folder).object_store)
    with alone(home):
        if faults := home.pull():
            raise StoreUnavailable(f"nothing is pruned: {'; '.join(faults.values())}")
        with ExitStack() as stack:
            for model in sorted(home.blocks.models()):
                stack.enter_context(home.blocks.rewriting(folder / "vectors" / model))
            yield
            if dry_run:
                stack.pop_all()
        if not dry_run:
            home.store.delete(orphans(home))


@contextmanager
def alone(home: RemoteHome) -> Iterator[None]:
    """Keeps all runs off a home for the block.

    This lock first, then a look at the others; a run takes its own lock first, then looks at this one. So
    one of the two sees the other, whoever is quicker.

    Raises:
        LockHeld: a run is going on.
    """
    lease = Lease(home.store, SWEEP_LOCK, f"home {home.url}", home.rules.lock_seconds)
    lease.acquire("prune", 0.0)
    try:
        _refuse_runs(home.store)
        lease.keep(lambda: None)
        yield
        lease.check()
    finally:
        lease.release()


def orphans(home: RemoteHome) -> dict[str, int]:
    """Table objects that no manifest names, and that are older than the grace time, with their sizes.

    Call it alone. Whole listings only: one that fails raises, and nothing is concluded from it.
    """
    store = home.store
    there = {key: found for table in TABLES for key, found in store.list(f"tables/{table}/").items()}
    named: set[str] = set()
    oldest = 0.0
    for key, answer in store.get_many(store.list(PREFIX)):
        if answer is None:
            continue
        manifest = parse_manifest(answer.data)
        oldest = answer.now - 60.0 * home.rules.grace_minutes
        named |= {name for _, name in manifest.objects(batch_of(key))}
        named |= {name for name, since in manifest.superseded.items() if since > oldest}
    return {key: f.size for key, f in there.items() if key not in named and f.modified <= oldest}


def _refuse_runs(store: ObjectStore) -> None:
    keys = [key for key in store.list(LOCKS) if key not in (SWEEP_LOCK, PROBE)]
    for key, lock in store.get_many(keys):
        if lock is not None and is_live(lock):
            name = key.removeprefix(LOCKS).removesuffix(".json")
            raise LockHeld(f"{name} is locked by {owner_of(lock)}; run again when it is done")
