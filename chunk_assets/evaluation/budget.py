"""Reads ranked chunks up to a budget of tokens, characters that were read before being free."""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\S+")
Count = Callable[[Sequence[str]], list[int]]
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TokenMap:
    """Words of a document: where each starts and ends, and how many tokens come before it."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    before: NDArray[np.int64]

    def tokens(self, start: int, end: int) -> int:
        """Tokens of the words that start in ``[start, end)``."""
        first, last = np.searchsorted(self.starts, [start, end])
        return int(self.before[last] - self.before[first])

    def cut(self, start: int, end: int, budget: int) -> int:
        """The furthest end up to which ``[start, end)`` has at most ``budget`` tokens, at a word's end."""
        first, last = np.searchsorted(self.starts, [start, end])
        fits = int(np.searchsorted(self.before[first : last + 1], self.before[first] + budget, "right")) - 1
        if first + fits >= last:
            return end
        return int(self.ends[first + fits - 1]) if fits > 0 else start


def token_map(text: str, count: Count) -> TokenMap:
    """Tokens of ``text`` word by word.

    Exact for tokenizers that split at white space first (WordPiece); for others words are counted
    alone, which is off by little. ``count`` includes special tokens, which are taken off.
    """
    words = list(_WORD.finditer(text))
    distinct = sorted({m.group() for m in words})
    special = count([""])[0]
    costs = dict(zip(distinct, (n - special for n in count(distinct)), strict=True))
    sizes = np.array([costs[m.group()] for m in words], dtype=np.int64)
    return TokenMap(
        np.array([m.start() for m in words], dtype=np.int64),
        np.array([m.end() for m in words], dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes)]),
    )


def read(ranked: Iterable[Range], tokens: TokenMap, budget: int) -> list[Range]:
    """What was read when the ranked chunks are read until ``budget`` tokens are used up.

    Characters that were read before are free. A chunk that doesn't fit any more is read as far as the
    budget goes, so that every chunker hands over the same amount. A context is not text and is free.
    """
    known: list[Range] = []
    for chunk in ranked:
        for start, end in gaps(chunk, known):
            cost = tokens.tokens(start, end)
            insort(known, (start, end if cost <= budget else tokens.cut(start, end, budget)))
            budget -= cost
            if budget <= 0:
                return known
    return known


def gaps(span: Range, known: Sequence[Range]) -> list[Range]:
    """The parts of ``span`` that are in none of ``known`` (sorted, disjoint).

    >>> gaps((0, 10), [(2, 4), (9, 12)])
    [(0, 2), (4, 9)]
    """
    parts, (at, last) = [], span
    for start, end in known:
        if end <= at:
            continue
        if start >= last:
            break
        if at < start:
            parts.append((at, start))
        at = max(at, end)
    return [*parts, (at, last)] if at < last else parts
