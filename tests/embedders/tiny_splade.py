"""A SPLADE small enough to be made by a test: random weights, a vocabulary of a few words."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "lease", "notice", "days", "rent"]
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 12,
    "vocab_size": len(WORDS),
    "layer_norm_eps": 1e-12,
}


def random_weights(old_names: bool, words: int = len(WORDS), positions: int = 12) -> dict[str, np.ndarray]:
    """A network of width 8; normalisations are named as in old or in new files."""
    source = np.random.default_rng(7)
    scale, shift = ("gamma", "beta") if old_names else ("weight", "bias")
    weights: dict[str, np.ndarray] = {}

    def add(name: str, *shape: int) -> None:
        weights[name] = source.standard_normal(shape).astype(np.float32)

    def dense(name: str, out: int, into: int) -> None:
        add(f"{name}.weight", out, into)
        add(f"{name}.bias", out)

    def norm(name: str) -> None:
        add(f"{name}.{scale}", 8)
        add(f"{name}.{shift}", 8)

    add("bert.embeddings.word_embeddings.weight", words, 8)
    add("bert.embeddings.position_embeddings.weight", positions, 8)
    add("bert.embeddings.token_type_embeddings.weight", 2, 8)
    norm("bert.embeddings.LayerNorm")
    for layer in range(2):
        at = f"bert.encoder.layer.{layer}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense(f"{at}.attention.{part}", 8, 8)
        norm(f"{at}.attention.output.LayerNorm")
        dense(f"{at}.intermediate.dense", 16, 8)
        dense(f"{at}.output.dense", 8, 16)
        norm(f"{at}.output.LayerNorm")
    dense("cls.predictions.transform.dense", 8, 8)
    norm("cls.predictions.transform.LayerNorm")
    add("cls.predictions.bias", words)
    return weights


def save_safetensors(path: Path, weights: dict[str, np.ndarray]) -> None:
    header, parts, at = {}, [], 0
    for name, values in weights.items():
        data = values.tobytes()
        header[name] = {
            "dtype": "F16" if values.dtype == np.float16 else "F32",
            "shape": values.shape,
            "data_offsets": [at, at + len(data)],
        }
        parts.append(data)
        at += len(data)
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + b"".join(parts))


def save_model(
    folder: Path, *, words: list[str] = WORDS, positions: int = 12, old_names: bool = False
) -> Path:
    """A SPLADE with random weights over ``words``, in the files that the embedder reads."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = CONFIG | {"vocab_size": len(words), "max_position_embeddings": positions}
    (folder / "config.json").write_text(json.dumps(config))
    save_safetensors(folder / "model.safetensors", random_weights(old_names, len(words), positions))
    return folder


def save_lexical_model(folder: Path, texts: list[str], kin: dict[str, str] | None = None) -> Path:
    """A SPLADE that means something: a text has the weights of its own words, and of their ``kin``.

    No layer of attention; words are unit vectors, so that each token predicts itself.
    """
    found = sorted({word for text in texts for word in re.findall(r"\w+", text.lower())})
    words = [*WORDS[:4], *sorted({*found, *(kin or {}), *(kin or {}).values()})]
    save_model(folder, words=words, positions=200)
    size = len(words)
    one = np.eye(size, dtype=np.float32)
    turned = one.copy()
    for word, other in (kin or {}).items():
        turned[words.index(other), words.index(word)] = 1.0
    head = "cls.predictions.transform"
    weights = {
        "bert.embeddings.word_embeddings.weight": one,
        "bert.embeddings.position_embeddings.weight": np.zeros((200, size), np.float32),
        "bert.embeddings.token_type_embeddings.weight": np.zeros((2, size), np.float32),
        f"{head}.dense.weight": turned,
        f"{head}.dense.bias": np.zeros(size, np.float32),
        # Special and unknown words count for nothing, others from one standard deviation on.
        "cls.predictions.bias": np.array([-99.0] * 4 + [-1.0] * (size - 4), np.float32),
    }
    for norm in ("bert.embeddings.LayerNorm", f"{head}.LayerNorm"):
        weights[f"{norm}.weight"] = np.ones(size, np.float32)
        weights[f"{norm}.bias"] = np.zeros(size, np.float32)
    config = CONFIG | {"vocab_size": size, "max_position_embeddings": 200, "num_hidden_layers": 0}
    (folder / "config.json").write_text(json.dumps(config | {"num_attention_heads": 1}))
    save_safetensors(folder / "model.safetensors", weights)
    return folder
