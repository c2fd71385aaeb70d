"""Chunk ids are the document's id and a running number from 0, in reading order, without gaps."""

from __future__ import annotations

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import by_document, count, examples
from chunk_assets.hashing import chunk_id, point_id
from chunk_assets.records import CHUNKS, Outcome

COLUMNS = ("chunk_index", "chunk_id", "point_id", "start_char", "page_start")


def run(batch: BatchTables) -> Outcome:
    """Ids that are not what their document and position make them, and starts that do not rise."""
    faults, total = [], 0
    for document_id, chunks in by_document(batch.tables.get(CHUNKS), *COLUMNS).items():
        total += len(chunks)
        before = -1
        for expected, (index, name, point, start, page) in enumerate(chunks):
            if (index, name) != (expected, chunk_id(document_id, expected)):
                faults.append((document_id, page, f"{name} (index {index}) stands at place {expected}"))
            elif point != point_id(name):
                faults.append((document_id, page, f"{name} has point id {point}"))
            elif start <= before:
                faults.append((document_id, page, f"{name} starts at {start}, not after {before}"))
            before = start
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{count(total, 'chunk id')}, {len(faults):,} wrong",
        counts={"chunks": total, "wrong": len(faults)},
        examples=examples(faults),
    )


CHECK = Check(
    "ids_unique_and_gapless",
    CHUNKS,
    ERROR,
    "Chunk ids run from 0 without gaps in reading order; point ids belong to them.",
    run,
    {CHUNKS: ("document_id", *COLUMNS)},
)
