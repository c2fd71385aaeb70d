from __future__ import annotations

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from chunk_assets.embedders import load_embedder
from chunk_assets.errors import ConfigurationError
from chunk_assets.export import ExportMismatch, export, open_store
from tests.small_home import many_rows, write_home


@pytest.fixture
def home(tmp_path):
    return write_home(tmp_path / "home", {("s", "0"): many_rows(2, 8)}, load_embedder("hash", dimension=6))


def test_an_unknown_store_names_the_known_ones(home, tmp_path):
    with pytest.raises(
        ConfigurationError, match="unknown vector store 'magic'; known: duckdb, faiss, lancedb"
    ):
        export(home, "magic", str(tmp_path))


@pytest.mark.parametrize("name", ["a b", "x; drop table y", "Ünder", "1st", "", "UPPER"])
def test_a_collection_name_that_is_no_identifier_is_refused(home, tmp_path, name):
    with pytest.raises(ConfigurationError, match="collection"):
        export(home, "parquet", str(tmp_path), collection=name)


def test_a_home_without_embeddings_says_which_sources_have_some(home, tmp_path):
    with pytest.raises(ConfigurationError, match="'nope'; known: s"):
        export(home, "parquet", str(tmp_path / "out"), source="nope")


def test_a_missing_library_names_the_extra():
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from chunk_assets.export import open_store\n"
        "try: open_store('duckdb', 'x')\n"
        "except Exception as e: print(type(e).__name__, e)"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.startswith("ConfigurationError")
    assert "chunk-assets[stores]" in said


def test_equal_tables_give_equal_parquet_bytes(home, tmp_path):
    for name in ("one", "two"):
        export(home, "parquet", str(tmp_path / name))
    assert (tmp_path / "one/chunks.parquet").read_bytes() == (tmp_path / "two/chunks.parquet").read_bytes()


def test_an_export_with_nothing_to_do_writes_nothing(home, tmp_path):
    export(home, "parquet", str(tmp_path))
    before = (tmp_path / "chunks.parquet").stat()
    export(home, "parquet", str(tmp_path))
    after = (tmp_path / "chunks.parquet").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_the_parquet_file_says_how_to_ask(home, tmp_path):
    export(home, "parquet", str(tmp_path))
    contract = json.loads(pq.read_schema(tmp_path / "chunks.parquet").metadata[b"contract"])
    assert contract["dimension"] == "6"
    assert contract["model_id"] == "sha256"


def test_faiss_keeps_one_generation(tmp_path):
    pytest.importorskip("faiss", reason="an extra")
    hashed = load_embedder("hash", dimension=6)
    for chunks in (3, 5, 4):
        home = write_home(tmp_path / "home", {("s", "0"): many_rows(1, chunks)}, hashed)
        export(home, "faiss", str(tmp_path / "out"))
    assert sorted(path.suffix for path in (tmp_path / "out").iterdir()) == [".faiss", ".json", ".parquet"]


def test_a_password_in_the_target_is_refused_without_repeating_it():
    pytest.importorskip("psycopg2", reason="an extra")
    for target in ("host=h password=hunter2", "postgresql://u:hunter2@h/db"):
        with pytest.raises(ConfigurationError, match="PGPASSWORD") as raised:
            open_store("pgvector", target)
        assert "hunter2" not in str(raised.value)


def test_a_server_that_is_not_there_says_so():
    pytest.importorskip("psycopg2", reason="an extra")
    with pytest.raises(ConfigurationError, match="can't be reached"):
        open_store("pgvector", "host=127.0.0.1 port=1 user=x dbname=y")


def test_a_vector_altered_in_the_target_is_found_by_the_sample_and_mended_by_recreating(home, tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="an extra")
    target = str(tmp_path / "x.db")
    export(home, "duckdb", target)
    with duckdb.connect(target) as connection:
        connection.execute("UPDATE chunks SET vector = [1, 0, 0, 0, 0, 0]::FLOAT[6]")
    with pytest.raises(ExportMismatch, match=r"16 of 16 sampled rows differ.*recreate"):
        export(home, "duckdb", target)
    assert export(home, "duckdb", target, recreate=True).sampled == 16
