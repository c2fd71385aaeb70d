"""What the tables give a search: sources, batches, changes, models, missing vectors."""

from __future__ import annotations

from collections import Counter

import pytest

from chunk_assets.embedders import load_embedder
from chunk_assets.errors import ConfigurationError
from chunk_assets.search import MODES, open_index
from tests.embedders.tiny_splade import save_lexical_model
from tests.small_home import TOPICS, many_rows, write_home


def test_a_source_is_searched_alone_or_with_the_others(home, splade):
    index = open_index(home, sparse_embedder=splade)
    assert {hit.source for hit in index.search("notice period lease", k=30)} == {
        "contracts",
        "memos",
    }
    with pytest.raises(ConfigurationError, match=r"source 'nope'; known: contracts, memos"):
        open_index(home, "nope")


def test_a_source_without_chunks_finds_nothing(tmp_path, static, splade):
    index = open_index(write_home(tmp_path, {("s", "0"): []}, static, sparse=splade), sparse_embedder=splade)
    assert all(index.search("lease", mode=mode, filters={"company": "x"}) == [] for mode in MODES)


def test_an_empty_home_says_what_to_do(tmp_path):
    with pytest.raises(ConfigurationError, match="run first"):
        open_index(tmp_path)


def test_the_same_question_gets_the_same_answer_whatever_the_order_of_batches(tmp_path, static, splade):
    rows = many_rows(6, 8)
    first = {("s", str(i)): [row for row in rows if int(row["document_id"][-1]) % 2 == i] for i in (0, 1)}
    two = {("s", "9"): rows[::-1]}
    one, two = (
        open_index(write_home(tmp_path / name, batches, static, sparse=splade), sparse_embedder=splade)
        for name, batches in (("one", first), ("two", two))
    )
    for mode in MODES:
        assert one.search("dividend days", k=9, mode=mode) == two.search("dividend days", k=9, mode=mode)


def test_changed_tables_are_seen_and_an_unchanged_home_is_not_read_again(tmp_path, static):
    rows = many_rows(2, 4)
    home = write_home(tmp_path, {("s", "0"): rows}, static)
    key = open_index(home).rows.key
    assert open_index(home).rows.key == key
    write_home(home, {("s", "0"): rows[:4]}, static)
    assert len(open_index(home)) == 4


def test_only_the_batch_that_changed_is_read_again(tmp_path, static):
    rows = many_rows(6, 4)
    batches = {("s", str(i)): rows[8 * i : 8 * i + 8] for i in range(3)}
    home = write_home(tmp_path, batches, static)
    open_index(home).search("dividend", mode="bm25")

    def segments() -> set[str]:
        return {path.parent.name for path in (home / "state/search").glob("*/rows.arrow")}

    before = segments()
    write_home(home, {("s", "1"): rows[8:12]}, static)
    index = open_index(home)
    assert len(index) == 20
    assert len(segments() - before) == 1
    assert {hit.document_id for hit in index.search("dividend", mode="bm25", k=9)} == {
        row["document_id"] for row in (*rows[:12], *rows[16:]) if "dividend" in row["text"]
    }
    (home / "tables/chunks/source=s/slice=2/part-0.parquet").unlink()
    open_index(home)
    assert len(segments()) == 3


def test_hybrid_fuses_the_learned_weights_where_the_tables_have_them(index, home, tmp_path, static):
    assert index.fused == ("dense", "bm25", "sparse")
    plain = open_index(write_home(tmp_path, {("s", "0"): many_rows(1, 4)}, static))
    assert plain.fused == ("dense", "bm25")
    with pytest.raises(ConfigurationError, match=r"have no sparse vectors.*sparse_embedder"):
        plain.search("water", mode="sparse")
    with pytest.raises(ConfigurationError, match=r"sparse vectors are by .*give its embedder"):
        open_index(home).search("water", mode="sparse")


def test_batches_of_which_some_have_no_sparse_vectors_yet_are_searched_without(tmp_path, static, splade):
    rows = many_rows(2, 4)
    write_home(tmp_path, {("s", "0"): rows[:4]}, static, sparse=splade)
    index = open_index(write_home(tmp_path, {("s", "1"): rows[4:]}, static))
    assert index.fused == ("dense", "bm25")
    assert len(index.search("lease", k=8, join=False)) == 8


def test_another_sparse_model_than_the_tables_is_refused(home, tmp_path, splade):
    other = load_embedder("splade", model_dir=str(save_lexical_model(tmp_path / "other", ["a", "b"])))
    with pytest.raises(ConfigurationError, match="its sparse_"):
        open_index(home, sparse_embedder=other)


def test_old_copies_do_not_pile_up(tmp_path, static):
    for count in range(1, 8):
        open_index(write_home(tmp_path, {("s", "0"): many_rows(count, 2)}, static)).search(
            "days", mode="bm25"
        )
    kinds = Counter(path.name.partition("-")[0] for path in (tmp_path / "state" / "search").iterdir())
    assert sorted(kinds.values()) == [2, 4]


def test_vectors_of_two_models_are_not_compared(tmp_path, static):
    write_home(tmp_path, {("a", "0"): many_rows(1, 2)}, static, "m1")
    write_home(tmp_path, {("b", "0"): many_rows(1, 2)}, static, "m2")
    with pytest.raises(ConfigurationError, match="one source at a time"):
        open_index(tmp_path)
    assert len(open_index(tmp_path, "a")) == 2


def test_an_embedder_other_than_the_tables_is_refused(home):
    with pytest.raises(ConfigurationError, match="model_id is"):
        open_index(home, embedder=load_embedder("hash", dimension=256))


def test_the_embedder_is_found_by_what_the_tables_say(tmp_path):
    hashed = load_embedder("hash", dimension=12)
    index = open_index(write_home(tmp_path, {("s", "0"): many_rows(1, 8)}, hashed))
    exact = f"{TOPICS[3]} Item 0 3."
    assert index.search(exact, k=1, mode="dense", join=False)[0].text == exact


def test_a_chunk_without_a_vector_is_still_found_by_its_words(tmp_path, static):
    home = write_home(tmp_path, {("s", "0"): many_rows(1, 8)}, static)
    (home / "tables/embeddings/source=s/slice=0/part-0.parquet").unlink()
    index = open_index(home)
    assert index.search("Rotterdam", k=1, mode="bm25", join=False)[0].chunk_id == "doc_000_chunk_0004"
    with pytest.raises(ConfigurationError, match="no vectors yet"):
        index.search("Rotterdam", mode="dense")
