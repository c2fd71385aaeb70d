"""A BERT encoder with its masked-language-model head in numpy, for small models without a runtime.

Weights are read from a safetensors file as mapped memory. Devlin et al., "BERT", NAACL 2019.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

WORDS_AT_ONCE = 2048
TYPES = {"F32": "<f4", "F16": "<f2"}


def read_safetensors(path: Path) -> dict[str, Array]:
    """Tensors by name as float32; ``ConfigurationError`` for another kind of number.

    The format: a little-endian 64-bit length, JSON of that length with offsets, then the numbers.
    """
    import numpy as np

    data = np.memmap(path, mode="r")
    (length,) = struct.unpack("<Q", data[:8].tobytes())
    header = json.loads(data[8 : 8 + length].tobytes())
    found = {}
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        if tensor["dtype"] not in TYPES:
            raise ConfigurationError(f"{path}: {name} is {tensor['dtype']}, known: {', '.join(TYPES)}")
        begin, end = (8 + length + offset for offset in tensor["data_offsets"])
        values = data[begin:end].view(TYPES[tensor["dtype"]]).reshape(tensor["shape"])
        found[name] = np.asarray(values, dtype=np.float32)
    return found


@dataclass(frozen=True, slots=True)
class Shape:
    """What ``config.json`` says of the network."""

    layers: int
    heads: int
    positions: int
    vocabulary: int
    epsilon: float

    @classmethod
    def read(cls, path: Path) -> Shape:
        """From a Hugging Face ``config.json``; ``ConfigurationError`` for what is not BERT with GELU."""
        said: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if said.get("model_type") != "bert" or said.get("hidden_act") != "gelu":
            raise ConfigurationError(
                f"{path} describes {said.get('model_type')!r}, only BERT with GELU is known"
            )
        return cls(
            layers=said["num_hidden_layers"],
            heads=said["num_attention_heads"],
            positions=said["max_position_embeddings"],
            vocabulary=said["vocab_size"],
            epsilon=said.get("layer_norm_eps", 1e-12),
        )


class Bert:
    """``logits(ids)`` for one text at a time. Threads may share it."""

    def __init__(self, shape: Shape, weights: Mapping[str, Array]) -> None:
        self._shape = shape
        # Old files call the parameters of a normalisation gamma and beta.
        self._weights = {
            name.replace(".gamma", ".weight").replace(".beta", ".bias"): value
            for name, value in weights.items()
        }

    def logits(self, ids: NDArray[np.int64]) -> Array:
        """``float32[tokens, vocabulary]`` of the masked-language-model head."""
        weights = self._weights
        words = weights["bert.embeddings.word_embeddings.weight"]
        result: Array = self._states(ids) @ words.T + weights["cls.predictions.bias"]
        return result

    def strongest(self, ids: NDArray[np.int64]) -> Array:
        """``float32[vocabulary]``: the largest of each word's logits over all tokens.

        A part of the vocabulary at a time, which stays in the processor's cache.
        """
        import numpy as np

        words = self._weights["bert.embeddings.word_embeddings.weight"]
        states = self._states(ids)
        parts = [
            (states @ words[at : at + WORDS_AT_ONCE].T).max(axis=0)
            for at in range(0, len(words), WORDS_AT_ONCE)
        ]
        result: Array = np.concatenate(parts) + self._weights["cls.predictions.bias"]
        return result

    def _states(self, ids: NDArray[np.int64]) -> Array:
        """``float32[tokens, width]`` before they are compared with the words."""
        weights = self._weights
        words = weights["bert.embeddings.word_embeddings.weight"]
        states = words[ids] + weights["bert.embeddings.position_embeddings.weight"][: len(ids)]
        states = states + weights["bert.embeddings.token_type_embeddings.weight"][0]
        states = self._norm(states, "bert.embeddings.LayerNorm")
        for layer in range(self._shape.layers):
            states = self._layer(states, f"bert.encoder.layer.{layer}")
        states = _gelu(self._dense(states, "cls.predictions.transform.dense"))
        return self._norm(states, "cls.predictions.transform.LayerNorm")

    def _layer(self, states: Array, name: str) -> Array:
        attended = self._dense(
            self._attention(states, f"{name}.attention.self"), f"{name}.attention.output.dense"
        )
        states = self._norm(states + attended, f"{name}.attention.output.LayerNorm")
        inner = _gelu(self._dense(states, f"{name}.intermediate.dense"))
        return self._norm(states + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _attention(self, states: Array, name: str) -> Array:
        import numpy as np

        count, width = states.shape
        size = width // self._shape.heads

        def heads(part: str) -> Array:
            return self._dense(states, f"{name}.{part}").reshape(count, -1, size).transpose(1, 0, 2)

        scores = heads("query") @ heads("key").transpose(0, 2, 1) / np.float32(np.sqrt(size))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed: Array = (scores @ heads("value")).transpose(1, 0, 2).reshape(count, width)
        return mixed

    def _dense(self, states: Array, name: str) -> Array:
        result: Array = states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return result

    def _norm(self, states: Array, name: str) -> Array:
        import numpy as np

        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(self._shape.epsilon))
        result: Array = centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return result


def _gelu(x: Array) -> Array:
    """X · Φ(x), with erf by Abramowitz and Stegun 7.1.26 (absolute error below 1.5e-7)."""
    import numpy as np

    z = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - series * np.exp(-z * z))
    result: Array = (x * (1 + erf) / 2).astype(np.float32)
    return result
