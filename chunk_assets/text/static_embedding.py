"""A bundled static embedding: the sum of word vectors, in whole numbers.

The weights are those of WordLlama (MIT), read from its wheel without importing it. They are turned
into fixed-point numbers once; sums of those don't depend on order, processor or library, so that
what is decided by them is the same everywhere. Words are separated by white space, and a word's
vector is the sum of its tokens' vectors, which is remembered.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets import errors, hashing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

PACKAGE = "wordllama"
DIMENSION = 256
WEIGHTS = "weights/l2_supercat_256.safetensors"
WEIGHTS_SHA256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
TOKENIZER_SHA256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
REVISION = hashing.sha256_text(WEIGHTS_SHA256 + TOKENIZER_SHA256)[:16]
# Goes up whenever the vector of any text can change.
VERSION = 1

# One is this many units of a fixed-point number.
_SCALE = 1 << 12
# Longer words are cut: no word a person wrote is, and the tokenizer's time grows faster than they do.
_MOST_CHARS = 64
_MOST_WORDS = 32_768
_BLOCK = 2048
# Vectors looked up at once, so that they stay in the processor's cache.
_ROWS = 4096
# Numbers of this many bits can be squared and summed over all dimensions in 63 bits.
_MOST_BITS = 27


def _read(name: str, sha256: str) -> bytes:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.origin:
        message = "the static embedding needs the package wordllama==0.4.0.post1 (requirements-models.lock)"
        raise errors.ConfigurationError(message)
    data = (Path(found.origin).parent / name).read_bytes()
    if hashing.sha256_bytes(data) != sha256:
        message = f"{name} of {PACKAGE} is not the file this version was made for (sha256 {sha256})"
        raise errors.ConfigurationError(message)
    return data


def _weights() -> NDArray[np.int32]:
    """The token vectors in fixed point, ``int32[tokens, 256]``."""
    data = _read(WEIGHTS, WEIGHTS_SHA256)
    (length,) = struct.unpack("<Q", data[:8])
    tensor = json.loads(data[8 : 8 + length])["embedding.weight"]
    begin, end = tensor["data_offsets"]
    halves = np.frombuffer(data[8 + length + begin : 8 + length + end], dtype="<f2").reshape(tensor["shape"])
    scaled: NDArray[np.int32] = np.rint(halves.astype(np.float64) * _SCALE).astype(np.int32)
    return scaled


class _Words:
    """Vectors of words, made when first met. All are forgotten at once when they are too many."""

    def __init__(self) -> None:
        import tokenizers

        self._tokenizer: Any = tokenizers.Tokenizer.from_buffer(_read(TOKENIZER, TOKENIZER_SHA256))
        self._weights = _weights()
        self._known: dict[str, int] = {}
        # What is not used yet of it takes no memory.
        self._vectors: NDArray[np.int32] = np.zeros((_MOST_WORDS + _ROWS, DIMENSION), dtype=np.int32)

    def rows(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The vectors of ``words``, at most ``_ROWS``: ``int32[n, 256]``."""
        if len(self._known) > _MOST_WORDS:
            self._known = {}
        new = list(dict.fromkeys(word for word in words if word not in self._known))
        if new:
            self._learn(new)
        known = self._known
        rows: NDArray[np.int32] = self._vectors[[known[word] for word in words]]
        return rows

    def _learn(self, words: list[str]) -> None:
        first = len(self._known)
        self._vectors[first : first + len(words)] = 0
        for at in range(0, len(words), _BLOCK):
            part = words[at : at + _BLOCK]
            self._sum_up(part, self._vectors[first + at : first + at + len(part)])
        self._known.update({word: first + at for at, word in enumerate(words)})

    def _sum_up(self, words: list[str], vectors: NDArray[np.int32]) -> None:
        """Adds the vectors of each word's tokens to its row."""
        encode = self._tokenizer.encode
        # A lone surrogate is no text for the tokenizer.
        clean = [word.encode(errors="replace").decode() for word in words]
        ids = [encode(word, add_special_tokens=False).ids for word in clean]
        of_length: dict[int, list[int]] = {}
        for row, tokens in enumerate(ids):
            of_length.setdefault(len(tokens), []).append(row)
        # Words with as many tokens are added up together: five times as fast as ``np.add.reduceat``.
        for rows in of_length.values():
            total = np.zeros((len(rows), DIMENSION), dtype=np.int32)
            for column in zip(*(ids[row] for row in rows), strict=True):
                total += self._weights[list(column)]
            vectors[rows] = total


