"""What the report shows of a batch, read from the published tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.checks.columns import by_document
from chunk_assets.errors import ConfigurationError
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS
from chunk_assets.report.projection import project
from chunk_assets.storage.commit import published_batches
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.rows import metadata_of
from chunk_assets.storage.tables import read_table

if TYPE_CHECKING:
    from chunk_assets.policy import Policy

CHUNK_COLUMNS = (
    "chunk_id",
    "chunk_index",
    "start_char",
    "end_char",
    "context",
    "token_count",
    "model_token_count",
    "page_start",
    "page_end",
    "heading_path",
    "content_kind",
    "strategy",
    "split_reason",
    "overlap_chars",
    "chunk_sha256",
)


@dataclass(frozen=True, slots=True)
class Compared:
    """The spans that another policy would make of each document."""

    policy: str
    spans: Mapping[str, Sequence[tuple[int, int]]]


def document_batches(home: str, name: str) -> list[Batch]:
    """The published batches that ``name`` means: a batch ``source/slice``, a source, or a document id.

    Raises:
        ConfigurationError: nothing published has that name.
    """
    layout = Layout(Path(home))
    found = published_batches(layout)
    if not name:
        return found
    matching = [batch for batch in found if name in (str(batch), batch.source)]
    if not matching:
        matching = [batch for batch in found if name in _documents(layout, batch)]
    if not matching:
        msg = f"nothing published is called {name!r}; batches: {', '.join(map(str, found)) or 'none'}"
        raise ConfigurationError(msg)
    return matching


def _documents(layout: Layout, batch: Batch) -> set[str]:
    table = read_table(layout.table_file(RAW_DOCUMENTS, batch), ("document_id",))
    return set(table["document_id"].to_pylist()) if table is not None else set()


def batch_data(
    home: str, batch: Batch, limits: Mapping[str, int], compared: Compared | None = None, only: str = ""
) -> dict[str, Any]:
    """One batch as plain data: documents with text, chunks, headings and pages, and the map of vectors.

    ``limits`` are ``max`` (tokens the embedder reads) and ``min`` (tokens a chunk should have); ``only``
    leaves out all documents but one.
    """
    layout = Layout(Path(home))
    tables = {table: read_table(layout.table_file(table, batch)) for table in (RAW_DOCUMENTS, CHUNKS)}
    raw = {row["document_id"]: row for row in _rows(tables[RAW_DOCUMENTS])}
    chunks = by_document(tables[CHUNKS], *CHUNK_COLUMNS)
    documents = []
    for row in _rows(read_table(layout.table_file(MARKDOWN_DOCUMENTS, batch))):
        name = row["document_id"]
        if only and name != only:
            continue
        made = [dict(zip(CHUNK_COLUMNS, values, strict=True)) for values in chunks.get(name, [])]
        documents.append(_document(row, raw.get(name, {}), made, compared))
    return {
        "batch": str(batch),
        "limits": dict(limits),
        "compared": compared.policy if compared else "",
        "documents": documents,
        "map": _map(layout, batch, only),
    }


def _rows(table: Any) -> list[dict[str, Any]]:
    return table.to_pylist() if table is not None else []


def _document(
    row: dict[str, Any], raw: dict[str, Any], chunks: list[dict[str, Any]], compared: Compared | None
) -> dict[str, Any]:
    return {
        "id": row["document_id"],
        "file": raw.get("relative_path", ""),
        "status": row["status"],
        "reason": row["reason"],
        "warnings": row["warnings"],
        "markdown": row["markdown"],
        "headings": row["headings"],
        "pages": row["pages"],
        "converter": row["converter"],
        "chunks": chunks,
        "compared": [list(span) for span in compared.spans.get(row["document_id"], ())] if compared else [],
    }


def _map(layout: Layout, batch: Batch, only: str) -> list[dict[str, Any]]:
    """Places of the chunks on a plane by their vectors, with document and section."""
    table = read_table(layout.table_file(EMBEDDINGS, batch), ("chunk_id", "document_id", "vector"))
    chunks = read_table(layout.table_file(CHUNKS, batch), ("chunk_id", "section"))
    if table is None or chunks is None or table.num_rows == 0:
        return []
    vectors = table["vector"].combine_chunks().flatten().to_numpy().reshape(table.num_rows, -1)
    sections = dict(zip(chunks["chunk_id"].to_pylist(), chunks["section"].to_pylist(), strict=True))
    names, documents = table["chunk_id"].to_pylist(), table["document_id"].to_pylist()
    return [
        {"chunk": name, "document": document, "section": sections.get(name), "x": x, "y": y}
        for name, document, (x, y) in zip(names, documents, project(vectors), strict=True)
        if not only or document == only
    ]


def compare_policy(home: str, batch: Batch, policy: Policy, **bounds: Any) -> Compared:
    """Chunks every document of a batch by another policy, in memory; ``bounds`` go to the engine."""
    from chunk_assets.chunking import chunk_markdown

    layout = Layout(Path(home))
    raw = {row["document_id"]: row for row in _rows(read_table(layout.table_file(RAW_DOCUMENTS, batch)))}
    spans = {}
    for row in _rows(read_table(layout.table_file(MARKDOWN_DOCUMENTS, batch))):
        facts = {name: row[name] for name in ("file_type", "has_headings", "has_clean_paragraphs")}
        strategy = policy.choose(metadata_of(raw[row["document_id"]], **facts))
        made = chunk_markdown(row["markdown"], strategy, **bounds) if row["markdown"] else []
        spans[row["document_id"]] = [(span.start_char, span.end_char) for span in made]
    return Compared(policy.name, spans)
