from __future__ import annotations

import pickle

import numpy as np
import pytest

from chunk_assets.embedders import EMBEDDERS, load_embedder, ordered, plugin
from chunk_assets.errors import ConfigurationError

LOCAL = {"bge_small": {}, "static": {}, "hash": {"dimension": 16}}
TEXTS = ["one text", "another text, a little longer than the first", "one text", "東京 🙂", "x"]


@pytest.fixture(params=sorted(LOCAL), scope="module")
def embedder(request):
    loaded = load_embedder(request.param, **LOCAL[request.param])
    yield loaded
    loaded.close()


def test_each_text_gets_one_unit_vector_of_the_dimension_on_the_card(embedder):
    results = list(embedder.embed(TEXTS))
    assert sorted(result.index for result in results) == list(range(len(TEXTS)))
    for result in results:
        assert result.error == ""
        assert result.vector.shape == (embedder.card.dimension,)
        assert result.vector.dtype == np.float32
        assert np.linalg.norm(result.vector.astype(np.float64)) == pytest.approx(1, abs=1e-6)


def test_workers_and_neighbours_change_no_bit(embedder):
    once = [r.vector.tobytes() for r in ordered(embedder.embed(TEXTS), len(TEXTS))]
    again = [r.vector.tobytes() for r in ordered(embedder.embed(TEXTS[::-1], workers=3), len(TEXTS))]
    assert once == again[::-1]
    assert once[0] == once[2]


def test_a_text_over_the_limit_is_refused_and_costs_no_neighbour(embedder):
    long = "word " * (embedder.card.max_tokens + 1)
    refused, fine = ordered(embedder.embed([long, "short"]), 2)
    assert refused.vector is None
    assert str(embedder.card.max_tokens) in refused.error
    assert not refused.retryable
    assert fine.vector is not None


def test_no_texts_give_no_vectors(embedder):
    assert list(embedder.embed([])) == []
    assert embedder.count_tokens([]) == []


def test_closing_early_and_using_it_again_both_work(embedder):
    results = embedder.embed(TEXTS * 3, workers=2)
    next(results)
    results.close()
    embedder.close()
    assert embedder.embed_query("still there").shape == (embedder.card.dimension,)


@pytest.mark.parametrize("name", sorted(EMBEDDERS))
def test_the_table_names_the_plug_in_it_points_to(name):
    found = plugin(name)
    assert found.name == name
    assert found.promise


@pytest.mark.parametrize("name", sorted(LOCAL))
def test_the_card_is_known_before_anything_is_loaded_and_can_be_sent_to_a_process(name):
    card = load_embedder(name, **LOCAL[name]).card
    assert card.name == name
    assert pickle.loads(pickle.dumps(card)) == card


def test_an_unknown_embedder_names_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"unknown embedder 'magic'; known: bge_small, "):
        load_embedder("magic")


def test_an_unknown_setting_names_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"'batch'; known: .*model_dir"):
        load_embedder("bge_small", batch=3)


def test_a_value_out_of_range_names_the_setting_but_not_the_value():
    with pytest.raises(ConfigurationError, match="dimension: ") as raised:
        load_embedder("hash", dimension=-77)
    assert "-77" not in str(raised.value)
