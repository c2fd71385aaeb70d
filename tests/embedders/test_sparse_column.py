from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.compute import WorkerPool
from chunk_assets.embedders import load_sparse_embedder
from chunk_assets.embedders.base import Sparse
from chunk_assets.embedders.sparse_rows import flat, row_of
from chunk_assets.errors import ConfigurationError
from chunk_assets.pipeline import RunOptions, Session, run_sources
from chunk_assets.pipeline.pruning import prune
from chunk_assets.plan import Plan, make_plan
from chunk_assets.text.contexts import embedder_text
from chunk_assets.verify import verify
from tests.embedders.tiny_splade import WORDS, save_model

PLAIN = """
embedder: {name: hash, dimension: 16}
workers: 1
sources:
  docs: {path: docs, policy: short}
policies:
  short: [{strategy: recursive, parameters: {max_chars: 40, overlap_chars: 0, min_tokens: 0}}]
"""
WITH = PLAIN + "sparse_embedder: {name: splade, model_dir: %s, keep: 5}\n"
NOTICE = "The lease ends with notice of ninety days. Rent is due monthly."


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return save_model(tmp_path_factory.mktemp("splade"), words=[*WORDS, "ends", "due"], positions=40)


class Home:
    def __init__(self, path: Path, model: Path, executor: WorkerPool) -> None:
        self.path, self.model, self.executor = path, model, executor
        (path / "docs").mkdir(parents=True)
        self.write("a", NOTICE)
        self.write("b", "# Rent\n\nRent is due. Notice of the lease is thirty days.")
        self.write("c", "Nothing here is known.")

    def write(self, name: str, text: str) -> None:
        (self.path / "docs" / f"{name}.md").write_text(text)

    def run(self, catalog: str):
        (self.path / "sources.yaml").write_text(catalog % self.model if "%s" in catalog else catalog)
        session = Session(load_catalog(self.path), RunOptions(workers=1, executor=self.executor))
        try:
            report = run_sources(session.catalog, session=session)
        finally:
            session.close()
        for error in report.errors:
            raise error
        return report

    def plan(self, catalog: str) -> Plan:
        (self.path / "sources.yaml").write_text(catalog % self.model if "%s" in catalog else catalog)
        return make_plan(load_catalog(self.path), options=RunOptions(workers=1, executor=self.executor))

    @property
    def file(self) -> Path:
        (found,) = (self.path / "tables/embeddings").rglob("*.parquet")
        return found

    def rows(self) -> list[dict]:
        with pq.ParquetFile(self.file) as file:
            return file.read().to_pylist()

    def texts(self) -> dict[str, str]:
        (found,) = (self.path / "tables/chunks").rglob("*.parquet")
        with pq.ParquetFile(found) as file:
            return {r["chunk_id"]: embedder_text(r["context"], r["text"]) for r in file.read().to_pylist()}


@pytest.fixture(scope="module")
def executor() -> Iterator[WorkerPool]:
    with WorkerPool(1) as pool:
        yield pool


@pytest.fixture
def home(tmp_path, model, executor) -> Home:
    return Home(tmp_path / "home", model, executor)


def test_without_a_sparse_model_the_table_has_no_such_column(home):
    home.run(PLAIN)
    schema = pq.read_schema(home.file)
    assert "sparse" not in schema.names
    assert not any(name.startswith(b"sparse") for name in schema.metadata)


def test_each_chunk_has_the_weights_of_the_model_beside_its_vector(home, model):
    home.run(WITH)
    splade = load_sparse_embedder("splade", model_dir=str(model), keep=5).embedder
    texts, rows = home.texts(), home.rows()
    assert len(rows) == len(texts) > 3
    for row in rows:
        (expected,) = splade.embed([texts[row["chunk_id"]]])
        assert [pair["index"] for pair in row["sparse"]] == expected.sparse.indices.tolist()
        assert [pair["value"] for pair in row["sparse"]] == expected.sparse.weights.tolist()
        assert len(row["vector"]) == 16
    facts = pq.read_schema(home.file).metadata
    assert facts[b"sparse_model_revision"].decode() == splade.card.revision
    assert facts[b"sparse_dimension"] == b"10"


