"""Each chunk carries the metadata and tags of its document."""

from __future__ import annotations

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import CHUNKS, PAYLOAD_FIELDS, RAW_DOCUMENTS, Outcome

FIELDS = (*PAYLOAD_FIELDS, "tags", "metadata")


def run(batch: BatchTables) -> Outcome:
    """Chunks whose payload differs from their document's; ``section`` may come from the headings."""
    documents = {
        row[0]: dict(zip(FIELDS, row[1:], strict=True))
        for row in rows(batch.tables.get(RAW_DOCUMENTS), "document_id", *FIELDS)
    }
    faults, total = [], 0
    for document_id, name, page, *payload in rows(
        batch.tables.get(CHUNKS), "document_id", "chunk_id", "page_start", *FIELDS
    ):
        total += 1
        wrong = _wrong(documents.get(document_id), dict(zip(FIELDS, payload, strict=True)))
        if wrong:
            faults.append((document_id, page, f"{name}: {wrong}"))
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{count(total, 'chunk')}, {len(faults):,} with another payload than their document",
        counts={"chunks": total, "wrong": len(faults)},
        examples=examples(faults),
    )


def _wrong(document: dict[str, object] | None, payload: dict[str, object]) -> str:
    if document is None:
        return "its document has no raw row"
    differing = [
        field
        for field in FIELDS
        if document[field] != payload[field] and not (field == "section" and document[field] is None)
    ]
    return f"{', '.join(differing)} differ" if differing else ""


CHECK = Check(
    "payload_inherited",
    CHUNKS,
    ERROR,
    "Each chunk carries the payload, tags and metadata of its document.",
    run,
    {RAW_DOCUMENTS: ("document_id", *FIELDS), CHUNKS: ("document_id", "chunk_id", "page_start", *FIELDS)},
)
