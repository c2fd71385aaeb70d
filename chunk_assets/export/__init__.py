"""The shelf of vector stores. To add one: a file with an ``open_store``, and a line in the table."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from chunk_assets.errors import ConfigurationError, unknown
from chunk_assets.export.base import ExportMismatch, ExportReport, Held, Store
from chunk_assets.export.delivery import Order, deliver

# Name for ``--to`` → the module whose ``open_store(target, collection)`` opens it.
STORES: Mapping[str, str] = MappingProxyType(
    {
        "lancedb": "chunk_assets.export.lancedb_store",
        "qdrant": "chunk_assets.export.qdrant_store",
        "pgvector": "chunk_assets.export.pgvector_store",
        "duckdb": "chunk_assets.export.duckdb_store",
        "faiss": "chunk_assets.export.faiss_store",
        "parquet": "chunk_assets.export.parquet_store",
    }
)

__all__ = ["STORES", "ExportMismatch", "ExportReport", "Held", "Store", "export", "open_store"]


def open_store(to: str, target: str, collection: str = "chunks") -> Store:
    """The store called ``to`` at ``target`` (a path, URL or connection string; see each module).

    ``ConfigurationError`` for an unknown name, a bad collection name, or a missing library.
    """
    if to not in STORES:
        raise unknown("vector store", to, STORES)
    if not collection.isascii() or not collection.isidentifier() or collection != collection.lower():
        raise ConfigurationError(
            f"collection {collection!r} must be lower-case letters, digits and underscores, "
            "beginning with a letter"
        )
    try:
        store: Store = importlib.import_module(STORES[to]).open_store(target, collection)
    except ImportError as error:
        raise ConfigurationError(
            f"{to} needs a library that is not installed ({error.name}); "
            "install it with: pip install 'chunk-assets[stores]'"
        ) from error
    return store


def export(
    home: Path | str,
    to: str,
    target: str,
    *,
    source: str | None = None,
    collection: str = "chunks",
    recreate: bool = False,
    dry_run: bool = False,
) -> ExportReport:
    """Makes a vector store hold exactly the published chunks, by writing only what differs.

    Args:
        home: the folder with ``tables``.
        to: a name in ``STORES``.
        target: where the store is.
        source: only this source; rows of others in the same collection stay. ``None``: all.
        collection: name of the table, collection or index in the target.
        recreate: make the collection anew, as a change of the model needs.
        dry_run: compare only; the report says what would be done (``report.equal``: nothing).

    Raises:
        ConfigurationError: unknown store, missing library, no tables, or a collection made for
            another model.
        ExportMismatch: the check after writing found a difference.
    """
    order = Order(to, collection, source, recreate, dry_run)
    return deliver(Path(home), open_store(to, target, collection), order)
