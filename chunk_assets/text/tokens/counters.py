"""The table of token counters."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets import errors, hashing
from chunk_assets.text import graphemes, vocabularies
from chunk_assets.text.tokens.base import Marks, TokenCounter
from chunk_assets.text.tokens.bpe import byte_pair_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

KNOWN = ("cl100k_base", "o200k_base", "bge-small-en-v1.5", "file:<path to tokenizer.json>")


class _PlainIndex:
    def __init__(self, text: str, count: Callable[[str], int]) -> None:
        self.text = text
        self._count = count

    @property
    def total(self) -> int:
        return self._count(self.text)

    def count(self, start: int, end: int) -> int:
        return self._count(self.text[start:end])

    def counts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([self.count(start, end) for start, end in pairs], dtype=np.int64)

    def furthest(self, start: int, max_tokens: int) -> int:
        low, high = start, start + 1
        while high < len(self.text) and self.count(start, high) <= max_tokens:
            low, high = high, start + 2 * (high - start)
        high = min(high, len(self.text))
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.count(start, middle) <= max_tokens else (low, middle - 1)
        end = graphemes.safe_cut(self.text, low)
        while end <= start:
            low += 1
            end = graphemes.safe_cut(self.text, low)
        return end

    def marks(self, offsets: NDArray[np.int64], ends: NDArray[np.int64] | None = None) -> Marks:
        ends = offsets if ends is None else ends
        far = np.full(len(offsets), len(self.text) + 1, dtype=np.int64)
        none = np.zeros(len(ends), dtype=np.int64)
        return Marks(offsets, far * 0, none, far, none - 1)


class _Counter:
    def __init__(self, name: str, version: str, special_tokens: int, count: Callable[[str], int]) -> None:
        self.name, self.version, self.special_tokens, self.count = name, version, special_tokens, count

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def index(self, text: str) -> _PlainIndex:
        return _PlainIndex(text, self.count)


@functools.cache
def counter(name: str) -> TokenCounter:
    """The counter called ``name``; raises ``ConfigurationError`` for an unknown one."""
    if name in vocabularies.RANKS:
        return byte_pair_counter(name)
    if name == "bge-small-en-v1.5":
        return _from_json(name, vocabularies.BGE_SMALL.read())
    if name.startswith("file:"):
        return _from_json(name, Path(name[5:]).read_bytes())
    raise errors.unknown("tokenizer", name, KNOWN)


def _from_json(name: str, data: bytes) -> TokenCounter:
    import tokenizers

    engine: Any = tokenizers.Tokenizer.from_buffer(data)
    engine.no_truncation()
    engine.no_padding()
    return _Counter(
        name,
        hashing.sha256_bytes(data)[:16],
        engine.num_special_tokens_to_add(False),
        lambda text: len(engine.encode(text, add_special_tokens=False)),
    )
