"""Promises 1 and 4: every non-blank character is in a chunk, and every chunk is its slice of the text."""

from __future__ import annotations

import re

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import by_document, count, examples, rows
from chunk_assets.records import CHUNKS, MARKDOWN_DOCUMENTS, Outcome

NON_BLANK = re.compile(r"\S")
COLUMNS = ("start_char", "end_char", "text", "page_start")


def run(batch: BatchTables) -> Outcome:
    """Slices that differ from the text, and text between chunks that is not blank."""
    chunks = by_document(batch.tables.get(CHUNKS), *COLUMNS)
    faults, characters = [], 0
    for document_id, markdown in rows(batch.tables.get(MARKDOWN_DOCUMENTS), "document_id", "markdown"):
        characters += len(markdown or "")
        faults += [
            (document_id, page, what) for page, what in _faults(markdown or "", chunks.pop(document_id, []))
        ]
    faults += [
        (document_id, None, "chunks of a document that has no markdown row") for document_id in sorted(chunks)
    ]
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{count(characters, 'character')} of text, {len(faults):,} gaps or slices at odds with it",
        counts={"characters": characters, "faults": len(faults)},
        examples=examples(faults),
    )


def _faults(markdown: str, chunks: list[tuple[int, int, str, int | None]]) -> list[tuple[int | None, str]]:
    faults: list[tuple[int | None, str]] = []
    reached = 0
    for start, end, text, page in sorted(chunks):
        if markdown[start:end] != text:
            faults.append((page, f"text is not markdown[{start}:{end}]"))
        if start > reached and NON_BLANK.search(markdown, reached, start):
            faults.append((page, f"characters {reached} to {start} are in no chunk"))
        reached = max(reached, end)
    if NON_BLANK.search(markdown, reached):
        faults.append((None, f"characters {reached} to {len(markdown)} are in no chunk"))
    return faults


CHECK = Check(
    "text_covered",
    CHUNKS,
    ERROR,
    "Every non-blank character of the markdown is in a chunk, and chunk texts are exact slices.",
    run,
    {MARKDOWN_DOCUMENTS: ("document_id", "markdown"), CHUNKS: ("document_id", *COLUMNS)},
)
