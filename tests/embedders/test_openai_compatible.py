"""Calls of an OpenAI-compatible provider: requests, keys, limits, answers, settings."""

from __future__ import annotations

import json
import logging
import time
import traceback
from typing import Any

import numpy as np
import pytest

from chunk_assets.embedders import load_embedder, ordered
from chunk_assets.embedders.pacing import Pacer
from chunk_assets.errors import ConfigurationError
from tests.embedders.provider_cases import assert_all_right, expected, numbers_of, texts


def test_every_text_gets_its_own_unit_vector_whatever_the_order_of_the_answer(remote, provider, key):
    sent = texts(57)
    embedder = remote(provider)
    assert_all_right(ordered(embedder.embed(sent), 57), sent)
    assert max(len(request) for request in provider.requests) <= 10
    assert embedder.usage.texts == 57
    assert embedder.usage.tokens == 3 * 57


def test_the_key_is_in_no_log_error_repr_or_card(remote, provider, key, caplog):
    caplog.set_level(logging.DEBUG)
    provider.fault = lambda n, _: (400, {}, f"you sent {key}") if n % 2 else (500, {}, f"trouble with {key}")
    embedder = remote(provider, attempts=3, batch_items=1)
    results = ordered(embedder.embed(texts(4)), 4)
    seen = [repr(results), repr(embedder), repr(vars(embedder)), repr(embedder.card), caplog.text]
    provider.fault = lambda n, _: (403, {}, f"no access for {key}")
    with pytest.raises(ConfigurationError) as raised:
        list(embedder.embed(["one more"]))
    seen.append("".join(traceback.format_exception(raised.value)))
    assert any("***" in text for text in seen)
    assert not any(key in text for text in seen)
    assert provider.headers[0]["authorization"] == f"Bearer {key}"


def test_without_a_key_nothing_is_sent_and_the_variable_is_named(remote, provider, monkeypatch):
    monkeypatch.delenv("TEST_PROVIDER_KEY", raising=False)
    embedder = remote(provider)
    with pytest.raises(ConfigurationError, match="TEST_PROVIDER_KEY"):
        list(embedder.embed(["a"]))
    monkeypatch.setenv("TEST_PROVIDER_KEY", "two\nlines")
    with pytest.raises(ConfigurationError, match="TEST_PROVIDER_KEY") as raised:
        list(embedder.embed(["a"]))
    assert "lines" not in str(raised.value)
    assert provider.requests == []


def test_azure_gets_its_own_header_and_query(remote, provider, key):
    embedder = remote(provider, api_key_header="api-key", query={"api-version": "2024-10-21"})
    list(embedder.embed(["a"]))
    assert provider.headers[0]["api-key"] == key
    assert provider.paths == ["/v1/embeddings?api-version=2024-10-21"]


def test_a_local_server_needs_no_key(remote, provider):
    embedder = remote(provider, api_key_env=None)
    assert_all_right(ordered(embedder.embed(["a"]), 1), ["a"])
    assert "authorization" not in provider.headers[0]


def test_prefixes_are_sent_and_counted(remote, provider, key):
    embedder = remote(provider, query_prefix="query: ", passage_prefix="passage: ")
    assert embedder.count_tokens(["word"])[0] > remote(provider).count_tokens(["word"])[0]
    list(embedder.embed(["word"]))
    query = embedder.embed_query("word")
    assert provider.requests == [["passage: word"], ["query: word"]]
    np.testing.assert_allclose(query, expected("query: word"), atol=1e-6)


def test_batches_are_bounded_by_tokens_and_texts_over_the_limit_are_not_sent(remote, provider, key):
    sent = ["word " * 20, "word " * 60, "word " * 20, "word " * 20]
    embedder = remote(provider, batch_tokens=45, concurrency=1)
    results = ordered(embedder.embed(sent), 4)
    assert [bool(result.error) for result in results] == [False, True, False, False]
    assert "at most 50" in results[1].error
    assert [len(request) for request in provider.requests] == [2, 1]


def test_a_model_of_another_dimension_is_a_wrong_setting(remote, provider, key):
    embedder = remote(provider, dimension=16)
    with pytest.raises(ConfigurationError, match=r"\[8\].*16"):
        list(embedder.embed(["a"]))


def test_limits_a_minute_are_used_up_but_not_exceeded(remote, provider, key):
    embedder = remote(provider, requests_per_minute=60 / 0.05, batch_items=1, concurrency=8)
    began = time.monotonic()
    list(embedder.embed(texts(20)))
    assert 19 * 0.05 <= time.monotonic() - began < 19 * 0.05 + 1.5


def test_answers_in_base64_give_the_same_vectors(remote, provider, key):
    import base64

    def packed(_: int, batch: list[str]) -> Any:
        rows = [np.array(numbers_of(text), dtype="<f4").tobytes() for text in batch]
        data = [{"index": i, "embedding": base64.b64encode(r).decode()} for i, r in enumerate(rows)]
        return 200, {}, json.dumps({"data": data})

    provider.fault = packed
    embedder = remote(provider, encoding_format="base64")
    sent = texts(3)
    assert_all_right(ordered(embedder.embed(sent), 3), sent)
    assert embedder.usage.tokens == sum(embedder.count_tokens(sent))


def test_the_price_follows_the_tokens_billed(remote, provider, key):
    embedder = remote(provider, price_per_million_tokens=10.0)
    list(embedder.embed(texts(4)))
    assert embedder.usage.price == pytest.approx(4 * 3 * 10 / 1_000_000)


def test_hosted_models_are_known_and_others_must_say_their_size():
    assert load_embedder("openai_compatible", model="text-embedding-3-small").card.dimension == 1536
    with pytest.raises(ConfigurationError, match="text-embedding-3-large"):
        load_embedder("openai_compatible", model="mystery")


@pytest.mark.parametrize(
    "url", ["https://user:secret@host/v1", "ftp://host", "nonsense", "https://h/v1?key=secret"]
)
def test_an_address_with_a_secret_in_it_is_refused_without_repeating_it(url):
    with pytest.raises(ConfigurationError) as raised:
        load_embedder("openai_compatible", model="m", dimension=1, max_tokens=1, base_url=url)
    assert "secret" not in str(raised.value)


def test_the_token_limit_spreads_requests_by_their_size():
    now = [100.0]
    pacer = Pacer(None, 600, clock=lambda: now[0])
    assert [pacer.reserve(tokens) for tokens in (20, 5, 5)] == [0.0, 2.0, 2.5]
    now[0] = 200.0
    assert pacer.reserve(5) == 0.0