@functools.cache
def _words() -> _Words:
    return _Words()


def sums(texts: Sequence[str]) -> NDArray[np.int64]:
    """The sum of each text's word vectors in fixed point, ``int64[n, 256]``; zeros for a blank one."""
    found = np.zeros((len(texts), DIMENSION), dtype=np.int64)
    pieces: list[str] = []
    ends: list[int] = []
    for text in texts:
        pieces.extend(
            word[at : at + _MOST_CHARS] for word in text.split() for at in range(0, len(word), _MOST_CHARS)
        )
        ends.append(len(pieces))
    number = 0
    for first in range(0, len(pieces), _ROWS):
        rows = _words().rows(pieces[first : first + _ROWS])
        at = 0
        while at < len(rows):
            end = min(ends[number] - first, len(rows))
            # Seven times as fast as ``np.add.reduceat``.
            found[number] += rows[at:end].sum(axis=0, dtype=np.int64)
            at = end
            number += ends[number] - first <= at
    return found


def unit(vectors: NDArray[np.int64]) -> NDArray[np.float32]:
    """Vectors of length one; a zero vector stays as it is. Only correctly rounded operations."""
    vectors = _small(vectors)
    squares = (vectors * vectors).sum(axis=1).astype(np.float64)
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    divided: NDArray[np.float32] = (vectors.astype(np.float64) / lengths[:, None]).astype(np.float32)
    return divided


def _small(vectors: NDArray[np.int64]) -> NDArray[np.int64]:
    """The vectors, those of very long texts made shorter, so that no sum of squares overflows."""
    most = np.abs(vectors).max(axis=1, initial=0)
    shifts = np.maximum(0, np.ceil(np.log2(np.maximum(most, 1))).astype(np.int64) - _MOST_BITS)
    return np.right_shift(vectors, shifts[:, None]) if shifts.any() else vectors


def static_vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """One vector of length one for each text, ``float32[n, 256]``; the same bytes on every machine."""
    found = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    for first in range(0, len(texts), _BLOCK):
        found[first : first + _BLOCK] = unit(sums(texts[first : first + _BLOCK]))
    return found


def border_similarities(text_of: Callable[[int], str], count: int, reach: int) -> NDArray[np.float64]:
    """How alike the ``reach`` texts before and after each border are, ``float64[count]``, -1 to 1.

    Border ``k`` is before text ``k``; border 0 gets 1. Memory does not grow with ``count`` texts.
    """
    found = np.ones(count, dtype=np.float64)
    for first in range(1, count, _BLOCK):
        last = min(count, first + _BLOCK)
        low, high = max(0, first - reach), min(count, last + reach)
        running = np.zeros((high - low + 1, DIMENSION), dtype=np.int64)
        np.cumsum(sums([text_of(at) for at in range(low, high)]), axis=0, out=running[1:])
        borders = np.arange(first, last) - low
        before = running[borders] - running[np.maximum(borders - reach, 0)]
        after = running[np.minimum(borders + reach, high - low)] - running[borders]
        found[first:last] = _cosines(before, after)
    return found


def _cosines(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    left, right = _small(left), _small(right)
    squares = (left * left).sum(axis=1).astype(np.float64) * (right * right).sum(axis=1).astype(np.float64)
    products = (left * right).sum(axis=1).astype(np.float64)
    cosines: NDArray[np.float64] = products / np.sqrt(np.where(squares > 0, squares, 1.0))
    return cosines
