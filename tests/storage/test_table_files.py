from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from chunk_assets.embedders import load_embedder
from chunk_assets.records import (
    CHUNKS,
    MARKDOWN_DOCUMENTS,
    RAW_DOCUMENTS,
    Chunk,
    ChunkSpan,
    DocumentMetadata,
    Heading,
    MarkdownDocument,
    Page,
    RawDocument,
)
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.rows import chunk_rows, markdown_rows, metadata_of, raw_rows
from chunk_assets.storage.schemas import ROW_GROUP_ROWS, embeddings_schema, schema
from chunk_assets.storage.tables import RowStream, TableWriter, facts_of, read_table, write_table

META = DocumentMetadata(
    company="Calder Ridge",
    filing_date=date(2026, 2, 3),
    tags=("contract", "legal"),
    metadata={"b": "2", "a": "1"},
    file_type="markdown",
)


def raw(number: int) -> RawDocument:
    return RawDocument(
        f"d{number:05d}",
        "docs",
        f"a/{number}.md",
        f"docs/a/{number}.md",
        "text/markdown",
        number,
        "ab",
        None,
        META,
    )


def test_equal_rows_give_equal_bytes_however_they_arrive(tmp_path: Path) -> None:
    size = ROW_GROUP_ROWS[CHUNKS] * 2 + 77
    spans = [ChunkSpan(i, i + 3, f"t{i}", "", 1, 3, ("A",), "prose", "end", 0) for i in range(size)]
    chunks = [
        Chunk(f"d_chunk_{i:04d}", "p", "d", i, span, "s", 1, None, "row", META, "x", "f")
        for i, span in enumerate(spans)
    ]
    rows = chunk_rows(chunks)
    write_table(tmp_path / "whole", CHUNKS, rows, schema(CHUNKS))
    with TableWriter(tmp_path / "portions", CHUNKS, schema(CHUNKS)) as writer:
        for start in range(0, size, 311):
            writer.write(rows.slice(start, 311))
    stored = list(RowStream(tmp_path / "whole").take(size))
    with TableWriter(tmp_path / "again", CHUNKS, schema(CHUNKS)) as writer:
        for portion in stored:
            writer.write(portion)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "portions").read_bytes()
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "again").read_bytes()
    assert facts_of(tmp_path / "whole").rows == size


def fail_half_way(path: Path) -> None:
    with TableWriter(path, RAW_DOCUMENTS, schema(RAW_DOCUMENTS)) as writer:
        writer.write(raw_rows([raw(2)]))
        raise ValueError("on purpose")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "part-0.parquet"
    write_table(path, RAW_DOCUMENTS, raw_rows([raw(1)]), schema(RAW_DOCUMENTS))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="on purpose"):
        fail_half_way(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["part-0.parquet"]


def test_metadata_survives_the_way_through_a_table(tmp_path: Path) -> None:
    write_table(tmp_path / "t", RAW_DOCUMENTS, raw_rows([raw(1)]), schema(RAW_DOCUMENTS))
    (row,) = read_table(tmp_path / "t").to_pylist()
    back = metadata_of(row, file_type="markdown")
    assert back == DocumentMetadata(**{**_fields(META), "metadata": {"a": "1", "b": "2"}})


def _fields(meta: DocumentMetadata) -> dict[str, object]:
    return {name: getattr(meta, name) for name in meta.__slots__}


def test_a_stream_gives_the_wanted_documents_in_file_order(tmp_path: Path) -> None:
    size = ROW_GROUP_ROWS[MARKDOWN_DOCUMENTS] + 40
    documents = [
        (
            MarkdownDocument(
                f"d{i:05d}", "x", f"text {i}", (Page(1, 0, 5),), (Heading(1, "T", 0),), 0, "c", "f"
            ),
            META,
        )
        for i in range(size)
    ]
    path = tmp_path / "t"
    with TableWriter(path, MARKDOWN_DOCUMENTS, schema(MARKDOWN_DOCUMENTS)) as writer:
        for document in documents:
            writer.write(markdown_rows([document]))
    wanted = [f"d{i:05d}" for i in range(0, size, 7)]
    stream = RowStream(path, wanted, ["document_id", "markdown"])
    found = []
    for _ in wanted:
        for portion in stream.take(1):
            found += portion["document_id"].to_pylist()
    assert found == wanted
    assert list(stream.take(1)) == []


def home_with_two_batches(home: Path) -> Layout:
    layout = Layout(home)
    card = load_embedder("hash", dimension=4).card
    for number, batch in enumerate(
        [Batch("filings", "2024-03"), Batch("filings", "2024-11"), Batch("faq", "bucket-0")]
    ):
        write_table(
            layout.table_file(RAW_DOCUMENTS, batch),
            RAW_DOCUMENTS,
            raw_rows([raw(number)]),
            schema(RAW_DOCUMENTS),
        )
        kind = embeddings_schema(card, "fp")
        vectors = pa.FixedSizeListArray.from_arrays(pa.array([0.5] * 4, pa.float32()), 4)
        text = {name: pa.array([f"{name}-{number}"]) for name in kind.names if name != "vector"}
        table = pa.table([vectors if n == "vector" else text[n] for n in kind.names], schema=kind)
        write_table(layout.table_file("embeddings", batch), "embeddings", table, kind)
    return layout


def test_duckdb_reads_a_table_as_a_hive_data_set(tmp_path: Path) -> None:
    import duckdb

    layout = home_with_two_batches(tmp_path)
    pattern = f"{layout.tables}/raw_documents/*/*/*.parquet"
    query = "select source, slice, count(*) from read_parquet(?, hive_partitioning=true) "
    query += "group by all order by all"
    found = duckdb.execute(query, [pattern]).fetchall()
    assert [(str(a), str(b), c) for a, b, c in found] == [
        ("faq", "bucket-0", 1),
        ("filings", "2024-03", 1),
        ("filings", "2024-11", 1),
    ]
    vector = duckdb.execute(
        f"select vector, array_length(vector) from '{layout.tables}/embeddings/**/*.parquet' limit 1"
    ).fetchone()
    assert vector is not None
    assert vector[1] == 4


def test_pandas_reads_a_table_as_a_hive_data_set(tmp_path: Path) -> None:
    import pandas as pd

    layout = home_with_two_batches(tmp_path)
    frame = pd.read_parquet(layout.tables / "raw_documents")
    assert sorted(zip(frame["source"].astype(str), frame["slice"].astype(str), strict=True)) == [
        ("faq", "bucket-0"),
        ("filings", "2024-03"),
        ("filings", "2024-11"),
    ]
    assert len(pd.read_parquet(layout.tables / "embeddings")["vector"][0]) == 4


def test_polars_reads_a_table_as_a_hive_data_set(tmp_path: Path) -> None:
    import polars as pl

    layout = home_with_two_batches(tmp_path)
    frame = pl.read_parquet(f"{layout.tables}/raw_documents/**/*.parquet", hive_partitioning=True)
    assert sorted(zip(frame["source"], frame["document_id"], strict=True)) == [
        ("faq", "d00002"),
        ("filings", "d00000"),
        ("filings", "d00001"),
    ]
    assert pl.read_parquet(f"{layout.tables}/embeddings/**/*.parquet")["vector"][0].to_list() == [0.5] * 4


def test_each_embedding_says_its_model(tmp_path: Path) -> None:
    card = load_embedder("hash", dimension=4).card
    kind = embeddings_schema(card, "fp")
    assert {"model", "model_fingerprint", "input_sha256"} <= set(kind.names)
    assert kind.metadata[b"model_revision"] == card.revision.encode()
    assert kind.metadata[b"normalized"] == b"true"
