"""Chunks too short to answer anything are a sign of a bad cut."""

from __future__ import annotations

from chunk_assets.checks.base import WARN, BatchTables, Check, verdict
from chunk_assets.checks.columns import by_document, count, examples
from chunk_assets.records import CHUNKS, Outcome


def run(batch: BatchTables) -> Outcome:
    """Chunks under the source's ``min_tokens`` in documents that have more than one chunk."""
    faults, total = [], 0
    for document_id, chunks in by_document(
        batch.tables.get(CHUNKS), "page_start", "chunk_id", "token_count"
    ).items():
        total += len(chunks)
        if len(chunks) > 1:
            faults += [
                (document_id, page, f"{chunk_id} has {tokens} tokens")
                for page, chunk_id, tokens in chunks
                if tokens < batch.min_tokens
            ]
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{len(faults):,} of {count(total, 'chunk')} under {batch.min_tokens} tokens",
        counts={"chunks": total, "under": len(faults), "limit": batch.min_tokens},
        examples=examples(faults),
    )


CHECK = Check(
    "token_minimum",
    CHUNKS,
    WARN,
    "No chunk of a longer document is under the source's min_tokens.",
    run,
    {CHUNKS: ("document_id", "page_start", "chunk_id", "token_count")},
)