def test_a_model_added_later_embeds_no_dense_text_again_and_moves_no_dense_byte(home):
    home.run(PLAIN)
    before = {row["chunk_id"]: row["vector"] for row in home.rows()}
    assert not home.plan(PLAIN).reasons
    planned = home.plan(WITH)
    assert planned.total("texts_to_embed") == 0
    assert planned.total("sparse_texts_to_embed") == len(before)
    assert planned.reasons == {"model_changed": 3}
    report = home.run(WITH)
    assert not home.plan(WITH).reasons
    assert report.embedded == 0
    assert sum(stage.sparse_texts for batch in report.batches for stage in batch.stages) == len(before)
    assert {row["chunk_id"]: row["vector"] for row in home.rows()} == before
    home.run(PLAIN)
    assert "sparse" not in pq.read_schema(home.file).names


def test_only_new_texts_go_to_the_sparse_model_and_equal_runs_give_equal_bytes(
    home, tmp_path, model, executor
):
    home.run(WITH)
    home.write("d", "Rent and lease.")
    report = home.run(WITH)
    assert sum(stage.sparse_texts for batch in report.batches for stage in batch.stages) == 1
    other = Home(tmp_path / "other", model, executor)
    other.write("d", "Rent and lease.")
    other.run(WITH)
    assert other.file.read_bytes() == home.file.read_bytes()


def test_a_text_that_comes_back_is_not_sent_again(home):
    home.run(WITH)
    before = home.rows()
    home.write("b", "Rent is due. Notice of the lease is forty days.")
    home.run(WITH)
    home.write("b", "# Rent\n\nRent is due. Notice of the lease is thirty days.")
    report = home.run(WITH)
    assert sum(stage.sparse_texts for batch in report.batches for stage in batch.stages) == 0
    assert home.rows() == before


def test_a_lost_store_is_filled_from_the_published_table(home):
    home.run(WITH)
    for path in (home.path / "vectors").rglob("*.vectors"):
        path.unlink()
    home.write("d", "Rent and lease.")
    report = home.run(WITH)
    assert sum(stage.sparse_texts for batch in report.batches for stage in batch.stages) == 1
    assert all(row["sparse"] is not None for row in home.rows())


def test_another_number_of_weights_is_another_model(home):
    home.run(WITH)
    before = home.rows()
    home.run(WITH.replace("keep: 5", "keep: 2"))
    after = home.rows()
    assert max(len(row["sparse"]) for row in before) > 2
    assert {len(row["sparse"]) for row in after} == {2}


def test_a_text_the_sparse_model_can_not_read_has_a_null_and_keeps_its_vector(home, tmp_path, caplog):
    home.model = save_model(tmp_path / "short", positions=8)
    with caplog.at_level(logging.WARNING):
        home.run(WITH)
    rows = {row["chunk_id"]: row for row in home.rows()}
    assert any(row["sparse"] is None for row in rows.values())
    assert any(row["sparse"] for row in rows.values())
    assert all(row["vector"] for row in rows.values())
    assert "without a sparse vector: over 8 tokens" in caplog.text


def test_pruning_keeps_the_sparse_vectors_in_use_and_drops_the_others(home):
    home.run(WITH)
    in_use = len({row["input_sha256"] for row in home.rows()})
    home.write("a", "Rent.")
    home.run(WITH)
    report = prune(home.path)
    assert len(report.models) == 2
    assert {pruned.dropped for pruned in report.models.values()} == {2}
    assert {pruned.kept for pruned in report.models.values()} == {in_use - 1}
    assert verify(load_catalog(home.path)) == []


def test_a_dense_model_is_no_sparse_one(home):
    with pytest.raises(ConfigurationError, match="'static' makes dense vectors; sparse ones: splade"):
        home.run(PLAIN + "sparse_embedder: {name: static}\n")
    with pytest.raises(ConfigurationError, match="unknown embedder 'splad'; known: "):
        home.run(PLAIN + "sparse_embedder: {name: splad}\n")


def test_rows_hold_every_sparse_vector_exactly():
    source = np.random.default_rng(3)
    vectors = [Sparse(np.empty(0, np.int32), np.empty(0, np.float32))]
    for count in (1, 3, 8):
        indices = np.sort(source.choice(2**24 - 1, count, replace=False)).astype(np.int32)
        vectors.append(Sparse(indices, source.random(count, np.float32) + np.float32(1e-6)))
    counts, indices, weights = flat(np.stack([row_of(vector, 8) for vector in vectors]))
    assert counts.tolist() == [0, 1, 3, 8]
    np.testing.assert_array_equal(indices, np.concatenate([vector.indices for vector in vectors]))
    np.testing.assert_array_equal(weights, np.concatenate([vector.weights for vector in vectors]))
    with pytest.raises(ValueError, match="8 weights, at most 4"):
        row_of(vectors[-1], 4)
