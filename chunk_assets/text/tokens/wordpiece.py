"""BERT's WordPiece, counted word by word.

The pre-tokenizer splits at white space, at punctuation and around ideographs, and no piece crosses
such a border: so a text has the tokens of its words, and each word need be tokenised only once.
Words are found, and the short ones looked up, by whole-array operations.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets import hashing
from chunk_assets.text.spans import codes, without_surrogates
from chunk_assets.text.tokens.borders import blocks, isolated, word_piece
from chunk_assets.text.tokens.index import UNLIMITED, BorderIndex, Rules
from chunk_assets.text.tokens.memory import Memory, grouped
from chunk_assets.text.tokens.table import LONGEST, keys_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VERSION = 1
_BLOCK = 131_072
# Shorter texts are counted outright.
_SHORT = 200
# Words of more kinds of characters are left to the engine.
_FEW_CHARS, _MOST_CHARS = 128, 20_000


class WordPieceCounter:
    """A ``TokenCounter`` over a ``tokenizer.json`` with BERT's normaliser, splitter and model.

    Nothing is loaded before the first count: a run with nothing to do asks for the version only.
    """

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.version = f"{hashing.sha256_bytes(data)[:16]}-{_VERSION}"
        self._data = data
        self._chars: dict[str, bool | None] = {}

    @functools.cached_property
    def _engine(self) -> Any:
        return plain_engine(self._data)

    @functools.cached_property
    def _word(self) -> tuple[Any, bool]:
        """What tokenises one plain word, and whether it is put into lower case before."""
        return self._engine.model, self._engine.normalizer.lowercase

    @functools.cached_property
    def _longest(self) -> int:
        """Characters of a word; a longer one is one unknown token, whatever is in it."""
        return int(self._engine.model.max_input_chars_per_word)

    @functools.cached_property
    def special_tokens(self) -> int:
        """Tokens that the model adds to every input."""
        return int(self._engine.num_special_tokens_to_add(False))

    @functools.cached_property
    def _rules(self) -> Rules:
        return Rules(word_piece(), UNLIMITED, Memory(self._part), self._piece_ends)

    def count(self, text: str) -> int:
        """Exact tokens of ``text``, without ``[CLS]`` and ``[SEP]``."""
        return self._rules.part(text) if len(text) <= _SHORT else self.index(text).total

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        return [count for group in grouped(texts, _BLOCK) for count in self._together(group)]

    def _together(self, texts: Sequence[str]) -> list[int]:
        """Many texts in one pass: no piece crosses the line end that is put between two of them."""
        index = self.index("\n".join(texts))
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1) - 1
        counts: list[int] = np.diff(index.up_to(ends), prepend=0).tolist()
        return counts

    def index(self, text: str, points: NDArray[Any] | None = None) -> BorderIndex:
        """Counts the words of ``text`` once."""
        points = codes(text) if points is None else points
        ends: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        sums: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
        total = 0
        for start, end in blocks(points, word_piece(), _BLOCK):
            units, counts = _units(text[start:end], points[start:end], self._rules)
            ends.append((units + start).astype(np.int32))
            sums.append(np.cumsum(counts, dtype=np.int32) + np.int32(total))
            total = int(sums[-1][-1]) if len(units) else total
        return BorderIndex(text, points, self._rules, np.concatenate(ends), np.concatenate(sums))

    def _part(self, text: str) -> int:
        if text.isascii() and text.isalnum():  # one word, which only its letters' case may change
            model, lowers = self._word
            return len(model.tokenize(text.lower() if lowers else text))
        known = self._long_word(text) if len(text) > self._longest else None
        return len(self._encode(text).ids) if known is None else known

    def _long_word(self, text: str) -> int | None:
        """Tokens of a text that is one word with more characters than a word may have, or with none."""
        chars = set(text)
        if len(chars) > _FEW_CHARS:
            return None
        kept = {char: self._kept(char) for char in chars}
        if None in kept.values():
            return None
        count = sum(text.count(char) for char, is_kept in kept.items() if is_kept)
        return min(count, 1) if not 0 < count <= self._longest else None

    def _kept(self, char: str) -> bool | None:
        """Whether a character is part of a word (or dropped from it); ``None`` where it parts words."""
        if char not in self._chars:
            if len(self._chars) > _MOST_CHARS:
                self._chars.clear()
            shown = self._engine.normalizer.normalize_str(without_surrogates(f"a{char}a"))
            parts = self._engine.pre_tokenizer.pre_tokenize_str(shown)
            self._chars[char] = len(shown) > len("aa") if len(parts) == 1 else None
        return self._chars[char]

    def _piece_ends(self, text: str) -> NDArray[np.int32]:
        return np.array([end for _, end in self._encode(text).offsets], dtype=np.int32)

    def _encode(self, text: str) -> Any:
        try:
            return self._engine.encode(text, add_special_tokens=False)
        except (UnicodeEncodeError, TypeError):  # a lone surrogate
            return self._engine.encode(without_surrogates(text), add_special_tokens=False)


def plain_engine(data: bytes) -> Any:
    """A ``tokenizers.Tokenizer`` that neither cuts nor fills, and takes spelled specials for text."""
    import tokenizers

    engine = tokenizers.Tokenizer.from_buffer(data)
    engine.no_truncation()
    engine.no_padding()
    engine.encode_special_tokens = True
    return engine


def _units(block: str, points: NDArray[Any], rules: Rules) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where words and lone characters of ``block`` end, ascending, and the tokens of each (not 0)."""
    kinds = isolated()[points]
    # Words with anything else than ASCII are not looked up by their bytes.
    data = points if points.dtype == np.uint8 and block.isascii() else np.where(points < 128, points, 255)
    data = data.astype(np.uint8, copy=False)
    counts = np.zeros(len(block) + 1, dtype=np.int32)
    counts[1:] = kinds == 2
    is_word = np.zeros(len(block) + 2, dtype=np.bool_)
    is_word[1:-1] = kinds == 0
    edges = np.flatnonzero(is_word[1:] != is_word[:-1])
    starts, ends = edges[0::2], edges[1::2]
    counts[ends] = _counts(block, data, starts, ends, rules)
    units = np.flatnonzero(counts)
    return units, counts[units]


def _counts(
    block: str, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], rules: Rules
) -> NDArray[np.int32]:
    """Tokens of each word ``block[starts[i]:ends[i]]``; ``data`` is its bytes, 255 for non-ASCII."""
    lengths = ends - starts
    exact = lengths <= LONGEST
    if len(foreign := np.flatnonzero(data == 255)):
        exact &= np.searchsorted(foreign, starts) == np.searchsorted(foreign, ends)

    def counted(which: NDArray[np.int64]) -> list[int]:
        spans = zip(starts[which].tolist(), ends[which].tolist(), strict=True)
        return rules.part.many([block[a:b] for a, b in spans])

    return rules.words.counts(keys_in(data, starts, lengths), exact, counted)
