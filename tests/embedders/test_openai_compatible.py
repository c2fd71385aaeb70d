from __future__ import annotations

import hashlib
import json
import logging
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from chunk_assets.embedders import load_embedder, ordered
from chunk_assets.embedders.pacing import Pacer
from chunk_assets.embedders.remote import retry_after
from chunk_assets.errors import ConfigurationError, Retry


@pytest.fixture
def remote() -> Iterator[Any]:
    made: list[Any] = []

    def make(provider: Any, **settings: Any) -> Any:
        made.append(load_embedder("openai_compatible", **(defaults(provider) | settings)))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


def defaults(provider: Any) -> dict[str, Any]:
    return {
        "base_url": provider.url,
        "model": "test-model",
        "dimension": 8,
        "max_tokens": 50,
        "api_key_env": "TEST_PROVIDER_KEY",
        "backoff_seconds": 0.002,
        "timeout_seconds": 5,
        "batch_items": 10,
    }


def numbers_of(text: str) -> list[float]:
    """As the test provider answers."""
    return [byte / 100 + 0.5 for byte in hashlib.sha256(text.encode()).digest()[:8]]


def texts(count: int) -> list[str]:
    return [f"text number {i}" for i in range(count)]


def expected(text: str) -> np.ndarray:
    wide = np.array(numbers_of(text))
    return (wide / np.linalg.norm(wide)).astype(np.float32)


def assert_all_right(results: list[Any], sent: list[str]) -> None:
    for result, text in zip(results, sent, strict=True):
        assert result.error == ""
        np.testing.assert_allclose(result.vector, expected(text), atol=1e-6)


def test_every_text_gets_its_own_unit_vector_whatever_the_order_of_the_answer(remote, provider, key):
    sent = texts(57)
    embedder = remote(provider)
    assert_all_right(ordered(embedder.embed(sent), 57), sent)
    assert max(len(request) for request in provider.requests) <= 10
    assert embedder.usage.texts == 57
    assert embedder.usage.tokens == 3 * 57


def test_a_storm_of_throttling_sends_nothing_twice_that_succeeded_and_loses_nothing(remote, provider, key):
    provider.fault = lambda n, _: (429, {"Retry-After": "0.02"}, "slow down") if n % 3 == 2 else None
    sent = texts(4500)
    embedder = remote(provider, batch_items=50, concurrency=4)
    results = ordered(embedder.embed(sent), 4500)
    assert_all_right(results, sent)
    assert Counter(provider.succeeded) == Counter(sent)
    assert embedder.usage.throttled == sum(1 for n in range(len(provider.requests)) if n % 3 == 2)
    assert embedder.usage.requests == len(provider.requests)


def test_a_provider_that_enforces_its_limit_is_used_to_that_limit(remote, provider, key):
    window, allowed = 0.5, 15
    accepted: list[float] = []

    def limited(_: int, batch: list[str]) -> Any:
        now = time.monotonic()
        recent = [at for at in accepted if now - at < window]
        if len(recent) >= allowed:
            return 429, {"Retry-After": f"{window - (now - recent[0]) + 0.001:.3f}"}, "limit"
        accepted.append(now)
        return None

    provider.fault = limited
    sent = texts(4500)
    embedder = remote(provider, batch_items=50, concurrency=4)
    began = time.monotonic()
    assert_all_right(ordered(embedder.embed(sent), 4500), sent)
    bound = (90 / allowed - 1) * window
    assert bound <= time.monotonic() - began < 2 * bound + 3
    assert Counter(provider.succeeded) == Counter(sent)
    assert embedder.usage.throttled > 0


def test_a_provider_that_always_says_at_once_is_not_asked_all_the_time(remote, provider, key):
    provider.fault = lambda n, _: (429, {"Retry-After": "0"}, "")
    (answer,) = remote(provider, patience_seconds=2).embed(texts(1))
    assert answer.retryable
    assert "HTTP 429" in answer.error
    assert len(provider.requests) < 25


def test_retries_write_nothing_to_standard_output(remote, provider, key, capfd):
    provider.fault = lambda n, _: (429, {"Retry-After": "0.01"}, "") if n % 2 else (500, {}, "")
    list(remote(provider, attempts=2).embed(texts(1)))
    assert capfd.readouterr().out == ""


def test_the_totals_are_logged(remote, provider, key, caplog):
    caplog.set_level(logging.INFO, logger="chunk_assets")
    provider.fault = lambda n, _: (429, {"Retry-After": "0.01"}, "") if n == 0 else None
    list(remote(provider).embed(texts(20)))
    assert "20 texts in 3 requests (1 throttled, 0 s paused; 1 sent again), 60 tokens" in caplog.text


def test_the_pause_that_the_provider_asks_for_is_kept_by_all_connections(remote, provider, key):
    provider.fault = lambda n, _: (429, {"Retry-After": "0.4"}, "") if n == 0 else None
    sent = texts(80)
    embedder = remote(provider, concurrency=2)
    assert_all_right(ordered(embedder.embed(sent), 80), sent)
    # One request may already be on its way when the first is answered.
    late = [at for at in provider.times if at - provider.times[0] >= 0.4]
    assert len(late) >= len(provider.times) - 2


