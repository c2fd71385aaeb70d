from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from chunk_assets.embedders import load_embedder, ordered
from chunk_assets.errors import ConfigurationError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "lease", "notice", "days", "rent"]


@pytest.fixture
def folder(tmp_path) -> Path:
    """A model folder as the library lays it out, with everything but weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    files = {
        "config.json": {"hidden_size": 8, "max_position_embeddings": 16, "model_type": "bert"},
        "sentence_bert_config.json": {"max_seq_length": 12},
        "modules.json": [{"path": ""}, {"path": "1_Pooling"}],
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    return tmp_path


def test_the_card_is_read_from_the_files_of_the_model(folder):
    card = load_embedder("sentence_transformers", model=str(folder), query_prefix="query: ").card
    assert (card.dimension, card.max_tokens, card.query_prefix) == (8, 12, "query: ")
    assert card.deterministic
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert load_embedder("sentence_transformers", model=str(folder)).card.revision != card.revision


def test_a_last_dense_module_decides_the_dimension(folder):
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense/config.json").write_text(json.dumps({"in_features": 8, "out_features": 3}))
    modules = [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    assert load_embedder("sentence_transformers", model=str(folder)).card.dimension == 3


def test_tokens_are_counted_with_prefix_and_special_tokens_and_long_texts_are_refused(folder):
    embedder = load_embedder("sentence_transformers", model=str(folder), passage_prefix="rent ")
    assert embedder.count_tokens(["lease notice"]) == [5]
    (refused,) = embedder.embed(["lease " * 20])
    assert "23 tokens" in refused.error
    with pytest.raises(ConfigurationError, match="at most 12"):
        embedder.embed_query("lease " * 20)


def test_a_folder_that_is_no_model_says_what_is_missing(tmp_path):
    with pytest.raises(ConfigurationError, match=r"config\.json is missing"):
        load_embedder("sentence_transformers", model=str(tmp_path)).card  # noqa: B018 - asking is the test


def test_without_the_library_the_error_names_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'chunk-assets\[sentence-transformers\]'"):
        list(load_embedder("sentence_transformers", model=str(folder)).embed(["lease"]))


def test_a_real_model_gives_unit_vectors_that_do_not_depend_on_neighbours(tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers with torch")
    transformers = pytest.importorskip("transformers")
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path / "bert")
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    words = library.models.Transformer(str(tmp_path / "bert"), max_seq_length=12)
    pooling = library.models.Pooling(8)
    library.SentenceTransformer(modules=[words, pooling]).save(str(tmp_path / "model"))

    embedder = load_embedder("sentence_transformers", model=str(tmp_path / "model"))
    results = ordered(embedder.embed(["lease notice days", "rent"]), 2)
    assert all(np.linalg.norm(r.vector) == pytest.approx(1, abs=1e-6) for r in results)
    (alone,) = embedder.embed(["rent"])
    assert alone.vector.tobytes() == results[1].vector.tobytes()
