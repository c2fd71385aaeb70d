"""Any model of the sentence-transformers library, from a folder or the Hugging Face hub.

Needs the library (and torch), which is not installed by default. Facts of the model are read from
its files, so that its card is known before any weight is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from chunk_assets.embedders.base import Embedded, EmbedderCard, EmbedderPlugin, Settings, too_long, unit
from chunk_assets.embedders.counting import count_inputs
from chunk_assets.embedders.model_files import file_sha256
from chunk_assets.errors import ConfigurationError
from chunk_assets.hashing import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


class SentenceTransformersSettings(Settings):
    """One model of the library, and how it is asked. Padding texts together is faster on a GPU."""

    model: str = Field(min_length=1)
    """A folder, or a name on the hub."""
    revision: str | None = None
    """For a name on the hub: should be a commit."""
    device: str | None = None
    """`cpu`, `cuda`, …; none is the library's choice."""
    batch_size: int = Field(default=1, ge=1)
    """Texts at a time; over 1, a vector's last digits change with its neighbours."""
    query_prefix: str = ""
    """Before a question."""
    passage_prefix: str = ""
    """Before a chunk."""


class SentenceTransformers:
    """One model. The library truncates what is too long; here it's refused before."""

    def __init__(self, settings: SentenceTransformersSettings) -> None:
        self._settings = settings

    @cached_property
    def _folder(self) -> Path:
        folder = Path(self._settings.model).expanduser()
        if folder.is_dir():
            return folder
        try:
            from huggingface_hub import snapshot_download
        except ImportError as error:
            raise ConfigurationError(
                f"{self._settings.model!r} is no folder, and the hub needs: pip install 'chunk-assets[hub]'"
            ) from error
        try:
            return Path(snapshot_download(self._settings.model, revision=self._settings.revision))
        except Exception as error:
            raise ConfigurationError(
                f"{self._settings.model!r} is no folder, and the hub said: {type(error).__name__}"
            ) from error

    def _json(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        if not path.is_file():
            raise ConfigurationError(f"{self._folder} is no sentence-transformers model: {name} is missing")
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found

    @cached_property
    def card(self) -> EmbedderCard:
        """From the model's files; its revision is a digest of the weights."""
        config = self._json("config.json")
        weights = sorted({path for pattern in WEIGHTS for path in self._folder.glob(pattern)})
        limit = self._json("sentence_bert_config.json").get("max_seq_length")
        return EmbedderCard(
            name="sentence_transformers",
            model_id=Path(self._settings.model).name,
            revision=fingerprint({path.name: file_sha256(path) for path in weights}),
            version=1,
            dimension=self._dimension(config["hidden_size"]),
            max_tokens=limit or config["max_position_embeddings"],
            tokenizer=f"file:{self._folder / 'tokenizer.json'}",
            query_prefix=self._settings.query_prefix,
            passage_prefix=self._settings.passage_prefix,
            pooling="sentence-transformers",
            deterministic=self._settings.batch_size == 1,
        )

    def _dimension(self, hidden: int) -> int:
        """The width after the last module that changes it."""
        for module in reversed(json.loads((self._folder / "modules.json").read_text("utf-8"))):
            path = self._folder / module["path"] / "config.json"
            said = json.loads(path.read_text("utf-8")) if module["path"] and path.is_file() else {}
            if "out_features" in said:
                return int(said["out_features"])
        return hidden

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ConfigurationError(
                "sentence_transformers needs its library: pip install 'chunk-assets[sentence-transformers]'"
            ) from error
        return SentenceTransformer(str(self._folder), device=self._settings.device)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each input with prefix and special tokens, by the model's own tokenizer."""
        return count_inputs(self.card.tokenizer, [self.card.passage_prefix + text for text in texts])

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """Unit vectors, longest texts first."""
        tokens = self.count_tokens(texts)
        limit, size = self.card.max_tokens, self._settings.batch_size
        yield from (too_long(i, count, limit) for i, count in enumerate(tokens) if count > limit)
        order = sorted((i for i, count in enumerate(tokens) if count <= limit), key=lambda i: (-tokens[i], i))
        for start in range(0, len(order), size):
            part = order[start : start + size]
            vectors = self._encode([self.card.passage_prefix + texts[i] for i in part])
            yield from (Embedded(i, unit(vector)) for i, vector in zip(part, vectors, strict=True))

    def _encode(self, texts: list[str]) -> Any:
        return self._model.encode(
            texts, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True
        )

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of the prefixed query; ``ConfigurationError`` when it is too long."""
        prefixed = self.card.query_prefix + text
        (tokens,) = count_inputs(self.card.tokenizer, [prefixed])
        if tokens > self.card.max_tokens:
            raise ConfigurationError(f"the query has {tokens} tokens, at most {self.card.max_tokens}")
        return unit(self._encode([prefixed])[0])

    def close(self) -> None:
        """Drops the model; the next call loads it again."""
        self.__dict__.pop("_model", None)


SENTENCE_TRANSFORMERS = EmbedderPlugin(
    "sentence_transformers",
    SentenceTransformersSettings,
    SentenceTransformers,
    "a model of the sentence-transformers library, on the processor or a GPU; needs that library",
)
