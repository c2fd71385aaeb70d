"""Token counts: equal to the reference for every part of any text, from one pass."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import BGE, NAMES, PIECES, SLOW, SURROGATE, TEXTS, engine, reference, spans_of

from chunk_assets.text import graphemes, tokens, vocabularies
from chunk_assets.text.static_embedding import static_vectors
from chunk_assets.text.tokens import bpe, engines, index, windows
from chunk_assets.text.tokens.borders import byte_pair, isolated
from chunk_assets.text.tokens.wordpiece import WordPieceCounter

MEGABYTE = 1_000_000


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS, data=st.data())
@SLOW
def test_every_part_has_the_count_that_the_reference_gives_it_alone(
    name: str, text: str, data: st.DataObject
) -> None:
    counter, count = tokens.counter(name), reference(name)
    indexed = counter.index(text)
    assert indexed.total == counter.count(text) == count(text)
    starts, ends = spans_of(text, data)
    expected = [count(text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    assert indexed.counts(starts, ends).tolist() == expected
    assert [indexed.count(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)] == expected


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS.filter(bool), data=st.data(), most=st.integers(1, 60))
@SLOW
def test_furthest_fits_ends_at_a_grapheme_and_always_moves_on(
    name: str, text: str, data: st.DataObject, most: int
) -> None:
    indexed = tokens.counter(name).index(text)
    start = graphemes.safe_cut(text, data.draw(st.integers(0, len(text) - 1)))
    end = indexed.furthest(start, most)
    assert start < end <= len(text)
    assert graphemes.is_boundary(text, end)
    assert indexed.count(start, end) <= most or end == graphemes.next_cut(text, start)


@pytest.mark.parametrize("name", NAMES)
def test_furthest_leaves_no_room_for_another_word(name: str) -> None:
    text = "A plain line of words, 12 of them or so, and then one more. " * 50
    indexed = tokens.counter(name).index(text)
    for start in range(0, 600, 7):
        end = indexed.furthest(start, 100)
        assert 98 <= indexed.count(start, end) <= 100


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@given(text=st.lists(st.tuples(PIECES, st.integers(1, 30)), max_size=12), data=st.data())
@SLOW
def test_long_runs_are_counted_in_pieces_from_where_they_begin(
    name: str, text: list[tuple[str, int]], data: st.DataObject
) -> None:
    limit, joined = 24, "".join(piece[:8] * times for piece, times in text)
    encode = vocabularies.reference_encoding(name).encode_ordinary

    def by_pieces(part: str) -> int:
        edges = [0, *(np.flatnonzero(byte_pair().mask(part)) + 1).tolist(), len(part)] if part else [0]
        clean = SURROGATE.sub("\ufffd", part)
        runs = itertools.pairwise(edges)
        return sum(len(encode(clean[at : min(at + limit, b)])) for a, b in runs for at in range(a, b, limit))

    with pytest.MonkeyPatch.context() as patch:
        for module, setting, value in (
            (bpe, "LIMIT", limit),
            (bpe, "_HALF", limit // 2),
            (bpe, "_BLOCK", 60),
            (index, "_SHORT", 8),
            (windows, "_WIDE", 20),
        ):
            patch.setattr(module, setting, value)
        indexed = bpe.BytePairCounter(name, engine(name)).index(joined)
        assert indexed.total == by_pieces(joined)
        starts, ends = spans_of(joined, data)
        expected = [by_pieces(joined[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        assert indexed.counts(starts, ends).tolist() == expected


@pytest.mark.parametrize("name", NAMES)
def test_text_that_spells_a_special_token_is_text(name: str) -> None:
    counter = tokens.counter(name)
    assert counter.count("<|endoftext|>") > 1
    assert counter.count("[SEP]") > 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "unit", ["x", "ab", " ", "\n", "-", "本語日", "😀", "QUJDREVG", "a1", "\u200b", "e\u0301"], ids=repr
)
def test_a_megabyte_without_borders_takes_linear_time(name: str, unit: str) -> None:
    text = unit * (MEGABYTE // len(unit) if unit.isascii() else 300_000 // len(unit))
    counter = tokens.counter(name)
    began = time.process_time()
    indexed = counter.index(text)
    at, cuts = 0, 0
    while at < len(text) and cuts < 300:
        end = indexed.furthest(at, 500)
        assert indexed.count(at, end) <= 500
        at, cuts = end, cuts + 1
    assert time.process_time() - began < 5


def test_the_pass_is_the_same_over_a_slow_engine() -> None:
    text = "Plain words, 1234 numbers and 漢字かな交じり文。 " * 200 + "-" * 9_000 + "z" * 9_000
    fast = tokens.counter("o200k_base").index(text)
    slow = bpe.BytePairCounter("o200k_base", engines.tiktoken_engine("o200k_base")).index(text)
    at = np.arange(0, len(text) - 700, 331)
    assert fast.counts(at, at + 700).tolist() == slow.counts(at, at + 700).tolist()


def test_word_borders_are_those_of_the_reference_for_every_character() -> None:
    counter = tokens.counter(BGE)
    assert isinstance(counter, WordPieceCounter)
    normalize, split = counter._engine.normalizer, counter._engine.pre_tokenizer
    kinds = isolated()
    # Ideographs by the tens of thousands are told by ranges, so every hundredth will do.
    chosen = [
        code
        for code in np.flatnonzero(kinds).tolist()
        if code < 0x3400 or code % 100 == 0 or kinds[code - 1] == 0
    ]
    for code in chosen:
        words = split.pre_tokenize_str(normalize.normalize_str(f"a{chr(code)}b"))
        assert len(words) == (2 if kinds[code] == 1 else 3), hex(code)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=8))
def test_many_texts_at_once_have_the_counts_of_each_alone(texts: list[str]) -> None:
    counter = tokens.counter(BGE)
    assert counter.count_many(texts) == [counter.count(text) for text in texts]


def test_a_lone_surrogate_has_a_vector_and_changes_no_others() -> None:
    before = static_vectors(["plain words stay"])
    assert static_vectors(["odd \ud800 text", "newly met nouns"]).any(axis=1).all()
    assert (static_vectors(["plain words stay"]) == before).all()
