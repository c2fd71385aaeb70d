"""What a question finds: scores, filters, joined passages, budgets, words."""

from __future__ import annotations

import numpy as np
import pytest

from chunk_assets.embedders import ordered
from chunk_assets.errors import ConfigurationError
from chunk_assets.search import MODES, open_index
from chunk_assets.search.passages import highlight
from chunk_assets.search.ranking import best, fused
from chunk_assets.search.words import words_of
from tests.search.conftest import QUESTION
from tests.small_home import chunk_rows, many_rows, write_home


@pytest.mark.parametrize("mode", MODES)
def test_the_passage_that_answers_comes_first_with_all_that_a_reader_needs(index, mode):
    hit = index.search(QUESTION, k=1, mode=mode, join=False)[0]
    assert hit.chunk_id == "lease_chunk_0001"
    assert (hit.document_id, hit.source) == ("lease", "contracts")
    assert hit.pages == (1, 2)
    assert hit.heading_path == ("Lease", "Termination")
    assert hit.payload["company"] == "Acme"
    assert hit.payload["desk"] == "north"
    marked = hit.text[hit.highlight.start : hit.highlight.end]
    assert marked == "The lease may be ended with a notice period of ninety days."


def test_dense_scores_are_the_exact_cosines_in_order(index, static):
    query = static.embed_query(QUESTION).astype(np.float64)
    vectors = np.concatenate([segment.vectors for segment in index.rows.segments])
    cosines = vectors.astype(np.float64) @ query
    ranked = index.ranked(QUESTION, len(index), "dense")
    assert [row for row, _ in ranked] == list(np.argsort(-cosines, kind="stable"))
    np.testing.assert_allclose([score for _, score in ranked], np.sort(cosines)[::-1], atol=1e-6)


def test_bm25_finds_only_rows_with_a_word_of_the_query(index):
    assert [h.chunk_id for h in index.search("Rotterdam flood", mode="bm25")] == ["notes_chunk_0003"]
    assert index.search("zyzzyva", mode="bm25") == []


def test_context_is_searched_as_well_as_text(index):
    hits = index.search("termination", mode="bm25", join=False)
    assert [hit.chunk_id for hit in hits] == ["lease_chunk_0001"]


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        ({"company": "Acme"}, {"lease"}),
        ({"company": ["Acme", "Other"]}, {"lease", "notes"}),
        ({"tags": "legal"}, {"lease"}),
        ({"desk": "south"}, {"notes"}),
        ({"filing_date": ">=2024-01-01"}, {"lease"}),
        ({"filing_date": "<2024-01-01"}, {"notes"}),
        ({"filing_date": "2024-03-01", "company": "Other"}, set()),
        ({"company": "acme"}, set()),
    ],
)
def test_filters_leave_only_what_they_name(index, filters, documents):
    for mode in MODES:
        found = {
            hit.document_id for hit in index.search("lease warehouse days", k=20, mode=mode, filters=filters)
        }
        assert found == documents


def test_an_unknown_filter_names_the_known_ones(index):
    with pytest.raises(ConfigurationError, match=r"unknown filter 'colour'; known: .*company.*desk"):
        index.search("x", filters={"colour": "red"})


def test_an_unknown_mode_names_the_known_ones(index):
    with pytest.raises(ConfigurationError, match="unknown mode 'magic'; known: bm25, dense, hybrid, sparse"):
        index.search("x", mode="magic")


def overlapping(tmp_path, static):
    text = "Alpha one. Bravo two. Charlie three. Delta four. Echo five."
    spans = [(0, 21), (11, 36), (22, 48), (49, 59)]
    rows = chunk_rows("d", [{"text": text[a:b], "start_char": a} for a, b in spans])
    return text, open_index(write_home(tmp_path, {("s", "0"): rows}, static))


def test_chunks_that_touch_are_joined_and_their_overlap_is_said_once(tmp_path, static):
    text, index = overlapping(tmp_path, static)
    hits = index.search("bravo charlie", mode="bm25", k=5)
    assert [hit.text for hit in hits] == ["Alpha one. Bravo two. Charlie three. Delta four."]
    assert text[hits[0].start_char : hits[0].end_char] == hits[0].text
    assert hits[0].chunk_ids == ("d_chunk_0000", "d_chunk_0001", "d_chunk_0002")
    assert hits[0].chunk_id == "d_chunk_0001"


