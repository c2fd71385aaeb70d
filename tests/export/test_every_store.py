from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from chunk_assets.embedders import load_embedder
from chunk_assets.errors import ConfigurationError
from chunk_assets.export import STORES, ExportMismatch, export, open_store
from chunk_assets.export.base import SparseStore, weights_of
from chunk_assets.export.delivery import Order, deliver
from chunk_assets.hashing import point_id
from tests.embedders.tiny_splade import save_lexical_model
from tests.small_home import many_rows, write_home

LIBRARIES = {
    "lancedb": "lancedb",
    "qdrant": "qdrant_client",
    "pgvector": "psycopg2",
    "duckdb": "duckdb",
    "faiss": "faiss",
    "parquet": "pyarrow",
}
ROWS = many_rows(4, 8, company="O'Neill & Söhne", tags=["a", "b'c"], metadata={"desk": "north"})
number = itertools.count()


@pytest.fixture(scope="module")
def static():
    return load_embedder("static")


@pytest.fixture(params=sorted(STORES))
def store(request, tmp_path) -> tuple[str, str, str]:
    """(name, target, a collection of its own)."""
    name = request.param
    pytest.importorskip(LIBRARIES[name], reason=f"{name} is an extra")
    target = request.getfixturevalue("postgres") if name == "pgvector" else str(tmp_path / "store")
    return name, target, f"chunks_{next(number)}"


@pytest.fixture
def home(tmp_path, static) -> Path:
    return write_home(tmp_path / "home", {("s", "0"): ROWS[:16], ("s", "1"): ROWS[16:]}, static)


def counts(report):
    return report.added, report.changed, report.removed, report.unchanged, report.total


def send(home, store, **options):
    name, target, collection = store
    return export(home, name, target, collection=collection, **options)


def opened(store):
    name, target, collection = store
    return open_store(name, target, collection)


def test_a_first_export_holds_all_rows_and_a_second_finds_nothing_to_do(home, store):
    assert counts(send(home, store)) == (32, 0, 0, 0, 32)
    again = send(home, store)
    assert counts(again) == (0, 0, 0, 32, 32)
    assert again.equal
    assert again.sampled == 32


def test_its_own_search_finds_what_exact_search_finds(home, store, static):
    send(home, store)
    held = opened(store)
    table = pq.read_table(home / "tables/embeddings", columns=["chunk_id", "vector"])
    vectors = np.array(table["vector"].to_pylist())
    ids = table["chunk_id"].to_pylist()
    for question in ("notice period of the lease", "flood in the warehouse", "dividend of the board"):
        query = static.embed_query(question)
        cosines = vectors @ query
        found = held.nearest(query, 3)
        assert found[0][0] in {ids[i] for i in np.flatnonzero(cosines >= cosines.max() - 1e-6)}
        np.testing.assert_allclose([score for _, score in found], np.sort(cosines)[::-1][:3], atol=1e-5)
    held.close()


def test_the_rules_for_queries_are_stored_with_the_index(home, store, static):
    send(home, store)
    held = opened(store)
    contract = held.contract()
    assert contract["model_id"] == static.card.model_id
    assert contract["model_revision"] == static.card.revision
    assert contract["metric"] == "cosine"
    assert contract["query_prefix"] == ""
    assert contract["pooling"] == static.card.pooling
    assert contract["normalized"] == "true"
    held.close()


@pytest.fixture(scope="module")
def splade(tmp_path_factory):
    texts = [row["text"] for row in ROWS[1:]]
    folder = save_lexical_model(tmp_path_factory.mktemp("splade"), texts, {"flood": "water"})
    return load_embedder("splade", model_dir=str(folder))


def test_sparse_vectors_are_delivered_and_found(tmp_path, store, static, splade):
    batches = {("s", "0"): ROWS[:16], ("s", "1"): ROWS[16:]}
    home = write_home(tmp_path / "home", batches, static, sparse=splade)
    assert counts(send(home, store)) == (32, 0, 0, 0, 32)
    assert send(home, store).equal
    held = opened(store)
    table = pq.read_table(home / "tables/embeddings", columns=["chunk_id", "sparse"])
    weights = {row["chunk_id"]: weights_of(row["sparse"]) for row in table.to_pylist()}
    for name, row in held.fetch(list(weights)).items():
        assert row.sparse == pytest.approx(weights[name])
    assert held.contract()["sparse_model_revision"] == splade.card.revision
    if isinstance(held, SparseStore):
        query = splade.embed_query("water in the warehouse")
        asked = {int(i): float(query[i]) for i in np.flatnonzero(query)}
        scores = {key: sum(w * asked.get(i, 0) for i, w in found.items()) for key, found in weights.items()}
        (best, *_) = held.nearest_sparse(asked, 3)
        assert best[1] == pytest.approx(max(scores.values()))
        assert scores[best[0]] == pytest.approx(max(scores.values()))
    held.close()


def test_sparse_vectors_that_come_later_need_a_recreated_collection(home, store, static, splade):
    send(home, store)
    write_home(home, {("s", "0"): ROWS[:16]}, static, sparse=splade)
    with pytest.raises(ConfigurationError, match="some batches have sparse vectors"):
        send(home, store)
    write_home(home, {("s", "1"): ROWS[16:]}, static, sparse=splade)
    with pytest.raises(ConfigurationError, match="made for sparse_model_id None"):
        send(home, store)
    assert counts(send(home, store, recreate=True)) == (32, 0, 0, 0, 32)
    write_home(home, {("s", "0"): ROWS[:16], ("s", "1"): ROWS[16:]}, static)
    with pytest.raises(ConfigurationError, match="tables have None"):
        send(home, store)


