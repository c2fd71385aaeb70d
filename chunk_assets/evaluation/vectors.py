"""Vectors kept on disk by the hash of their text, so that an evaluation is paid for once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chunk_assets.embedders import Embedder, ordered
from chunk_assets.hashing import sha256_text

Matrix = NDArray[np.float32]
_BLOCK = 256  # texts that a kill can lose at most


class VectorCache:
    """Vectors of one embedder below a folder: a file of hashes and a file of rows, appended.

    ``None`` for the folder keeps them in memory only. Not for two writers at once.
    """

    def __init__(self, embedder: Embedder, folder: Path | None, workers: int = 1) -> None:
        self.embedder, self.workers = embedder, workers
        self._rows: dict[str, NDArray[np.float32]] = {}
        self._base: Path | None = None
        if folder is not None:
            card = embedder.card
            folder.mkdir(parents=True, exist_ok=True)
            self._base = folder / f"{card.name}-{card.revision}-v{card.version}"
            self._load(self._base)

    def _load(self, base: Path) -> None:
        keys, rows = base.with_suffix(".keys"), base.with_suffix(".f32")
        if not keys.exists() or not rows.exists():
            return
        names = keys.read_text("ascii").split()
        width = self.embedder.card.dimension
        count = min(len(names), rows.stat().st_size // (4 * width))
        matrix = np.fromfile(rows, dtype="<f4", count=count * width).reshape(count, width)
        self._rows = dict(zip(names, matrix, strict=False))
        if count < len(names) or rows.stat().st_size != count * 4 * width:  # a kill between two appends
            keys.write_text("".join(f"{n}\n" for n in names[:count]), "ascii")
            matrix.tofile(rows)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """``float32[len(texts), d]``; zeros, which are like nothing, for a text that is refused."""
        return self._get("p:", texts)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Query vectors, with the card's prefix."""
        return self._get("q:", texts)

    def fitted(self, texts: Sequence[str]) -> tuple[list[str], int]:
        """The texts with what the embedder would not read cut off, and how many were cut.

        Our own chunks fit by construction. Those of others may not, and their users' models drop the
        end without a word; here at least it is counted.
        """
        counts = self.embedder.count_tokens(texts)
        limit = self.embedder.card.max_tokens
        found = [t if n <= limit else self._cut(t) for t, n in zip(texts, counts, strict=True)]
        return found, sum(n > limit for n in counts)

    def _cut(self, text: str) -> str:
        """The longest start of ``text`` that ends with a word and fits."""
        ends = [m.end() for m in re.finditer(r"\S+", text)]
        low, high = 0, len(ends) - 1
        while low < high:
            middle = (low + high + 1) // 2
            fits = self.embedder.count_tokens([text[: ends[middle]]])[0] <= self.embedder.card.max_tokens
            low, high = (middle, high) if fits else (low, middle - 1)
        return text[: ends[low]]

    def _get(self, kind: str, texts: Sequence[str]) -> Matrix:
        keys = [sha256_text(kind + text) for text in texts]
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in self._rows}
        todo = sorted(missing)
        for start in range(0, len(todo), _BLOCK):
            block = todo[start : start + _BLOCK]
            self._keep(block, self._embed(kind, [missing[k] for k in block]))
        width = self.embedder.card.dimension
        return np.array([self._rows[k] for k in keys], dtype=np.float32).reshape(len(keys), width)

    def _embed(self, kind: str, texts: list[str]) -> Matrix:
        if kind == "q:":
            return np.stack([self.embedder.embed_query(text) for text in texts])
        answers = ordered(self.embedder.embed(texts, workers=self.workers), len(texts))
        nothing = np.zeros(self.embedder.card.dimension, dtype=np.float32)
        return np.stack([nothing if a.vector is None else a.vector for a in answers])

    def _keep(self, keys: list[str], vectors: Matrix) -> None:
        self._rows.update(zip(keys, vectors, strict=True))
        if self._base is None:
            return
        with self._base.with_suffix(".f32").open("ab") as handle:
            handle.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
        with self._base.with_suffix(".keys").open("a", encoding="ascii") as handle:
            handle.writelines(f"{k}\n" for k in keys)
