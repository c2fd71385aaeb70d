"""Tables that can be trusted: what is wrong is named, and exactly that is made anew."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from homes import CATALOG, Home, prose

from chunk_assets.storage.commit import Manifest, load_manifest, publish_files
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.tables import facts_of, read_table, write_table
from chunk_assets.verify import Fault, repair, verify

pytestmark = pytest.mark.timeout(120)
BATCH = Batch("docs", "bucket-0")


def faults(home: Home) -> list[Fault]:
    session = home.session()
    return verify(session.catalog, session=session)


def mend(home: Home, found: list[Fault]) -> Any:
    session = home.session()
    return repair(session.catalog, found, session=session)


def forge(home: Home, table: str, change: Any) -> None:
    """Publishes a table with other rows, manifest and all: what no hash gives away."""
    layout = Layout(home.path)
    path = layout.table_file(table, BATCH)
    rows = read_table(path)
    columns = change({name: rows[name].to_pylist() for name in rows.schema.names})
    forged = layout.staged_file(table, BATCH)
    write_table(forged, table, pa.table(columns, schema=rows.schema), rows.schema)
    manifest = load_manifest(layout, BATCH)
    files = {**manifest.files, table: facts_of(forged)}
    publish_files(
        layout, BATCH, {table: forged}, Manifest(files, manifest.recipe, manifest.model_fingerprint)
    )
    forged.unlink()


@pytest.fixture
def filled(home: Home) -> Home:
    for number in range(4):
        home.write(f"d{number}.md", prose(f"n{number}", 3))
    home.run()
    return home


def test_a_sound_home_has_no_faults(filled: Home) -> None:
    assert faults(filled) == []


@pytest.mark.parametrize("table", ["raw_documents", "markdown_documents", "chunks", "embeddings"])
@pytest.mark.parametrize("how", ["removed", "altered", "cut short"])
def test_a_damaged_file_is_named_and_made_anew_without_embedding(filled: Home, table: str, how: str) -> None:
    before = filled.hashes()
    path = next(filled.path.glob(f"tables/{table}/*/*/*.parquet"))
    data = path.read_bytes()
    if how == "removed":
        path.unlink()
    elif how == "altered":
        path.write_bytes(
            data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]
        )
    else:
        path.write_bytes(data[:-9])
    (found,) = faults(filled)
    assert (found.table, found.batch) == (table, "docs/bucket-0")
    report = mend(filled, [found])
    assert filled.hashes() == before
    assert filled.embedder.asked == []
    assert report.files_written == (str(path.relative_to(filled.path)),)
    assert faults(filled) == []


def test_a_plain_run_names_and_mends_a_damaged_file_too(filled: Home) -> None:
    before = filled.hashes()
    next(filled.path.glob("tables/embeddings/*/*/*.parquet")).unlink()
    report = filled.run()
    (failed,) = [o for o in report.all_outcomes if not o.passed]
    assert failed.name == "published_files_intact"
    assert "embeddings of docs/bucket-0: the file is missing" in failed.summary
    assert report.exit_code == 1
    assert filled.hashes() == before
    assert filled.embedder.asked == []
    assert filled.run().exit_code == 0


def test_a_lost_partition_and_a_lost_store_cost_only_the_lost_texts(filled: Home) -> None:
    before = filled.hashes()
    shutil.rmtree(filled.path / "vectors")
    filled.run()
    assert filled.embedder.asked == []
    filled.write("d9.md", prose("n9", 2))
    filled.run()
    assert len(filled.embedder.asked) == 2
    (filled.docs / "d9.md").unlink()
    filled.run()
    assert filled.hashes() == before
    shutil.rmtree(filled.path / "vectors")
    next(filled.path.glob("tables/embeddings/*/*/*.parquet")).unlink()
    filled.run()
    assert len(filled.embedder.asked) == 12
    assert filled.hashes() == before


def swap_texts(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    columns["text"][0] = columns["text"][0].upper()
    return columns


def drop_last(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: values[:-1] for name, values in columns.items()}


def spoil_vector(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    columns["vector"][0] = [0.0] * len(columns["vector"][0])
    return columns


def other_hash(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    columns["document_sha256"][0] = "0" * 64
    return columns


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("chunks", swap_texts),
        ("chunks", drop_last),
        ("embeddings", drop_last),
        ("embeddings", spoil_vector),
        ("markdown_documents", other_hash),
        ("markdown_documents", drop_last),
    ],
)
def test_forged_rows_are_named_though_every_hash_of_a_file_is_right(
    filled: Home, table: str, change: Any
) -> None:
    before = filled.hashes()
    forge(filled, table, change)
    assert filled.hashes() != before
    found = faults(filled)
    assert table in {f.table for f in found}
    mend(filled, found)
    assert filled.hashes() == before
    assert faults(filled) == []


def test_a_wrong_vector_in_store_and_table_is_embedded_again(filled: Home) -> None:
    before = filled.hashes()
    forge(filled, "embeddings", spoil_vector)
    found = [f for f in faults(filled) if f.table == "embeddings"]
    mend(filled, found)
    assert filled.hashes() == before
    assert 1 <= len(filled.embedder.asked) <= 3


def test_a_batch_of_a_source_that_left_the_catalog_is_named_and_withdrawn(filled: Home) -> None:
    filled.catalog(CATALOG.replace("docs: {path: docs}", "other: {path: docs}"))
    (found,) = faults(filled)
    assert "not in the catalog" in found.what
    mend(filled, [found])
    assert filled.files() == {}


def test_a_damaged_vector_block_is_named_and_removed(filled: Home) -> None:
    block = next(filled.path.glob("vectors/*/*.vectors"))
    data = bytearray(block.read_bytes())
    data[-1] ^= 255
    block.write_bytes(data)
    (found,) = faults(filled)
    assert (found.table, block.name in found.what) == ("vectors", True)
    mend(filled, [found])
    assert not block.exists()
    assert faults(filled) == []


@pytest.mark.parametrize("how", ["altered", "cut short"])
def test_a_damaged_vector_block_never_reaches_a_table(filled: Home, how: str) -> None:
    block = next(filled.path.glob("vectors/*/*.vectors"))
    data = bytearray(block.read_bytes())
    data[-3] ^= 0x40
    block.write_bytes(data if how == "altered" else data[:-10])
    shutil.copy(filled.docs / "d0.md", filled.docs / "copy.md")
    assert filled.run().exit_code == 0
    assert filled.embedder.asked == []
    for chunk, row in zip(filled.rows("chunks"), filled.rows("embeddings"), strict=True):
        assert row["vector"] == filled.embedder.embed_query(chunk["text"]).tolist()
    assert faults(filled) == []


def test_a_state_that_tells_tales_is_named_and_forgotten(filled: Home) -> None:
    path = next(Path(filled.path / "state").rglob("slice=*.json"))
    sha256 = filled.column("raw_documents", "document_sha256")[0]
    path.write_text(path.read_text().replace(sha256, "f" * 64))
    (found,) = faults(filled)
    assert found.table == "state"
    before = filled.files()
    mend(filled, [found])
    assert filled.files() == before
    assert faults(filled) == []


def test_a_table_file_that_no_run_made_is_named_and_removed(filled: Home) -> None:
    path = next(filled.path.glob("tables/chunks/*/*/*.parquet"))
    extra = path.with_name("part-1.parquet")
    shutil.copy(path, extra)
    (found,) = faults(filled)
    assert found.row.endswith("part-1.parquet")
    filled.write("d9.md", prose("n9", 1))
    filled.run()
    assert extra.exists()
    mend(filled, [found])
    assert not extra.exists()
    assert faults(filled) == []
