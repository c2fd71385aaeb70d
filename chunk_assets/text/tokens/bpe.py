"""``cl100k_base`` and ``o200k_base``: byte-pair vocabularies over the fastest right engine."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text import vocabularies
from chunk_assets.text.spans import codes, without_surrogates
from chunk_assets.text.tokens import engines
from chunk_assets.text.tokens.borders import blocks, byte_pair
from chunk_assets.text.tokens.index import BorderIndex, Rules
from chunk_assets.text.tokens.memory import Memory, grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Characters; part of the definition of a count, so a change of it is a new version.
LIMIT = 4_000
_VERSION = 2
# Characters per engine call: token ids, lengths and sums of a block stay in the processor's cache.
_BLOCK = 131_072
_HALF = LIMIT // 2
# So few texts are counted one by one.
_FEW_TEXTS = 8
# Up to one in so many bytes within characters is looked up; of more, all are counted.
_FEW = 16


class BytePairCounter:
    """A ``TokenCounter`` for a vocabulary of ``vocabularies.RANKS``; its tables load at the first count."""

    special_tokens = 0

    def __init__(self, name: str, engine: engines.Engine | None = None) -> None:
        self.name = name
        self.version = f"{vocabularies.RANKS[name].sha256[:16]}-{_VERSION}"
        self._given = engine

    @functools.cached_property
    def _engine(self) -> engines.Engine:
        return self._given or engines.fastest(self.name)

    @functools.cached_property
    def _lengths(self) -> NDArray[np.uint8]:
        return vocabularies.token_lengths(self.name)

    @functools.cached_property
    def _rules(self) -> Rules:
        return Rules(byte_pair(), LIMIT, Memory(self._part), self._piece_ends)

    def count(self, text: str) -> int:
        """Exact tokens of ``text``."""
        if len(text) <= LIMIT:
            return len(self._engine(_utf8(text)))
        return sum(len(ends) for ends, _ in self._passes(text, codes(text)))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        if len(texts) <= _FEW_TEXTS:
            return [self.count(text) for text in texts]
        return [count for group in grouped(texts, _BLOCK) for count in self._together(group)]

    def _together(self, texts: Sequence[str]) -> list[int]:
        """Many texts in one pass; each part of the joined text has the count that it has alone."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        ends = np.cumsum(lengths + 1) - 1
        counts: list[int] = self.index("\n".join(texts)).counts(ends - lengths, ends).tolist()
        return counts

    def index(self, text: str, points: NDArray[Any] | None = None) -> BorderIndex:
        """Tokenises ``text`` once."""
        ends: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        runs: list[int] = []
        points = codes(text) if points is None else points
        for block_ends, block_runs in self._passes(text, points):
            ends.append(block_ends)
            runs.extend(block_runs)
        return BorderIndex(
            text, points, self._rules, np.concatenate(ends), None, np.array(runs, dtype=np.int64)
        )

    def _passes(self, text: str, points: NDArray[Any]) -> Iterator[tuple[NDArray[np.int32], list[int]]]:
        """Token ends of each block, as offsets into ``text``, and where its long runs begin."""
        for start, end in blocks(points, byte_pair(), _BLOCK):
            block = text[start:end]
            data = _utf8(block)
            if _surely_without_long_runs(data):
                yield self._ends(len(block), data) + np.int32(start), []
                continue
            for low, high, is_run in _segments(points[start:end]):
                pieces = range(low, high, LIMIT) if is_run else (low,)
                width = LIMIT if is_run else high - low
                for at in pieces:
                    ends = self._piece_ends(block[at : min(at + width, high)])
                    yield ends + np.int32(start + at), [start + at] if is_run and at == low else []

    def _part(self, text: str) -> int:
        return len(self._engine(_utf8(text)))

    def _piece_ends(self, text: str) -> NDArray[np.int32]:
        """Character offsets at which the tokens of ``text`` end, rounded up to whole characters."""
        return self._ends(len(text), _utf8(text))

    def _ends(self, characters: int, data: bytes) -> NDArray[np.int32]:
        ends: NDArray[np.int32] = np.cumsum(self._lengths[self._engine(data)], dtype=np.int32)
        if len(data) == characters:
            return ends
        inside = (np.frombuffer(data, dtype=np.uint8) & 0xC0) == 0x80
        if (len(data) - characters) * _FEW < len(data):
            after = np.searchsorted(ends, np.flatnonzero(inside).astype(np.int32), side="right")
            moved = np.cumsum(np.bincount(after, minlength=len(ends))[: len(ends)], dtype=np.int32)
            return ends - moved
        begun = np.cumsum(~inside, dtype=np.int32)
        return begun[ends - 1]


def _surely_without_long_runs(text: bytes) -> bool:
    """Whether each stretch of ``_HALF`` bytes has a blank after visible ASCII: a forced border."""
    data = np.frombuffer(text, dtype=np.uint8)
    borders = (data[1:] == 32) & ((data[:-1] - np.uint8(33)) < 94)
    whole = len(borders) // _HALF
    return bool(borders[: whole * _HALF].reshape(whole, _HALF).any(axis=1).all())


def _segments(block: NDArray[Any]) -> Iterator[tuple[int, int, bool]]:
    """Spans that tile the code points of a block: each is a long run (``True``) or holds none."""
    inner = np.flatnonzero(byte_pair().between(block)) + 1
    edges = np.concatenate([[0], inner, [len(block)]])
    done = 0
    for at in np.flatnonzero(np.diff(edges) > LIMIT).tolist():
        low, high = int(edges[at]), int(edges[at + 1])
        if done < low:
            yield done, low, False
        yield low, high, True
        done = high
    if done < len(block):
        yield done, len(block), False


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()


@functools.cache
def byte_pair_counter(name: str) -> BytePairCounter:
    """The one counter of a vocabulary, over the fastest engine."""
    return BytePairCounter(name)
