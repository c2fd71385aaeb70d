"""Any ``tokenizer.json``: exact by tokenising each part, since no border of it is known to be sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets import hashing
from chunk_assets.text import graphemes
from chunk_assets.text.spans import without_surrogates
from chunk_assets.text.tokens.base import Marks
from chunk_assets.text.tokens.memory import Memory
from chunk_assets.text.tokens.wordpiece import plain_engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_VERSION = 1


class PlainCounter:
    """A ``TokenCounter`` over any ``tokenizer.json``."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.version = f"{hashing.sha256_bytes(data)[:16]}-{_VERSION}"
        self._engine: Any = plain_engine(data)
        self.special_tokens: int = self._engine.num_special_tokens_to_add(False)
        self._memory = Memory(lambda text: len(self._ends(text)))

    def count(self, text: str) -> int:
        """Exact tokens of ``text``."""
        return self._memory(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        return [self.count(text) for text in texts]

    def index(self, text: str, points: NDArray[Any] | None = None) -> PlainIndex:
        """An index that tokenises each part when it is asked for."""
        return PlainIndex(text, self._memory, self._ends)

    def _ends(self, text: str) -> list[int]:
        clean = without_surrogates(text)
        return [end for _, end in self._engine.encode(clean, add_special_tokens=False).offsets]


@dataclass(frozen=True, slots=True)
class PlainIndex:
    """A ``TokenIndex`` without sure borders: all its counts are made by tokenising."""

    text: str
    part: Callable[[str], int]
    ends: Callable[[str], list[int]]

    @property
    def total(self) -> int:
        """Tokens of the whole text."""
        return self.part(self.text)

    def count(self, start: int, end: int) -> int:
        """Exact tokens of ``text[start:end]``."""
        return self.part(self.text[start:end]) if start < end else 0

    def counts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """``count`` of many spans."""
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return np.array([self.count(start, end) for start, end in pairs], dtype=np.int64)

    def marks(self, offsets: NDArray[np.int64], ends: NDArray[np.int64] | None = None) -> Marks:
        """Marks that know nothing, so that ``count`` is asked."""
        ends = offsets if ends is None else ends
        none = np.zeros(len(ends), dtype=np.int64)
        return Marks(
            offsets, np.zeros_like(offsets), none, np.full_like(offsets, len(self.text) + 1), none - 1
        )

    def furthest(self, start: int, max_tokens: int, stop: int | None = None) -> int:
        """The largest grapheme border up to which ``max_tokens`` fit; see ``TokenIndex``."""
        stop = len(self.text) if stop is None else stop
        width = max(64, 6 * max_tokens)
        while len(ends := self.ends(self.text[start : min(stop, start + width)])) <= max_tokens:
            if start + width >= stop:
                return stop
            width *= 2
        for last in range(max_tokens - 1, -1, -1):
            end = graphemes.safe_cut(self.text, start + ends[last])
            if end > start and self.count(start, end) <= max_tokens:
                return end
        return graphemes.next_cut(self.text, start)
