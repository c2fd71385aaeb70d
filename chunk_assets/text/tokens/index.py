"""Counts of parts of a text by forced borders and prefix sums.

Let ``r`` and ``q`` be the first and last forced border in ``start..end``. Then

    count(start, end) = count(start, r) + P(q) - P(r) + count(q, end)

where ``P`` is the number of tokens of the whole text that end up to a place. The outer pieces are
one word each, and remembered. Nothing is estimated: both borders are borders of every tokenisation.

A stretch of more than ``limit`` characters without a forced border (a *long run*: letters, blanks,
newlines, ideographs) is tokenised in pieces of ``limit`` characters, so that no engine takes
quadratic time or gives up. Its count is defined by these pieces, counted from where the run
begins in the text at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text import graphemes
from chunk_assets.text.tokens.base import Marks
from chunk_assets.text.tokens.search import BorderSearch
from chunk_assets.text.tokens.table import WordTable
from chunk_assets.text.tokens.windows import heads, tails

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from chunk_assets.text.tokens.borders import Borders
    from chunk_assets.text.tokens.memory import Memory

# Spans up to this are counted outright.
_SHORT = 32
UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Rules:
    """What an index needs to know of a vocabulary.

    ``part`` counts a text of at most ``limit`` characters without long runs exactly; ``piece_ends``
    gives the character offsets at which its tokens end (rounded up to whole characters). ``words``
    remembers what ``part`` says of short words.
    """

    borders: Borders
    limit: int
    part: Memory
    piece_ends: Callable[[str], NDArray[np.int32]]
    words: WordTable = field(default_factory=WordTable)


@dataclass(frozen=True, slots=True)
class BorderIndex:
    """A ``TokenIndex`` by forced borders. ``points`` are ``spans.codes(text)``.

    ``unit_ends`` are the character offsets at which tokens (or whole words) end, ascending;
    ``cumulative`` the tokens up to each, or ``None`` when every unit is one token. ``runs`` are the
    offsets at which long runs begin. ``whole`` remembers the spans that hold no border, which are
    asked for again and again.
    """

    text: str
    points: NDArray[Any]
    rules: Rules
    unit_ends: NDArray[np.int32]
    cumulative: NDArray[np.int32] | None = None
    runs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    search: BorderSearch = field(init=False, repr=False, compare=False)
    whole: dict[tuple[int, int], int] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "search", BorderSearch(self.rules.borders, self.points))

    @property
    def total(self) -> int:
        """Tokens of the whole text."""
        return self._up_to(len(self.text))

    def count(self, start: int, end: int) -> int:
        """Exact tokens of ``text[start:end]`` tokenised alone."""
        if end - start <= _SHORT:
            return self.rules.part(self.text[start:end]) if start < end else 0
        if (start, end) in self.whole:
            return self.whole[start, end]
        head, first = self._head(start, end)
        if first < 0:
            self.whole[start, end] = head
            return head
        last = self._last(first, end)
        middle = self._up_to(last) - self._up_to(first)
        return head + middle + (self.rules.part(self.text[last:end]) if last < end else 0)

    def counts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """``count`` of many spans, ``int64[n]``."""
        marks = self.marks(starts, ends)
        found: NDArray[np.int64] = marks.ends - marks.starts
        for unsure in np.flatnonzero(marks.first > marks.last).tolist():
            found[unsure] = self.count(int(starts[unsure]), int(ends[unsure]))
        return found

    def marks(self, offsets: NDArray[np.int64], ends: NDArray[np.int64] | None = None) -> Marks:
        """See ``Marks``."""
        offsets = np.asarray(offsets, dtype=np.int64)
        ends = offsets if ends is None else np.asarray(ends, dtype=np.int64)
        first, head = heads(self.text, self.points, offsets, self.rules, self.search)
        last, tail = tails(self.text, self.points, ends, self.rules, self.search, self.runs)
        return Marks(offsets, self.up_to(first) - head, self.up_to(last) + tail, first, last)

    def furthest(self, start: int, max_tokens: int, stop: int | None = None) -> int:
        """The largest grapheme border up to which at most ``max_tokens`` fit; see ``TokenIndex``."""
        budget, stop = max_tokens, len(self.text) if stop is None else stop
        while True:
            end = graphemes.safe_cut(self.text, min(stop, self._reach(start, budget, stop)))
            if end <= start:
                return graphemes.next_cut(self.text, start)
            over = self.count(start, end) - max_tokens
            if over <= 0:
                return end
            budget -= 1

    def _head(self, start: int, end: int) -> tuple[int, int]:
        """Tokens before the first forced border in ``start..end``, and that border (or -1)."""
        if start == 0:
            return 0, 0
        counted = 0
        while True:
            stop = min(end, start + self.rules.limit)
            border = self.search.first(start, stop)
            counted += self.rules.part(self.text[start : border if border >= 0 else stop])
            if border >= 0 or stop == end:
                return counted, border
            start = stop

    def _last(self, first: int, end: int) -> int:
        """The last place in ``first..end`` that is a token border of both texts."""
        if end == len(self.text):
            return end
        border = max(first, self.search.last(first, end))
        return border + (end - border) // self.rules.limit * self.rules.limit

    def _reach(self, start: int, budget: int, end: int) -> int:
        """Where about ``budget`` tokens from ``start`` end, or ``end`` if before; to be verified."""
        text, rules = self.text, self.rules
        border = 0 if start == 0 else -1
        while border < 0:
            stop = min(end, start + rules.limit)
            border = self.search.first(start, stop)
            stop = border if border >= 0 else stop
            head = rules.part(text[start:stop])
            if head > budget:
                return self._within(start, stop, budget)
            if stop == end:
                return end
            budget -= head
            start = stop
        return self._unit_end(self._up_to(border) + budget)

    def _within(self, start: int, stop: int, budget: int) -> int:
        """Where ``budget`` tokens of the border-free ``text[start:stop]`` end; they are fewer than it has."""
        width = max(64, 4 * budget)
        while True:
            ends = self.rules.piece_ends(self.text[start : min(stop, start + width)])
            if len(ends) > budget or start + width >= stop:
                return start + int(ends[budget - 1]) if 0 < budget <= len(ends) else start
            width *= 2

    def _unit_end(self, tokens: int) -> int:
        if tokens >= self.total:
            return len(self.text)
        if self.cumulative is None:
            return int(self.unit_ends[tokens - 1]) if tokens > 0 else 0
        unit = _rank(self.cumulative, tokens)
        return int(self.unit_ends[unit - 1]) if unit > 0 else 0

    def _up_to(self, offset: int) -> int:
        units = _rank(self.unit_ends, offset)
        if self.cumulative is None or units == 0:
            return units
        return int(self.cumulative[units - 1])

    def up_to(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of the whole text that end up to each of the offsets."""
        units = np.searchsorted(self.unit_ends, offsets.astype(self.unit_ends.dtype), side="right")
        if self.cumulative is None:
            return units.astype(np.int64)
        found, some = np.zeros(len(units), dtype=np.int64), units > 0
        found[some] = self.cumulative[units[some] - 1]
        return found


def _rank(ascending: NDArray[np.int32], value: int) -> int:
    """How many are at most ``value``."""
    # A plain int would make numpy copy the whole array to int64 first.
    return int(ascending.searchsorted(np.int32(value), side="right"))
