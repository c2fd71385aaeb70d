"""Promise 5: the same bytes give the same chunks, now and compared with the published version."""

from __future__ import annotations

from typing import Any

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import by_document, count, examples
from chunk_assets.hashing import sha256_text
from chunk_assets.records import CHUNKS, Outcome

# Documents that are chunked again: one in twenty, at least one and at most these; the ones with the
# lowest hash, so the same on every run.
SAMPLE = 5
COLUMNS = ("document_sha256", "fingerprint", "chunk_id", "chunk_sha256", "text", "start_char", "end_char")


def run(batch: BatchTables) -> Outcome:
    """Stored hashes against texts, a sample chunked again, and equal inputs against the version before."""
    now = by_document(batch.tables.get(CHUNKS), *COLUMNS)
    before = by_document(batch.previous.get(CHUNKS), *COLUMNS)
    faults = [fault for document_id, chunks in now.items() for fault in _hashes(document_id, chunks)]
    compared = [name for name in now if name in before and _inputs(now[name]) == _inputs(before[name])]
    faults += [
        (name, None, "other chunks than the published version, from equal inputs")
        for name in compared
        if [row[2:4] for row in now[name]] != [row[2:4] for row in before[name]]
    ]
    sample = sorted(now, key=sha256_text)[: min(SAMPLE, 1 + len(now) // 20)] if batch.rechunk else []
    faults += [fault for name in sample for fault in _again(batch, name, now[name])]
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{count(sum(map(len, now.values())), 'chunk')} checked, {len(sample):,} documents "
        f"chunked again, {len(compared):,} compared with the version before, {len(faults):,} at odds",
        counts={"sampled": len(sample), "compared": len(compared), "at_odds": len(faults)},
        examples=examples(faults),
    )


def _inputs(chunks: list[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    return {row[:2] for row in chunks}


def _hashes(document_id: str, chunks: list[tuple[Any, ...]]) -> list[tuple[str, None, str]]:
    return [
        (document_id, None, f"{name}: stored hash is not that of its text")
        for _, _, name, digest, text, _, _ in chunks
        if digest != sha256_text(text)
    ]


def _again(batch: BatchTables, name: str, chunks: list[tuple[Any, ...]]) -> list[tuple[str, None, str]]:
    if batch.rechunk is None:
        return []
    again = [(span.start_char, span.end_char, sha256_text(span.text)) for span in batch.rechunk(name)]
    stored = [(start, end, digest) for _, _, _, digest, _, start, end in chunks]
    return [] if again == stored else [(name, None, "chunking the same text again gives other chunks")]


CHECK = Check(
    "hash_stability",
    CHUNKS,
    ERROR,
    "Hashes are those of the texts; chunking again, now or against the last version, gives the same.",
    run,
    {CHUNKS: ("document_id", *COLUMNS)},
)