def test_one_edited_document_changes_only_its_rows(tmp_path, home, store, static):
    send(home, store)
    edited = [
        row | {"text": row["text"] + " Amended."} if row["chunk_id"] == "doc_001_chunk_0003" else row
        for row in ROWS
        if row["chunk_id"] != "doc_001_chunk_0007"
    ]
    for row in edited:
        if "Amended" in row["text"]:
            row["chunk_sha256"] = "0" * 64
    write_home(home, {("s", "0"): edited[:15], ("s", "1"): edited[15:]}, static)
    dry = send(home, store, dry_run=True)
    assert (dry.added, dry.changed, dry.removed, dry.applied, dry.equal) == (0, 1, 1, False, False)
    assert counts(send(home, store)) == (0, 1, 1, 30, 31)
    assert send(home, store).equal


def test_a_changed_payload_is_written_though_the_text_is_the_same(home, store, static):
    send(home, store)
    moved = [row | {"company": "New Name"} for row in ROWS[:8]]
    write_home(home, {("s", "0"): moved + ROWS[8:16]}, static)
    assert counts(send(home, store)) == (0, 8, 0, 24, 32)


def test_sources_share_a_collection_without_touching_each_other(home, store, static):
    send(home, store)
    other = [row | {"chunk_id": "x_" + row["chunk_id"], "document_id": "x"} for row in ROWS[:4]]
    for row in other:
        row["point_id"] = point_id(row["chunk_id"])
    write_home(home, {("t", "0"): other}, static)
    assert counts(send(home, store, source="t")) == (4, 0, 0, 0, 4)
    assert counts(send(home, store, source="s")) == (0, 0, 0, 32, 32)
    assert counts(send(home, store)) == (0, 0, 0, 36, 36)
    write_home(home, {("t", "0"): other[:1]}, static)
    assert counts(send(home, store, source="t")) == (0, 0, 3, 1, 1)
    assert counts(send(home, store)) == (0, 0, 0, 33, 33)


def test_another_model_needs_a_new_collection_or_a_recreated_one(home, store, static):
    send(home, store)
    write_home(home, {("s", "0"): ROWS[:16], ("s", "1"): ROWS[16:]}, static, model="m2")
    with pytest.raises(ConfigurationError, match=r"made for model_fingerprint 'm1'.*'m2'"):
        send(home, store)
    assert counts(send(home, store, recreate=True)) == (32, 0, 0, 0, 32)
    assert send(home, store).equal


def test_a_source_without_chunks_is_an_empty_collection(tmp_path, store, static):
    home = write_home(tmp_path / "none", {("s", "0"): []}, static)
    assert counts(send(home, store)) == (0, 0, 0, 0, 0)
    write_home(home, {("s", "0"): ROWS[:3]}, static)
    assert counts(send(home, store)) == (3, 0, 0, 0, 3)
    write_home(home, {("s", "0"): []}, static)
    assert counts(send(home, store)) == (0, 0, 3, 0, 0)


def test_chunks_without_a_vector_are_counted_and_left_out(home, store, static):
    write_home(home, {("s", "1"): ROWS[16:24]}, static)
    write_home(home / "spare", {("s", "1"): ROWS[16:]}, static)
    chunks = "tables/chunks/source=s/slice=1/part-0.parquet"
    (home / "spare" / chunks).replace(home / chunks)
    report = send(home, store)
    assert (report.total, report.without_vector) == (24, 8)


def test_rows_lost_or_altered_in_the_target_are_put_right(home, store):
    send(home, store)
    held = opened(store)
    with held.writing():
        held.delete([ROWS[0]["chunk_id"], ROWS[9]["chunk_id"], "never there"])
    held.close()
    assert counts(send(home, store)) == (2, 0, 0, 30, 32)


KILLED = """
import os, signal
from pathlib import Path
from chunk_assets.export import delivery, open_store
delivery.BLOCK_ROWS = 5
store = open_store({name!r}, {target!r}, {collection!r})
real, calls = store.upsert, []
def upsert(rows):
    real(rows)
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
store.upsert = upsert
delivery.deliver(Path({home!r}), store, delivery.Order({name!r}, {collection!r}, None))
"""


def test_a_kill_in_the_middle_is_repaired_by_the_next_run(home, store):
    name, target, collection = store
    code = KILLED.format(name=name, target=target, collection=collection, home=str(home))
    killed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    if name == "pgvector":
        time.sleep(0.3)  # the server notices that its client is gone
    report = send(home, store)
    assert report.total == 32
    assert report.added + report.unchanged == 32
    assert send(home, store).equal


def test_what_the_target_lost_behind_its_back_is_noticed(home, store, monkeypatch):
    """A store that accepts rows and does not keep them all fails the check after writing."""
    name, _, collection = store
    held = opened(store)
    real = held.upsert
    monkeypatch.setattr(held, "upsert", lambda rows: real(rows.slice(1)))
    with pytest.raises(ExportMismatch, match="rows after the export"):
        deliver(home, held, Order(name, collection, None))
    assert send(home, store).total == 32
