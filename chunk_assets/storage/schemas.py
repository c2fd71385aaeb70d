"""The Arrow schemas of the four tables, and the order of their rows.

``source`` and ``slice`` are not columns of the files: Hive-partitioned readers take them from the path,
and pyarrow refuses a data set that has them twice (ADR 0006).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, PAYLOAD_FIELDS, RAW_DOCUMENTS

if TYPE_CHECKING:
    import pyarrow as pa

    from chunk_assets.embedders.base import EmbedderCard

# Rows to a row group: a reader's unit of memory. Fixed, since it is part of the bytes.
ROW_GROUP_ROWS: Mapping[str, int] = {
    RAW_DOCUMENTS: 8_192,
    MARKDOWN_DOCUMENTS: 256,
    CHUNKS: 2_048,
    EMBEDDINGS: 4_096,
}


@cache
def schema(table: str) -> pa.Schema:
    """The schema of ``raw_documents``, ``markdown_documents`` or ``chunks``."""
    import pyarrow as pa

    return pa.schema({RAW_DOCUMENTS: _raw, MARKDOWN_DOCUMENTS: _markdown, CHUNKS: _chunks}[table]())


def embeddings_schema(
    card: EmbedderCard,
    model_fingerprint: str,
    sparse: EmbedderCard | None = None,
    sparse_fingerprint: str = "",
) -> pa.Schema:
    """The schema of ``embeddings`` for one model; what is true of all vectors is in its metadata.

    With a ``sparse`` model beside it there is one column more, ``sparse``: index and value of each
    weight, indices rising; null where that model refused the text (ADR 0011).
    """
    import pyarrow as pa

    facts = {
        "model_id": card.model_id,
        "model_revision": card.revision,
        "model_fingerprint": model_fingerprint,
        "dimension": str(card.dimension),
        "normalized": str(card.normalized).lower(),
        "metric": card.metric,
        "pooling": card.pooling,
        "query_prefix": card.query_prefix,
        "passage_prefix": card.passage_prefix,
    }
    text = pa.string()
    columns = [
        _field("chunk_id", text),
        _field("point_id", text),
        _field("document_id", text),
        _field("chunk_sha256", text),
        _field("input_sha256", text),
        _field("vector", pa.list_(pa.float32(), card.dimension)),
        _field("model", text),
        _field("model_fingerprint", text),
    ]
    if sparse is not None:
        columns.append(pa.field("sparse", sparse_type()))
        facts |= {
            "sparse_model_id": sparse.model_id,
            "sparse_model_revision": sparse.revision,
            "sparse_model_fingerprint": sparse_fingerprint,
            "sparse_dimension": str(sparse.dimension),
            "sparse_most_weights": str(sparse.most_weights),
            "sparse_metric": sparse.metric,
            "sparse_query_prefix": sparse.query_prefix,
        }
    return pa.schema(columns, metadata=facts)


def sparse_model_of(schema: pa.Schema) -> str:
    """The fingerprint of the sparse model whose vectors a table of ``embeddings`` has; empty without one."""
    facts: dict[bytes, bytes] = schema.metadata or {}
    return facts.get(b"sparse_model_fingerprint", b"").decode()


def sparse_type() -> pa.DataType:
    """A sparse vector: a list of (index, value), the indices rising."""
    import pyarrow as pa

    return pa.list_(pa.struct([_field("index", pa.int32()), _field("value", pa.float32())]))


def _field(name: str, kind: pa.DataType) -> pa.Field:
    import pyarrow as pa

    return pa.field(name, kind, nullable=False)


def _payload() -> list[pa.Field]:
    import pyarrow as pa

    kinds = {"filing_date": pa.date32()}
    return [
        *(pa.field(name, kinds.get(name, pa.string())) for name in PAYLOAD_FIELDS),
        _field("tags", pa.list_(pa.string())),
        _field("metadata", pa.map_(pa.string(), pa.string())),
    ]


def _raw() -> list[pa.Field]:
    import pyarrow as pa

    text = pa.string()
    return [
        _field("document_id", text),
        _field("relative_path", text),
        _field("uri", text),
        _field("media_type", text),
        _field("size_bytes", pa.int64()),
        _field("document_sha256", text),
        pa.field("document_date", pa.date32()),
        *_payload(),
        _field("status", text),
        _field("reason", text),
        _field("attempts", pa.int32()),
    ]


def _markdown() -> list[pa.Field]:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    page = pa.struct([_field("number", pa.int32()), _field("start", number), _field("end", number)])
    heading = pa.struct([_field("level", pa.int8()), _field("title", text), _field("start", number)])
    return [
        _field("document_id", text),
        _field("document_sha256", text),
        _field("markdown", text),
        _field("markdown_sha256", text),
        _field("pages", pa.list_(page)),
        _field("headings", pa.list_(heading)),
        _field("n_tables", pa.int32()),
        _field("file_type", text),
        _field("has_headings", pa.bool_()),
        _field("has_clean_paragraphs", pa.bool_()),
        _field("facts", pa.map_(text, text)),
        _field("warnings", pa.list_(text)),
        _field("converter", text),
        _field("fingerprint", text),
        _field("status", text),
        _field("reason", text),
        _field("attempts", pa.int32()),
    ]


def _chunks() -> list[pa.Field]:
    import pyarrow as pa

    text, number, small = pa.string(), pa.int64(), pa.int32()
    return [
        _field("chunk_id", text),
        _field("point_id", text),
        _field("document_id", text),
        _field("chunk_index", small),
        _field("text", text),
        _field("context", text),
        _field("chunk_sha256", text),
        _field("input_sha256", text),
        _field("token_count", small),
        _field("model_token_count", small),
        _field("start_char", number),
        _field("end_char", number),
        pa.field("page_start", small),
        pa.field("page_end", small),
        _field("heading_path", pa.list_(text)),
        _field("content_kind", text),
        _field("strategy", text),
        _field("split_reason", text),
        _field("overlap_chars", small),
        *_payload(),
        _field("document_sha256", text),
        _field("fingerprint", text),
    ]