def test_unjoined_hits_say_no_character_twice(tmp_path, static):
    text, index = overlapping(tmp_path, static)
    hits = index.search("bravo charlie", mode="bm25", k=5, join=False)
    assert [hit.text for hit in hits] == ["Bravo two. Charlie three.", "Alpha one. ", " Delta four."]
    assert all(text[hit.start_char : hit.end_char] == hit.text for hit in hits)


def test_neighbours_are_added_on_both_sides_but_not_across_documents(tmp_path, static):
    _, index = overlapping(tmp_path, static)
    (hit,) = index.search("echo", mode="bm25", neighbours=1)
    assert hit.chunk_ids == ("d_chunk_0002", "d_chunk_0003")
    assert hit.text == "Charlie three. Delta four.\n\nEcho five."


def test_a_budget_of_tokens_is_never_exceeded_and_fills_up(index):
    for budget in (5, 12, 25, 60):
        hits = index.search("notice period days lease", k=50, mode="hybrid", budget=budget)
        assert sum(hit.tokens for hit in hits) <= budget
    assert sum(hit.tokens for hit in index.search("days", k=50, budget=40)) > 20


def test_equal_scores_are_ordered_by_chunk_id():
    def names(rows):
        return ["dacb"[row] for row in rows]

    scores = np.array([1.0, 1.0, 2.0, 1.0])
    assert best(scores, names, 3, None).tolist() == [2, 1, 3]
    assert best(scores, names, 2, np.array([True, True, False, True])).tolist() == [1, 3]
    assert [row for row, _ in fused({"a": [0, 1], "b": [1, 0]}, names)] == [1, 0]


def test_words_of_batches_put_together_score_as_bm25s_scores_them_whole(tmp_path, static):
    import bm25s

    rows = many_rows(6, 5)
    rows[3]["text"] = "!!!"
    home = write_home(tmp_path, {("s", str(i)): rows[i::3] for i in range(3)}, static)
    index = open_index(home)
    texts = [row["text"] for row in index.rows.table.select(["text"]).to_pylist()]
    whole = bm25s.BM25(method="lucene")
    whole.index([words_of(text) for text in texts], show_progress=False)
    for question in ("dividend days lease", "notice notice period", "item 3"):
        wanted = dict(enumerate(whole.get_scores(words_of(question))))
        found = dict(index.ranked(question, len(texts), "bm25"))
        assert found == pytest.approx({row: score for row, score in wanted.items() if score > 0}, rel=1e-5)


def test_sparse_scores_are_the_products_of_the_weights(index, splade):
    query = splade.embed_query(QUESTION)
    texts = [f"{row['context']}\n{row['text']}" for row in index.rows.records(range(len(index)))]
    wanted = {}
    for row, answer in enumerate(ordered(splade.embed(texts), len(texts))):
        wanted[row] = float(query[answer.sparse.indices] @ answer.sparse.weights)
    found = dict(index.ranked(QUESTION, len(index), "sparse"))
    assert found == pytest.approx({row: score for row, score in wanted.items() if score > 0}, rel=1e-5)


def test_learned_weights_find_kin_of_a_word_that_is_nowhere_in_the_texts(index):
    assert index.search("water", mode="bm25") == []
    assert index.search("water", k=1, mode="sparse", join=False)[0].chunk_id == "notes_chunk_0003"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Policies of Buses", ["policy", "buse"]),
        ("4.1 million, 1,234.50 and 10-K", ["4.1", "million", "1,234.50", "10", "k"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("gas glass status lenses", ["gas", "glass", "status", "lense"]),
        ("", []),
    ],
)
def test_words_are_the_same_for_passages_and_queries(text, words):
    assert words_of(text) == words


def test_the_highlight_of_a_text_without_the_words_is_its_first_sentence():
    assert highlight("  One here. Two there.", frozenset({"zebra"})).start == 2
    assert highlight("", frozenset()).end == 0
