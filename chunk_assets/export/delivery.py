"""Tables → store: the exact difference, applied in blocks, then checked by count and samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.errors import ConfigurationError
from chunk_assets.export.base import ExportMismatch, ExportReport, Held, Store, blocks, weights_of
from chunk_assets.export.snapshot import SPARSE_CONTRACT, Snapshot
from chunk_assets.hashing import sha256_text

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_ROWS = 1_000
SAMPLES = 100
# Stores that normalise or store vectors in their own way keep this much of each number.
TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class Delta:
    """Ids to write with their digests, and ids to remove."""

    added: Mapping[str, str]
    changed: Mapping[str, str]
    removed: tuple[str, ...]
    unchanged: int


def difference(wanted: Mapping[str, str], held: Mapping[str, str]) -> Delta:
    """What turns ``held`` into ``wanted``, both ``{chunk_id: digest}``."""
    added = {key: digest for key, digest in wanted.items() if key not in held}
    changed = {key: digest for key, digest in wanted.items() if key in held and held[key] != digest}
    removed = tuple(sorted(key for key in held if key not in wanted))
    return Delta(added, changed, removed, len(wanted) - len(added) - len(changed))


@dataclass(frozen=True, slots=True)
class Order:
    """What to export, and how: see ``export`` for the fields."""

    to: str
    collection: str
    source: str | None
    recreate: bool = False
    dry_run: bool = False


def deliver(home: Path, store: Store, order: Order) -> ExportReport:
    """Makes ``store`` hold exactly the rows of ``home``; closes it."""
    with closing(store):
        snapshot = Snapshot(home, order.source)
        wanted, without_vector = snapshot.digests()
        held = _held(store, snapshot, order)
        delta = difference(wanted, {} if held is None else held)
        altered: list[str] = []
        if order.dry_run:
            there = {key: digest for key, digest in wanted.items() if (held or {}).get(key) == digest}
            sample = sample_of(there)
            sampled, altered = len(sample), differing(store, snapshot, sample)
        else:
            with store.writing():
                if held is None:
                    store.drop()
                    store.create(snapshot.contract, snapshot.schema)
                _apply(store, snapshot, delta)
            sampled = verify(store, snapshot, wanted, order.source)
        return ExportReport(
            to=order.to,
            collection=order.collection,
            added=len(delta.added),
            changed=len(delta.changed),
            removed=len(delta.removed),
            unchanged=delta.unchanged,
            total=len(wanted) if not order.dry_run else len(held or {}),
            without_vector=without_vector,
            sampled=sampled,
            altered=len(altered),
            applied=not order.dry_run,
        )


def _held(store: Store, snapshot: Snapshot, order: Order) -> dict[str, str] | None:
    """What the target holds; ``None`` when the collection must be made (anew)."""
    contract = store.contract()
    if contract is None or order.recreate:
        return None
    wanted = snapshot.contract
    names = [*wanted, *(name for name in SPARSE_CONTRACT if name not in wanted)]
    wrong = [name for name in names if contract.get(name) != wanted.get(name)]
    if wrong:
        name = wrong[0]
        raise ConfigurationError(
            f"the collection {order.collection!r} was made for {name} {contract.get(name)!r}, "
            f"the tables have {wanted.get(name)!r}; "
            "export to another collection, or recreate this one"
        )
    return store.digests(order.source)


def _apply(store: Store, snapshot: Snapshot, delta: Delta) -> None:
    """New and changed rows first, so that no reader misses a text while its chunks are renumbered."""
    for rows in snapshot.rows({**delta.added, **delta.changed}, BLOCK_ROWS):
        store.upsert(rows)
    for ids in blocks(delta.removed, BLOCK_ROWS):
        store.delete(ids)


def verify(store: Store, snapshot: Snapshot, wanted: Mapping[str, str], source: str | None) -> int:
    """How many sampled rows were compared; ``ExportMismatch`` when count, digest or vector differ."""
    count = store.count(source)
    if count != len(wanted):
        raise ExportMismatch(f"the target holds {count} rows after the export, the tables {len(wanted)}")
    sample = sample_of(wanted)
    wrong = differing(store, snapshot, sample)
    if wrong:
        raise ExportMismatch(
            f"{len(wrong)} of {len(sample)} sampled rows differ in the target, {wrong[0]} first; "
            "recreate the collection"
        )
    return len(sample)


def sample_of(wanted: Mapping[str, str]) -> dict[str, str]:
    """The same ``SAMPLES`` rows each time, by the hash of their ids."""
    return {key: wanted[key] for key in sorted(wanted, key=sha256_text)[:SAMPLES]}


def differing(store: Store, snapshot: Snapshot, sample: Mapping[str, str]) -> list[str]:
    """Ids of sampled rows whose digest or vectors in the target are not those of the tables."""
    if not sample:
        return []
    held = store.fetch(list(sample))
    wrong = [key for key in sample if key not in held or held[key].digest != sample[key]]
    return wrong + _wrong_vectors(snapshot.rows(sample, BLOCK_ROWS), held)


def _wrong_vectors(tables: Iterable[pa.Table], held: Mapping[str, Held]) -> list[str]:
    columns = ("chunk_id", "vector", "sparse")
    return [
        row["chunk_id"]
        for table in tables
        for row in table.select([name for name in columns if name in table.schema.names]).to_pylist()
        if row["chunk_id"] in held and not _alike(held[row["chunk_id"]], row)
    ]


def _alike(held: Held, row: Mapping[str, Any]) -> bool:
    """Whether both vectors of a row are in the target as they are in the table."""
    import numpy as np

    if not np.allclose(held.vector, row["vector"], rtol=0, atol=TOLERANCE):
        return False
    ours, theirs = weights_of(row.get("sparse")), held.sparse
    if ours is None or theirs is None:
        return ours is None and theirs is None
    return ours.keys() == theirs.keys() and all(
        abs(value - theirs[index]) <= TOLERANCE * max(1.0, abs(value)) for index, value in ours.items()
    )
