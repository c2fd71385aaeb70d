"""BERT's WordPiece, counted word by word.

The pre-tokenizer splits at white space, at punctuation and around ideographs, and no piece crosses
such a border: so a text has the tokens of its words, and each word need be tokenised only once.
Words are found, and the short ones looked up, by whole-array operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets import hashing
from chunk_assets.text.tokens.borders import blocks, code_points, isolated, word_piece
from chunk_assets.text.tokens.index import UNLIMITED, BorderIndex, Rules
from chunk_assets.text.tokens.memory import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VERSION = 1
_BLOCK = 131_072
# Shorter texts are counted outright.
_SHORT = 200
_SURROGATES = re.compile("[\ud800-\udfff]")


class WordPieceCounter:
    """A ``TokenCounter`` over a ``tokenizer.json`` with BERT's normaliser, splitter and model."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.version = f"{hashing.sha256_bytes(data)[:16]}-{_VERSION}"
        self._engine = plain_engine(data)
        self.special_tokens: int = self._engine.num_special_tokens_to_add(False)
        self._rules = Rules(word_piece(), UNLIMITED, Memory(self._part), self._piece_ends)

    def count(self, text: str) -> int:
        """Exact tokens of ``text``, without ``[CLS]`` and ``[SEP]``."""
        return self._rules.part(text) if len(text) <= _SHORT else self.index(text).total

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        return [self.count(text) for text in texts]

    def index(self, text: str) -> BorderIndex:
        """Counts the words of ``text`` once."""
        table = WordTable(len(text), self._rules.part)
        ends: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        sums: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        total = 0
        for start, end in blocks(text, word_piece(), _BLOCK):
            units, counts = _units(text[start:end], table)
            ends.append((units + start).astype(np.int32))
            sums.append(np.cumsum(counts, dtype=np.int32) + np.int32(total))
            total = int(sums[-1][-1]) if len(units) else total
        return BorderIndex(text, self._rules, np.concatenate(ends), np.concatenate(sums))

    def _part(self, text: str) -> int:
        return len(self._encode(text).ids)

    def _piece_ends(self, text: str) -> NDArray[np.int32]:
        return np.array([end for _, end in self._encode(text).offsets], dtype=np.int32)

    def _encode(self, text: str) -> Any:
        try:
            return self._engine.encode(text, add_special_tokens=False)
        except (UnicodeEncodeError, TypeError):  # a lone surrogate
            return self._engine.encode(_SURROGATES.sub("\ufffd", text), add_special_tokens=False)


def plain_engine(data: bytes) -> Any:
    """A ``tokenizers.Tokenizer`` that neither cuts nor fills, and takes spelled specials for text."""
    import tokenizers

    engine = tokenizers.Tokenizer.from_buffer(data)
    engine.no_truncation()
    engine.no_padding()
    engine.encode_special_tokens = True
    return engine


class WordTable:
    """Counts of words of up to 16 ASCII characters, in a direct-mapped table of exact keys.

    A word is its bytes as two numbers. Two words that fall on one slot push each other out, which
    costs time and never changes a count.
    """

    def __init__(self, text_length: int, part: Callable[[str], int]) -> None:
        self.part = part
        self._bits = np.uint64(64 - min(17, max(8, text_length.bit_length() - 3)))
        size = 1 << (64 - int(self._bits))
        self._keys = np.zeros((2, size), dtype=np.uint64)
        self._counts = np.zeros(size, dtype=np.int32)

    def counts(
        self, block: str, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Tokens of each word ``block[starts[i]:ends[i]]``; ``data`` is its bytes, 255 for non-ASCII."""
        low, high = _keys(data, starts, ends - starts)
        slots = ((low * _MIX_LOW) ^ (high * _MIX_HIGH)) >> self._bits
        known = (self._keys[0, slots] == low) & (self._keys[1, slots] == high) & (ends - starts <= 16)
        found: NDArray[np.int32] = self._counts[slots]
        missing = np.flatnonzero(~known)
        if len(missing):
            part = self.part
            spans = zip(starts[missing].tolist(), ends[missing].tolist(), strict=True)
            found[missing] = [part(block[a:b]) for a, b in spans]
            self._remember(low, high, slots, found, missing[_is_plain(data, starts, ends, missing)])
        return found

    def _remember(
        self,
        low: NDArray[np.uint64],
        high: NDArray[np.uint64],
        slots: NDArray[np.uint64],
        found: NDArray[np.int32],
        which: NDArray[np.int64],
    ) -> None:
        # Of several words for one slot the last is kept, in all three arrays alike.
        _, last = np.unique(slots[which][::-1], return_index=True)
        which = which[::-1][last]
        at = slots[which]
        self._keys[0, at], self._keys[1, at], self._counts[at] = low[which], high[which], found[which]


_MIX_LOW = np.uint64(0x9E3779B97F4A7C15)
_MIX_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


def _keys(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The first and second eight bytes of each word as numbers, zero beyond its end."""
    padded = np.concatenate([data, np.zeros(16, dtype=np.uint8)])
    eights = np.ndarray((len(data) + 9,), dtype="<u8", buffer=padded, strides=(1,))
    low = eights[starts] & _MASKS[np.minimum(lengths, 8)]
    high = np.zeros_like(low)
    longer = np.flatnonzero(lengths > 8)
    high[longer] = eights[starts[longer] + 8] & _MASKS[np.minimum(lengths[longer], 16) - 8]
    return low, high


def _is_plain(
    data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], which: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the words are ASCII of at most 16 characters, so that their keys are exact."""
    plain: NDArray[np.bool_] = (ends - starts)[which] <= 16
    if len(foreign := np.flatnonzero(data == 255)):
        holds = np.searchsorted(foreign, starts[which]) < np.searchsorted(foreign, ends[which])
        plain &= ~holds
    return plain


def _units(block: str, table: WordTable) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where words and lone characters of ``block`` end, ascending, and the tokens of each (not 0)."""
    data, kinds = _classified(block)
    counts = np.zeros(len(block) + 1, dtype=np.int32)
    counts[1:] = kinds == 2
    is_word = np.zeros(len(block) + 2, dtype=np.bool_)
    is_word[1:-1] = kinds == 0
    edges = np.flatnonzero(is_word[1:] != is_word[:-1])
    starts, ends = edges[0::2], edges[1::2]
    counts[ends] = table.counts(block, data, starts, ends)
    units = np.flatnonzero(counts)
    return units, counts[units]


def _classified(block: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Per character: its code (255 beyond ASCII), and its kind as ``borders.isolated`` tells it."""
    if block.isascii():
        data = np.frombuffer(block.encode("ascii"), dtype=np.uint8)
        return data, isolated()[data]
    points = code_points(block)
    data = np.where(points < 128, points, 255).astype(np.uint8)
    return data, isolated()[points]
