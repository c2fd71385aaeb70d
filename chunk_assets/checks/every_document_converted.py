"""Promise 1: row counts add up from ``raw_documents`` to ``markdown_documents``."""

from __future__ import annotations

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, Outcome


def run(batch: BatchTables) -> Outcome:
    """The same documents, with the same content hash, in both tables."""
    raw = dict(rows(batch.tables.get(RAW_DOCUMENTS), "document_id", "document_sha256"))
    markdown = list(rows(batch.tables.get(MARKDOWN_DOCUMENTS), "document_id", "document_sha256"))
    converted = dict(markdown)
    faults = [(name, None, "no markdown row") for name in sorted(raw.keys() - converted.keys())]
    faults += [(name, None, "no raw row") for name in sorted(converted.keys() - raw.keys())]
    faults += [
        (name, None, "converted from other bytes than the listed ones")
        for name in sorted(raw.keys() & converted.keys())
        if raw[name] != converted[name]
    ]
    if len(markdown) != len(converted):
        faults.append(("", None, f"{len(markdown) - len(converted)} documents have two rows"))
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{count(len(raw), 'raw document')}, {len(markdown):,} markdown rows, "
        f"{len(faults):,} at odds",
        counts={"raw_documents": len(raw), "markdown_documents": len(markdown), "at_odds": len(faults)},
        examples=examples(faults),
    )


CHECK = Check(
    "every_document_converted",
    MARKDOWN_DOCUMENTS,
    ERROR,
    "Each raw document has exactly one markdown row, made from the same bytes.",
    run,
    dict.fromkeys((RAW_DOCUMENTS, MARKDOWN_DOCUMENTS), ("document_id", "document_sha256")),
)
