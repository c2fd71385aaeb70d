"""Records to rows and back. Payload columns of chunks and documents are made by one function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chunk_assets.hashing import sha256_text
from chunk_assets.records import (
    CHUNKS,
    MARKDOWN_DOCUMENTS,
    PAYLOAD_FIELDS,
    RAW_DOCUMENTS,
    Chunk,
    DocumentMetadata,
    MarkdownDocument,
    RawDocument,
)
from chunk_assets.storage.schemas import schema
from chunk_assets.text.contexts import embedder_text

if TYPE_CHECKING:
    import pyarrow as pa


def payload(metadata: DocumentMetadata) -> dict[str, Any]:
    """The inherited columns of one document or chunk."""
    row: dict[str, Any] = {name: getattr(metadata, name) for name in PAYLOAD_FIELDS}
    return row | {"tags": list(metadata.tags), "metadata": sorted(metadata.metadata.items())}


def metadata_of(row: Mapping[str, Any], **facts: Any) -> DocumentMetadata:
    """The inverse of ``payload``; ``facts`` are the fields that no payload column holds."""
    return DocumentMetadata(
        **{name: row[name] for name in PAYLOAD_FIELDS},
        tags=tuple(row["tags"]),
        metadata=dict(row["metadata"]),
        **facts,
    )


def raw_rows(documents: Iterable[RawDocument]) -> pa.Table:
    """Rows of ``raw_documents``."""
    return _table(
        RAW_DOCUMENTS,
        [
            {
                "document_id": d.document_id,
                "relative_path": d.relative_path,
                "uri": d.uri,
                "media_type": d.media_type,
                "size_bytes": d.size_bytes,
                "document_sha256": d.document_sha256,
                "document_date": d.document_date,
                **payload(d.metadata),
                "status": d.status,
                "reason": d.reason,
                "attempts": d.attempts,
            }
            for d in documents
        ],
    )


def markdown_rows(documents: Iterable[tuple[MarkdownDocument, DocumentMetadata]]) -> pa.Table:
    """Rows of ``markdown_documents``; the metadata gives the facts that policies look at."""
    return _table(
        MARKDOWN_DOCUMENTS,
        [
            {
                "document_id": d.document_id,
                "document_sha256": d.document_sha256,
                "markdown": d.markdown,
                "markdown_sha256": sha256_text(d.markdown),
                "pages": [{"number": p.number, "start": p.start, "end": p.end} for p in d.pages],
                "headings": [{"level": h.level, "title": h.title, "start": h.start} for h in d.headings],
                "n_tables": d.n_tables,
                "file_type": m.file_type,
                "has_headings": m.has_headings,
                "has_clean_paragraphs": m.has_clean_paragraphs,
                "facts": sorted(d.facts.items()),
                "warnings": list(d.warnings),
                "converter": d.converter,
                "fingerprint": d.fingerprint,
                "status": d.status,
                "reason": d.reason,
                "attempts": d.attempts,
            }
            for d, m in documents
        ],
    )


def chunk_rows(chunks: Sequence[Chunk]) -> pa.Table:
    """Rows of ``chunks``, in the order given."""
    inherited: dict[str, dict[str, Any]] = {}
    for c in chunks:
        if c.document_id not in inherited:
            inherited[c.document_id] = payload(c.metadata)
    rows = []
    for c in chunks:
        row = {
            "chunk_id": c.chunk_id,
            "point_id": c.point_id,
            "document_id": c.document_id,
            "chunk_index": c.chunk_index,
            "text": c.span.text,
            "context": c.span.context,
            "chunk_sha256": c.chunk_sha256,
            "input_sha256": sha256_text(embedder_text(c.span.context, c.span.text)),
            "token_count": c.span.token_count,
            "model_token_count": c.span.model_token_count,
            "start_char": c.span.start_char,
            "end_char": c.span.end_char,
            "page_start": c.page_start,
            "page_end": c.page_end,
            "heading_path": list(c.span.heading_path),
            "content_kind": c.span.content_kind,
            "strategy": c.strategy,
            "split_reason": c.span.split_reason,
            "overlap_chars": c.span.overlap_chars,
            **inherited[c.document_id],
            "document_sha256": c.document_sha256,
            "fingerprint": c.fingerprint,
        }
        # A document without a section gives each chunk its own heading.
        if row["section"] is None and c.span.heading_path:
            row["section"] = c.span.heading_path[-1]
        rows.append(row)
    return _table(CHUNKS, rows)


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(rows, schema=schema(name))
