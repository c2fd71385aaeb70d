"""Looking at a home without changing it: its batches, their documents, and versions of the code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from chunk_assets.hashing import fingerprint
from chunk_assets.pipeline.recipe import SCHEMA_VERSION, code_fingerprints
from chunk_assets.pipeline.reports import FailedDocument
from chunk_assets.pipeline.session import Session
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, OK, RAW_DOCUMENTS
from chunk_assets.storage.commit import load_manifest
from chunk_assets.storage.layout import Batch
from chunk_assets.storage.tables import read_table

COLUMNS = ("document_id", "relative_path", "status", "reason", "attempts")


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A batch as it is published: documents by status, chunks, and what is not whole."""

    batch: Batch
    documents: Mapping[str, int] = field(default_factory=dict)
    chunks: int = 0
    embeddings: int = 0
    failures: tuple[FailedDocument, ...] = ()


def batch_status(session: Session, batch: Batch) -> BatchStatus:
    """The published state of one batch; an empty one when nothing is published."""
    manifest = load_manifest(session.layout, batch)
    if manifest is None:
        return BatchStatus(batch)
    table = read_table(session.layout.table_file(RAW_DOCUMENTS, batch), COLUMNS)
    rows = table.to_pylist() if table is not None else []
    failures = tuple(
        FailedDocument(r["document_id"], r["relative_path"], r["status"], r["reason"], r["attempts"])
        for r in rows
        if r["status"] != OK
    )
    return BatchStatus(
        batch,
        dict(Counter(row["status"] for row in rows)),
        manifest.files[CHUNKS].rows if CHUNKS in manifest.files else 0,
        manifest.files[EMBEDDINGS].rows if EMBEDDINGS in manifest.files else 0,
        failures,
    )


def code_versions(session: Session, source: str) -> dict[str, str]:
    """The version of each table's code and settings: a change marks the asset unsynced in the UI."""
    prints = code_fingerprints(session.catalog, source, session.recipe(source), session.options.mode)
    return {
        RAW_DOCUMENTS: fingerprint({"schema": SCHEMA_VERSION}),
        MARKDOWN_DOCUMENTS: prints["convert"],
        CHUNKS: prints["chunk"],
        EMBEDDINGS: prints["embed"],
    }