def test_only_the_bad_text_of_a_batch_is_refused(remote, provider, key):
    def fault(_: int, batch: list[str]) -> Any:
        return (400, {}, '{"error": "bad input"}') if "text number 13" in batch else None

    provider.fault = fault
    sent = texts(100)
    embedder = remote(provider, batch_items=100, concurrency=1)
    results = ordered(embedder.embed(sent), 100)
    refused = [result for result in results if result.error]
    assert [result.index for result in refused] == [13]
    assert "bad input" in refused[0].error
    assert not refused[0].retryable
    assert Counter(provider.succeeded) == Counter(t for t in sent if t != "text number 13")


def test_a_request_that_the_provider_always_refuses_is_reported_as_a_setting(remote, provider, key):
    provider.fault = lambda n, _: (400, {}, "dimensions is not supported")
    embedder = remote(provider)
    with pytest.raises(ConfigurationError, match="dimensions is not supported"):
        list(embedder.embed(texts(100)))
    assert len(provider.requests) < 100


@pytest.mark.parametrize(
    "fault",
    [
        (500, {}, "oops"),
        (503, {"Retry-After": "0.01"}, "busy"),
        (200, {}, "this is not JSON"),
        (200, {}, "[]"),
        (200, {}, '{"data": []}'),
        (200, {}, '{"data": [{"index": 0, "embedding": [NaN, 0, 0, 0, 0, 0, 0, 0]}]}'),
        (200, {}, '{"data": [{"index": 0, "embedding": "?"}]}'),
        (200, {}, "[" * 100_000),
        "drop",
    ],
)
def test_a_passing_fault_costs_no_vector(remote, provider, key, fault):
    provider.fault = lambda n, _: fault if n in {0, 2} else None
    sent = texts(5)
    embedder = remote(provider, batch_items=1, concurrency=2)
    assert_all_right(ordered(embedder.embed(sent), 5), sent)
    assert embedder.usage.retries >= 1
    assert Counter(provider.succeeded) == Counter(sent)


def test_a_server_that_hangs_is_asked_again_after_the_time_out(remote, provider, key):
    provider.fault = lambda n, _: "hang" if n == 0 else None
    sent = texts(3)
    embedder = remote(provider, timeout_seconds=0.3)
    assert_all_right(ordered(embedder.embed(sent), 3), sent)
    assert len(provider.requests) == 2


def test_a_fault_that_stays_is_an_error_that_may_be_sent_again_and_costs_no_neighbour(remote, provider, key):
    provider.fault = lambda n, batch: (500, {}, "oops") if "text number 7" in batch else None
    sent = texts(30)
    embedder = remote(provider, batch_items=1, attempts=3)
    results = ordered(embedder.embed(sent), 30)
    assert [r.index for r in results if r.error] == [7]
    assert results[7].retryable
    assert "HTTP 500" in results[7].error
    assert sum("text number 7" in request for request in provider.requests) == 3


def test_a_provider_that_is_down_is_given_up_soon(remote, provider, key):
    provider.fault = lambda n, _: (502, {}, "bad gateway")
    embedder = remote(provider, batch_items=1, attempts=2, concurrency=2)
    results = ordered(embedder.embed(texts(200)), 200)
    assert all(result.retryable for result in results)
    assert len(provider.requests) <= 10


def test_a_refused_key_stops_the_run_and_keeps_what_came_before(remote, provider, key):
    provider.fault = lambda n, _: (401, {}, f"Incorrect API key provided: {key}") if n == 2 else None
    embedder = remote(provider, concurrency=1)
    got: list[Any] = []
    with pytest.raises(ConfigurationError, match="401") as raised:
        got.extend(embedder.embed(texts(50)))
    assert len(got) == 20
    assert key not in str(raised.value)


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


def test_a_query_that_gets_no_answer_says_so(remote, provider, key):
    provider.fault = lambda n, _: (500, {}, "oops")
    embedder = remote(provider, attempts=2)
    with pytest.raises(Retry, match="HTTP 500"):
        embedder.embed_query("a")


def test_limits_a_minute_are_used_up_but_not_exceeded(remote, provider, key):
    embedder = remote(provider, requests_per_minute=60 / 0.05, batch_items=1, concurrency=8)
    began = time.monotonic()
    list(embedder.embed(texts(20)))
    assert 19 * 0.05 <= time.monotonic() - began < 19 * 0.05 + 1.5


def test_closing_early_stops_sending_at_once(remote, provider, key):
    provider.fault = lambda n, _: (429, {"Retry-After": "600"}, "") if n else None
    embedder = remote(provider, concurrency=2)
    results = embedder.embed(texts(400))
    next(results)
    time.sleep(0.1)
    began = time.monotonic()
    results.close()
    assert time.monotonic() - began < 5


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


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "300", "retry-after": "9"}, 0.3),
        ({"retry-after": "-4"}, 0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_each_of_its_forms(headers, seconds):
    assert retry_after(headers) == seconds


def test_the_token_limit_spreads_requests_by_their_size():
    now = [100.0]
    pacer = Pacer(None, 600, clock=lambda: now[0])
    assert [pacer.reserve(tokens) for tokens in (20, 5, 5)] == [0.0, 2.0, 2.5]
    now[0] = 200.0
    assert pacer.reserve(5) == 0.0
