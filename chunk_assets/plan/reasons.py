"""Why a document is touched: what differs between its published rows and those of the rehearsal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.sparse import published_sparse_model
from chunk_assets.pipeline.stages import staged_rows
from chunk_assets.records import CHUNKS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS
from chunk_assets.storage.tables import read_table


def reasons_of(context: BatchContext, embeds: bool) -> dict[str, str]:
    """Why each touched document is touched."""
    before, after = _facts(context, published=True), _facts(context, published=False)
    manifest = context.manifest
    model = manifest is not None and manifest.model_fingerprint != context.recipe.model_fingerprint
    sparse = manifest is not None and published_sparse_model(context) != context.recipe.sparse_fingerprint
    found = dict.fromkeys(sorted(before.keys() - after.keys()), "deleted")
    for name, now in after.items():
        reason = _reason(before.get(name), now, context.damaged)
        if not reason and (sparse or (model and embeds)) and now["chunks"]:
            reason = "model_changed"
        if reason:
            found[name] = reason
    return found


def _reason(before: dict[str, Any] | None, now: dict[str, Any], damaged: Mapping[str, str]) -> str:
    if before is None:
        return "table_damaged" if RAW_DOCUMENTS in damaged else "new"
    if before["sha256"] != now["sha256"]:
        return "changed"
    if damaged:
        return "table_damaged"
    if before["converted"] != now["converted"]:
        return "converter_changed" if before["status"] == "ok" else "failed_before"
    if now["retried"]:
        return "failed_before"
    if before["chunks"] != now["chunks"]:
        return "policy_changed"
    if before["metadata"] != now["metadata"]:
        return "metadata_changed"
    return ""


def _facts(context: BatchContext, *, published: bool) -> dict[str, dict[str, Any]]:
    """What distinguishes one version of a document from the next."""
    facts: dict[str, dict[str, Any]] = {}
    for row in rows_of(context, RAW_DOCUMENTS, None, published):
        ignored = ("status", "reason", "attempts", "size_bytes", "document_sha256", "media_type")
        metadata = {name: value for name, value in row.items() if name not in ignored}
        facts[row["document_id"]] = {
            "sha256": row["document_sha256"],
            "status": row["status"],
            "metadata": metadata,
            "converted": "",
            "chunks": "",
            "retried": False,
        }
    for row in rows_of(context, MARKDOWN_DOCUMENTS, ("document_id", "fingerprint"), published):
        facts.get(row["document_id"], {})["converted"] = row["fingerprint"]
    for row in rows_of(context, CHUNKS, ("document_id", "fingerprint"), published):
        facts.get(row["document_id"], {})["chunks"] = row["fingerprint"]
    due = {name for name in context.state.attempts if not published}
    for name in due & facts.keys():
        facts[name]["retried"] = True
    return facts


def rows_of(
    context: BatchContext, table: str, columns: tuple[str, ...] | None, published: bool
) -> list[dict[str, Any]]:
    """Rows of the published table, or of the rehearsal."""
    path = context.published_file(table)
    before = read_table(path, columns) if path is not None and published else None
    rows = before if published else staged_rows(context, table, columns)
    return rows.to_pylist() if rows is not None else []
