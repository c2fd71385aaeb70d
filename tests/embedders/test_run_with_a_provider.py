"""A whole run against a provider on loopback: what it cost is in the summary and in Dagster."""

from __future__ import annotations

import dagster as dg
import pytest

from chunk_assets.defs.home import open_instance
from tests.doors.conftest import call, run
from tests.embedders.tiny_splade import WORDS, save_model

CATALOG = """
embedder:
  name: openai_compatible
  model: small
  base_url: %s
  api_key_env: TEST_PROVIDER_KEY
  dimension: 8
  max_tokens: 200
  price_per_million_tokens: 1000
  batch_items: 2
  concurrency: 1
sparse_embedder: {name: splade, model_dir: %s}
workers: 1
policies:
  short: [{strategy: recursive, parameters: {max_chars: 60, overlap_chars: 0, min_tokens: 0}}]
policy: short
sources:
  docs: {path: docs}
"""


def make_home(path, provider, model):
    (path / "docs").mkdir(parents=True)
    (path / "sources.yaml").write_text(CATALOG % (provider.url, model))
    text = "\n\n".join(f"Lease number {n} ends with notice of ninety days." for n in range(6))
    (path / "docs/a.md").write_text(text)
    return path


def test_what_a_provider_was_asked_and_what_it_cost_is_said_at_the_end(provider, key, tmp_path):
    home = make_home(tmp_path / "home", provider, save_model(tmp_path / "splade", words=WORDS, positions=60))
    provider.fault = lambda n, _: (429, {"Retry-After": "0.2"}, "") if n == 1 else None
    done = run(home)
    assert done.code == 0, done.err
    spent = done.json["provider"]
    texts = len(provider.succeeded)
    assert (spent["requests"], spent["throttled"], spent["retries"]) == (len(provider.requests), 1, 1)
    assert spent["texts"] == done.json["embedded"] == done.json["sparse"] == texts
    assert spent["tokens"] == 3 * texts
    assert spent["price (USD)"] == pytest.approx(3 * texts / 1000)
    assert 0.2 <= spent["paused_seconds"] < 2
    assert key not in done.out + done.err
    with open_instance(home) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey(["docs", "embeddings"]))
        metadata = event.asset_materialization.metadata
    assert metadata["provider: throttled"].value == 1
    assert metadata["provider: price (USD)"].value == pytest.approx(3 * texts / 1000)
    assert metadata["texts embedded sparsely"].value == texts
    (home / "docs/b.md").write_text("Rent is due.")
    shown = call("run", "--home", str(home)).out
    again = " ".join(shown.replace("│", " ").split())
    assert (
        "provider 1 requests, 0 throttled (0.0 s paused), 0 sent again; 3 tokens billed; 0.0030 USD" in again
    )
