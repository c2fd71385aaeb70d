"""Dropping vectors that no published version refers to, so that disk use follows the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.errors import LockHeld
from chunk_assets.records import EMBEDDINGS
from chunk_assets.storage.commit import load_manifest, published_batches
from chunk_assets.storage.layout import Layout, layouts
from chunk_assets.storage.locks import share
from chunk_assets.storage.remote.sweep import tidied
from chunk_assets.storage.schemas import sparse_model_of
from chunk_assets.storage.tables import read_table
from chunk_assets.storage.vector_blocks import blocks_of
from chunk_assets.storage.vectors import Pruned, VectorStore, remove_store, stores_of

if TYPE_CHECKING:
    from chunk_assets.pipeline.session import Session

# A run prunes by itself once unreferenced vectors outnumber the referenced ones, and are worth it.
WORTH_PRUNING = 256


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What pruning dropped, by model fingerprint."""

    models: Mapping[str, Pruned]

    @property
    def dropped(self) -> int:
        """Vectors of all models."""
        return sum(pruned.dropped for pruned in self.models.values())

    @property
    def bytes_freed(self) -> int:
        """Bytes of all models."""
        return sum(pruned.bytes_freed for pruned in self.models.values())


def prune(home: str | Path, *, dry_run: bool = False) -> PruneReport:
    """Drops vectors that no published batch of any version refers to; a dry run only says how many.

    Raises:
        LockHeld: a run is going on; its unpublished vectors would be lost.
    """
    layout = Layout(Path(home))
    with share(layout.vectors_lock, "the vector store", alone=True), tidied(layout.home, dry_run=dry_run):
        referenced = _referenced(layouts(layout.home))
        folders = stores_of(layout.home)
        return PruneReport({f.name: _prune(f, referenced.get(f.name, set()), dry_run) for f in folders})


def prune_when_worth_it(home: Path) -> PruneReport | None:
    """Prunes when most vectors are unreferenced; ``None`` when not, or while another run is going on."""
    stored = sum(block.count for folder in stores_of(home) for block in blocks_of(folder, None))
    if stored < WORTH_PRUNING:
        return None
    rows = sum(
        manifest.files[EMBEDDINGS].rows * (2 if _sparse_model(layout.table_file(EMBEDDINGS, batch)) else 1)
        for layout in layouts(home)
        for batch in published_batches(layout)
        if (manifest := load_manifest(layout, batch)) is not None and EMBEDDINGS in manifest.files
    )
    if stored <= 2 * rows + WORTH_PRUNING:
        return None
    try:
        return prune(home)
    except LockHeld:
        return None


def merge_blocks(session: Session) -> None:
    """Merges small vector blocks once there are many."""
    for fingerprint, store in session.stores.items():
        store.flush()
        folder = session.layout.vectors(fingerprint)
        with session.rewriting(folder):
            VectorStore(folder, store.width).compact()


def tidy(session: Session) -> None:
    """At the end of a run: drops old vectors once they are most. Before, a later batch might want them."""
    # Elsewhere than on a disk it needs all tables, and no other machine at work: see prune.
    if session.stores and session.remote is None:
        prune_when_worth_it(session.layout.home)


def _referenced(all_layouts: Iterable[Layout]) -> dict[str, set[bytes]]:
    """Keys in use by model fingerprint."""
    found: dict[str, set[bytes]] = {}
    for layout in all_layouts:
        for batch in published_batches(layout):
            manifest = load_manifest(layout, batch)
            rows = read_table(layout.table_file(EMBEDDINGS, batch), ["input_sha256"])
            if manifest is not None and rows is not None:
                keys = set(map(bytes.fromhex, rows["input_sha256"].to_pylist()))
                found.setdefault(manifest.model_fingerprint, set()).update(keys)
                if sparse := sparse_model_of(rows.schema):
                    found.setdefault(sparse, set()).update(keys)
    return found


def _sparse_model(path: Path) -> str:
    import pyarrow.parquet as pq

    return sparse_model_of(pq.read_schema(path)) if path.is_file() else ""


def _prune(folder: Path, referenced: set[bytes], dry_run: bool) -> Pruned:
    width = next((block.width for block in blocks_of(folder, None)), 1)
    pruned = VectorStore(folder, width).prune(referenced, dry_run=dry_run)
    if not pruned.kept and not dry_run:
        remove_store(folder)
    return pruned
