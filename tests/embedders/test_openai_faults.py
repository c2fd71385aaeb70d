"""Faults of an OpenAI-compatible provider: throttling, refusals, outages, and what is sent again."""

from __future__ import annotations

import logging
import time
from collections import Counter
from typing import Any

import pytest

from chunk_assets.embedders import ordered
from chunk_assets.embedders.remote import retry_after
from chunk_assets.errors import ConfigurationError, Retry
from tests.embedders.provider_cases import assert_all_right, texts


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


def test_a_query_that_gets_no_answer_says_so(remote, provider, key):
    provider.fault = lambda n, _: (500, {}, "oops")
    embedder = remote(provider, attempts=2)
    with pytest.raises(Retry, match="HTTP 500"):
        embedder.embed_query("a")


def test_closing_early_stops_sending_at_once(remote, provider, key):
    provider.fault = lambda n, _: (429, {"Retry-After": "600"}, "") if n else None
    embedder = remote(provider, concurrency=2)
    results = embedder.embed(texts(400))
    next(results)
    time.sleep(0.1)
    began = time.monotonic()
    results.close()
    assert time.monotonic() - began < 5


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
