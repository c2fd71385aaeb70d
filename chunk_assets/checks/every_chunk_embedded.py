"""Promises 1 and 7: each chunk has one vector, of its own text, and no vector is left over."""

from __future__ import annotations

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, Outcome

COLUMNS = ("chunk_id", "chunk_sha256", "document_id")


def run(batch: BatchTables) -> Outcome:
    """Chunks without a vector, vectors without a chunk, vectors of another text.

    Chunks whose text the embedder refused are recorded on their document (status ``partial``) and do
    not fail this check: they are counted here and reported by ``documents_readable``.
    """
    chunks = {row[0]: row[1:] for row in rows(batch.tables.get(CHUNKS), *COLUMNS)}
    vectors = list(rows(batch.tables.get(EMBEDDINGS), *COLUMNS))
    found = {row[0]: row[1:] for row in vectors}
    partial = {
        name
        for name, status in rows(batch.tables.get(MARKDOWN_DOCUMENTS), "document_id", "status")
        if status in ("partial", "embedding_failed")
    }
    without = [name for name in chunks if name not in found]
    refused = [name for name in without if chunks[name][1] in partial]
    faults = [
        (chunks[name][1], None, f"{name} has no vector") for name in without if name not in set(refused)
    ]
    faults += [
        (row[2], None, f"{row[0]} is the vector of no chunk") for row in vectors if row[0] not in chunks
    ]
    faults += [
        (chunks[name][1], None, f"{name}: the vector is of another text")
        for name in chunks
        if name in found and found[name] != chunks[name]
    ]
    doubled = len(vectors) - len(found)
    return verdict(
        CHECK,
        passed=not faults and not doubled,
        summary=f"{count(len(chunks), 'chunk')}, {count(len(vectors), 'vector')}, "
        f"{len(refused):,} refused by the "
        f"embedder, {len(faults) + doubled:,} at odds",
        counts={"chunks": len(chunks), "vectors": len(vectors), "refused": len(refused), "doubled": doubled},
        examples=examples(faults),
    )


CHECK = Check(
    "every_chunk_embedded",
    EMBEDDINGS,
    ERROR,
    "Each chunk has exactly one vector, of its own text, and there are no orphans.",
    run,
    {
        CHUNKS: COLUMNS,
        EMBEDDINGS: COLUMNS,
        MARKDOWN_DOCUMENTS: ("document_id", "status"),
    },
)
