"""The measures against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunk_assets.evaluation import measures
from chunk_assets.evaluation.bootstrap import mean_interval, paired_interval
from chunk_assets.evaluation.budget import gaps, read, token_map
from chunk_assets.evaluation.intervals import intersection, intervals, size
from chunk_assets.evaluation.scoring import score

TRUTH = intervals([(10, 20), (40, 50)])


def count(texts: list[str]) -> list[int]:
    """One token a word of up to four letters, else one for each four begun; two special ones."""
    return [2 + sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def test_recall_is_the_share_of_truth_that_is_covered() -> None:
    assert measures.recall(TRUTH, intervals([(0, 15)])) == 0.25
    assert measures.recall(TRUTH, intervals([(0, 15), (12, 45)])) == 0.75
    assert measures.recall(TRUTH, intervals([])) == 0.0


def test_precision_and_iou_count_overlapping_chunks_as_often_as_they_were_retrieved() -> None:
    chunks = [(0, 20), (10, 30)]  # 40 characters read, 10 of them truth
    assert measures.precision(TRUTH, chunks) == 10 / 40
    assert measures.iou(TRUTH, chunks) == 10 / (20 + 40 - 10)


def test_precision_omega_retrieves_exactly_the_chunks_that_touch_the_truth() -> None:
    chunks = [(0, 12), (12, 30), (30, 40), (40, 60)]
    assert measures.precision_omega(TRUTH, chunks) == 20 / (12 + 18 + 20)


def test_a_hit_needs_a_whole_truth_span_in_one_chunk() -> None:
    found = score(
        [[(10, 20)]], [(0, 15), (15, 30), (5, 25)], [(0, 15), (5, 25), (15, 30)], token_map("w " * 40, count)
    )
    assert (found["hit@1"], found["hit@3"], found["mrr"]) == (0.0, 1.0, 1 / 3)
    assert found["whole_spans"] == 1.0


def test_of_alternative_truths_the_better_counts() -> None:
    tokens = token_map("word " * 40, count)
    one = score([[(0, 10)]], [(50, 60)], [(0, 10), (50, 60)], tokens)
    either = score([[(0, 10)], [(50, 60)]], [(50, 60)], [(0, 10), (50, 60)], tokens)
    assert (one["recall@1"], either["recall@1"]) == (0.0, 1.0)


def test_a_budget_reads_as_far_as_it_goes_and_repeats_are_free() -> None:
    text = "aaaa bbbb cccc dddd eeee ffff"
    tokens = token_map(text, count)
    assert read([(0, 14), (5, 19), (20, 29)], tokens, 5) == [(0, 14), (14, 19), (20, 24)]
    assert read([(0, 14), (0, 14), (0, 14)], tokens, 100) == [(0, 14)]


def test_a_budget_of_less_than_the_first_word_reads_nothing() -> None:
    assert read([(0, 12)], token_map("aaaabbbbcccc", count), 2) == [(0, 0)]


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=8),
    st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_gaps_and_known_parts_tile_a_span(known: list[tuple[int, int]], span: tuple[int, int]) -> None:
    covered = [(a, b) for a, b in intervals(known).tolist()]
    wanted = set(range(*span))
    have = {i for a, b in covered for i in range(a, b)}
    found = [i for a, b in gaps(span, covered) for i in range(a, b)]
    assert sorted(found) == sorted(wanted - have)


@given(*[st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=6)] * 2)
def test_intervals_behave_like_sets_of_characters(
    one: list[tuple[int, int]], two: list[tuple[int, int]]
) -> None:
    a, b = ({i for s, e in spans for i in range(s, e)} for spans in (one, two))
    assert size(intervals(one)) == len(a)
    assert size(intersection(intervals(one), intervals(two))) == len(a & b)


def test_word_counts_add_up_to_the_tokens_of_the_whole_text() -> None:
    text = "Some words, and a considerably longer one.\n\n| a | table |\n"
    tokens = token_map(text, count)
    assert tokens.tokens(0, len(text)) == count([text])[0] - 2


def test_an_interval_repeats_and_narrows_with_more_questions() -> None:
    few, many = np.tile([0.0, 1.0], 20), np.tile([0.0, 1.0], 200)
    assert mean_interval(few) == mean_interval(few)
    value, low, high = mean_interval(few)
    assert value == 0.5
    assert low < 0.4
    assert high > 0.6
    narrow = mean_interval(many)
    assert narrow[2] - narrow[1] < (high - low) / 2


def test_pairing_sees_a_small_difference_that_single_intervals_do_not() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    theirs = rng.random(200)
    ours = theirs + 0.02 + 0.01 * rng.random(200)
    assert mean_interval(ours)[1] < mean_interval(theirs)[2]  # the single ones overlap
    assert paired_interval(ours, theirs)[1] > 0


def test_pairing_needs_the_same_questions() -> None:
    with pytest.raises(ValueError, match="same questions"):
        paired_interval(np.ones(3), np.ones(4))


def test_no_scores_have_no_mean() -> None:
    assert np.isnan(mean_interval(np.zeros(0))).all()
