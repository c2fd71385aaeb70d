"""Homes with published tables, made row by row, for tests of what reads tables."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from chunk_assets import hashing
from chunk_assets.chunking import embedder_text
from chunk_assets.embedders import Embedder, ordered
from chunk_assets.records import CHUNKS, EMBEDDINGS, PAYLOAD_FIELDS
from chunk_assets.storage.schemas import embeddings_schema, schema
from chunk_assets.storage.tables import write_table


def chunk_rows(document_id: str, chunks: list[dict[str, Any]], **payload: Any) -> list[dict[str, Any]]:
    """Rows of ``chunks``; each chunk gives ``text`` and may override any column."""
    rows = []
    at = 0
    for index, chunk in enumerate(chunks):
        text = chunk["text"]
        start = chunk.get("start_char", at)
        identifier = hashing.chunk_id(document_id, index)
        row = {
            "chunk_id": identifier,
            "point_id": hashing.point_id(identifier),
            "document_id": document_id,
            "chunk_index": index,
            "context": "",
            "chunk_sha256": hashing.sha256_text(text),
            "token_count": len(text.split()),
            "model_token_count": len(text.split()) + 2,
            "start_char": start,
            "end_char": start + len(text),
            "page_start": None,
            "page_end": None,
            "heading_path": [],
            "content_kind": "prose",
            "strategy": "test",
            "split_reason": "end",
            "overlap_chars": max(0, at - start),
            "tags": [],
            "metadata": {},
            "document_sha256": hashing.sha256_text(document_id),
            "fingerprint": "f",
            **dict.fromkeys(PAYLOAD_FIELDS),
            **payload,
            **chunk,
        }
        at = row["end_char"] + 1
        given = embedder_text(row["context"], row["text"])
        rows.append(
            row | {"metadata": list(row["metadata"].items()), "input_sha256": hashing.sha256_text(given)}
        )
    return rows


def write_home(
    home: Path,
    batches: Mapping[tuple[str, str], list[dict[str, Any]]],
    embedder: Embedder,
    model: str = "m1",
    sparse: Embedder | None = None,
) -> Path:
    """Publishes chunks and their vectors: ``{(source, slice): rows}``."""
    for (source, part), unsorted in batches.items():
        rows = sorted(unsorted, key=lambda row: (row["document_id"], row["chunk_index"]))
        inputs = [embedder_text(row["context"], row["text"]) for row in rows]
        vectors = [answer.vector for answer in ordered(embedder.embed(inputs, workers=2), len(rows))]
        described = embeddings_schema(embedder.card, model, sparse.card if sparse else None, "s1")
        learned = sparse_column(sparse, inputs) if sparse else [None] * len(rows)
        embedded = [
            {
                **{name: row[name] for name in ("chunk_id", "point_id", "document_id", "chunk_sha256")},
                "input_sha256": hashing.sha256_text(text),
                "vector": vector,
                "model": embedder.card.model_id,
                "model_fingerprint": model,
                "sparse": weights,
            }
            for row, text, vector, weights in zip(rows, inputs, vectors, learned, strict=True)
        ]
        for table, data, kind in ((CHUNKS, rows, schema(CHUNKS)), (EMBEDDINGS, embedded, described)):
            path = home / "tables" / table / f"source={source}" / f"slice={part}" / "part-0.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_table(path, table, pa.Table.from_pylist(data, schema=kind), kind)
    return home


def sparse_column(sparse: Embedder, texts: list[str]) -> list[list[dict[str, Any]] | None]:
    """The column ``sparse`` of these texts."""
    found = [answer.sparse for answer in ordered(sparse.embed(texts), len(texts))]
    return [
        None
        if weights is None
        else [
            {"index": int(index), "value": float(value)}
            for index, value in zip(weights.indices, weights.weights, strict=True)
        ]
        for weights in found
    ]


TOPICS = (
    "Invoices are due within thirty days of receipt.",
    "The lease may be ended with a notice period of ninety days.",
    "Revenue rose by twelve percent to 4.1 million euros in the third quarter.",
    "Employees accrue two days of holiday each month.",
    "The warehouse in Rotterdam was closed because of a flood.",
    "Passwords must be changed every ninety days and never shared.",
    "Chromium is plated onto the steel valves in the second line.",
    "The board approved a dividend of forty cents a share.",
)


def many_rows(documents: int, chunks: int, **payload: Any) -> list[dict[str, Any]]:
    """``documents × chunks`` rows about the topics, every text different."""
    topics = itertools.cycle(TOPICS)
    return [
        row
        for d in range(documents)
        for row in chunk_rows(
            f"doc_{d:03d}", [{"text": f"{next(topics)} Item {d} {i}."} for i in range(chunks)], **payload
        )
    ]
