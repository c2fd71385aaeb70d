"""Counts of short words, looked up for thousands of words at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# The longest word with an exact key, in bytes.
LONGEST = 16
_BITS = 17
_SHIFT = np.uint64(64 - _BITS)
_MIX_LOW = np.uint64(0x9E3779B97F4A7C15)
_MIX_HIGH = np.uint64(0xC2B2AE3D27D4EB4F)
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)

Keys = tuple["NDArray[np.uint64]", "NDArray[np.uint64]"]


class WordTable:
    """Counts of words of up to 16 ASCII characters, in a direct-mapped table of exact keys (2.6 MB).

    A word is its bytes as two numbers. Two words that fall on one slot push each other out, which
    costs time and never changes a count. What was counted once is known for the next text; each
    thread has a table of its own.
    """

    def __init__(self) -> None:
        self._of_thread = threading.local()

    def counts(
        self, keys: Keys, exact: NDArray[np.bool_], count: Callable[[NDArray[np.int64]], list[int]]
    ) -> NDArray[np.int32]:
        """Tokens of each word; ``count`` tells them for the numbers of words that are not known.

        ``exact`` says of which words the key is all of it.
        """
        known_keys, known_counts = self._table()
        low, high = keys
        slots = ((low * _MIX_LOW) ^ (high * _MIX_HIGH)) >> _SHIFT
        missing = np.flatnonzero((known_keys[0, slots] != low) | (known_keys[1, slots] != high) | ~exact)
        found: NDArray[np.int32] = known_counts[slots]
        if len(missing):
            found[missing] = count(missing)
            new = missing[exact[missing]]
            # Of several words for one slot the last is kept, in all three arrays alike.
            _, last = np.unique(slots[new][::-1], return_index=True)
            new = new[::-1][last]
            at = slots[new]
            known_keys[0, at], known_keys[1, at], known_counts[at] = low[new], high[new], found[new]
        return found

    def _table(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        table: tuple[NDArray[np.uint64], NDArray[np.int32]] | None = getattr(self._of_thread, "table", None)
        if table is None:
            # No word has this key: its bytes are not ASCII.
            keys = np.full((2, 1 << _BITS), 0xFFFFFFFFFFFFFFFF, dtype=np.uint64)
            table = keys, np.zeros(1 << _BITS, dtype=np.int32)
            self._of_thread.table = table
        return table


def keys_in(data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Keys:
    """The first and second eight bytes of each word of ``data`` as numbers, zero beyond its end."""
    padded = np.concatenate([data, np.zeros(LONGEST, dtype=np.uint8)])
    eights = np.ndarray((len(data) + 9,), dtype="<u8", buffer=padded, strides=(1,))
    low = eights[starts] & _MASKS[np.minimum(lengths, 8)]
    high = np.zeros_like(low)
    longer = np.flatnonzero(lengths > 8)
    high[longer] = eights[starts[longer] + 8] & _MASKS[np.minimum(lengths[longer], LONGEST) - 8]
    return low, high


def keys_of(rows: NDArray[np.uint8], lengths: NDArray[np.int64]) -> Keys:
    """The same for words that each begin a row of 16 bytes, ``uint8[n, 16]``."""
    eights = np.ascontiguousarray(rows).view("<u8")
    return eights[:, 0] & _MASKS[np.minimum(lengths, 8)], eights[:, 1] & _MASKS[np.maximum(lengths - 8, 0)]
