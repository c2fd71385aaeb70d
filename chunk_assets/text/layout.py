"""A document laid out in units: the smallest pieces that are not cut, each of which fits alone.

Units are sentences, table rows, list items and code blocks; a heading is one unit with what
follows it. What alone is over the limit has been cut already (``ladder``), so whoever packs units
into chunks never meets one that does not fit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.text import glue, ladder, reasons
from chunk_assets.text.contexts import Context, Contexts
from chunk_assets.text.markdown import kinds
from chunk_assets.text.measures import Measure, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from chunk_assets.text.document import TextDocument
    from chunk_assets.text.tokens import TokenCounter, TokenIndex

# A bound that nothing reaches.
UNBOUNDED = 1 << 40


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bounds of one run, 0 for none.

    ``max_tokens`` holds with the context, the others for the text alone. A sentence of more than
    ``sentence_words`` words is cut into windows of ``window_words``.
    """

    target_tokens: int
    max_tokens: int
    overlap_tokens: int = 0
    min_tokens: int = 0
    max_chars: int = 0
    overlap_chars: int = 0
    sentence_words: int = 0
    window_words: int = 0


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A text's token index with a bound for a whole chunk, and what counts contexts."""

    index: TokenIndex
    counter: TokenCounter
    bound: int


class Layout:
    """The units of one document and exact counts of any run of them, by each vocabulary.

    ``starts``, ``ends``: the units' spans (``int64[n]``, no outer white space); ``ranks``: how good a
    place to cut the start of each is (``reasons``); ``kinds``: the kind of block each is in.
    """

    def __init__(
        self,
        document: TextDocument,
        sizes: Sizes,
        vocabularies: Sequence[Vocabulary],
        embed: Callable[[Sequence[str]], NDArray[np.float32]] | None = None,
    ) -> None:
        self.embed = embed
        self.document, self.sizes, self.vocabularies = document, sizes, tuple(vocabularies)
        self.contexts = Contexts(document, [v.counter for v in vocabularies], [v.bound for v in vocabularies])
        self.columns: dict[int, tuple[int, int]] = {}
        starts, ends, ranks = _sentences(document)
        self._set(starts, ends, ranks)
        over = self._oversized()
        if len(over):
            self._set(*self._cut(over))
        self._rooms()
        for groups in (glue.whole_items, glue.keep_together):
            self._join(groups(self))

    def __len__(self) -> int:
        return len(self.starts)

    def _set(self, starts: NDArray[np.int64], ends: NDArray[np.int64], ranks: NDArray[np.int64]) -> None:
        blocks = self.document.blocks
        self.starts, self.ends, self.ranks = starts, ends, ranks
        at = np.searchsorted(blocks.starts, starts, side="right") - 1
        self.kinds: NDArray[np.int64] = blocks.kinds[at] if len(at) else np.zeros(0, dtype=np.int64)
        self._s, self._e = starts.data, ends.data
        self.measures = tuple(Measure(v.index, starts, ends) for v in self.vocabularies)

    def _rooms(self) -> None:
        """Tokens left for the text, by unit at which a chunk begins, for each vocabulary."""
        rooms = [np.full(len(self.starts), v.bound, dtype=np.int64) for v in self.vocabularies]
        firsts = self.contexts.runs(self.starts)
        costs = [context.costs for context in self.contexts.many(self.starts[firsts])]
        lengths = np.diff(np.append(firsts, len(self.starts)))
        for which, room in enumerate(rooms):
            room -= np.repeat(np.array([cost[which] for cost in costs], dtype=np.int64), lengths)  # noqa: PLW2901 - in place
        cut = np.flatnonzero(np.isin(self.starts, list(self.columns))) if self.columns else self.starts[:0]
        for unit in cut.tolist():
            for room, vocabulary, cost in zip(
                rooms, self.vocabularies, self.context(unit).costs, strict=True
            ):
                room[unit] = vocabulary.bound - cost
        self.rooms = tuple(rooms)
        self._r = tuple(room.data for room in rooms)

    def context(self, first: int) -> Context:
        """The context of a chunk that begins with unit ``first``."""
        return self.contexts.at(self._s[first], self.columns.get(self._s[first]))

    def _join(self, firsts: NDArray[np.int64]) -> None:
        """Makes one unit of each run that begins at ``firsts``."""
        if len(firsts) == len(self.starts):
            return
        lasts = np.append(firsts[1:], len(self.starts)) - 1
        self.measures = tuple(measure.joined(firsts, lasts) for measure in self.measures)
        self.rooms = tuple(np.ascontiguousarray(room[firsts]) for room in self.rooms)
        self._r = tuple(room.data for room in self.rooms)
        self.starts, self.ends = self.starts[firsts], self.ends[lasts]
        self.ranks, self.kinds = self.ranks[firsts], self.kinds[firsts]
        self._s, self._e = self.starts.data, self.ends.data

    def tokens(self, first: int, last: int) -> int:
        """Exact tokens of the text of units ``first`` to ``last`` by the policy's tokenizer."""
        return self.measures[0].tokens(first, last)

    def chars(self, first: int, last: int) -> int:
        """Characters from the start of unit ``first`` to the end of unit ``last``."""
        return self._e[last] - self._s[first]

    def start(self, unit: int) -> int:
        """First character of a unit."""
        return self._s[unit]

    def end(self, unit: int) -> int:
        """The character after a unit."""
        return self._e[unit]

    def fits(self, first: int, last: int, target: int = 0) -> bool:
        """Whether the run is within the bounds (and ``target`` tokens where one is given)."""
        if self.sizes.max_chars and self.chars(first, last) > self.sizes.max_chars:
            return False
        if target and self.tokens(first, last) > target:
            return False
        return all(
            m.tokens(first, last) <= room[first] for m, room in zip(self.measures, self._r, strict=True)
        )

    def fitting(
        self, firsts: NDArray[np.int64], lasts: NDArray[np.int64], target: int = 0
    ) -> NDArray[np.bool_]:
        """``fits`` of many runs."""
        fit = np.ones(len(firsts), dtype=bool)
        if self.sizes.max_chars:
            fit &= self.ends[lasts] - self.starts[firsts] <= self.sizes.max_chars
        for measure, room in zip(self.measures, self.rooms, strict=True):
            counts = measure.runs(firsts, lasts)
            fit &= counts <= room[firsts]
            if target and measure is self.measures[0]:
                fit &= counts <= target
        return fit

    def reach(self, first: int, target: int, most: int) -> int:
        """The last unit up to which a chunk that begins with ``first`` is within every bound.

        Those are the bounds of the layout, and ``target`` tokens of text (0: none); at most
        ``most``, and ``first`` itself where it alone is over the target.
        """
        if self.sizes.max_chars:
            most = self._reach_chars(first, most)
        unsure: list[tuple[Measure, int]] = []
        for measure, room in zip(self.measures, self._r, strict=True):
            limit = min(target, room[first]) if target and measure is self.measures[0] else room[first]
            if most > first and limit < UNBOUNDED // 2:
                last = measure.reach(first, limit, most)
                if last < 0:
                    unsure.append((measure, limit))
                else:
                    most = last
        return walk(unsure, first, most) if unsure else most

    def _reach_chars(self, first: int, most: int) -> int:
        limit = self._s[first] + self.sizes.max_chars
        return max(first, min(most, int(np.searchsorted(self.ends, limit, side="right")) - 1))

    def _cut(self, over: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Starts, ends and ranks of the units after cutting those that are over a limit."""
        new_starts, new_ranks = [self.starts], [self.ranks]
        for unit in over.tolist():
            found = self._pieces(self._s[unit], self._e[unit])
            new_starts.append(np.array([at for at, _ in found], dtype=np.int64))
            new_ranks.append(np.array([rank for _, rank in found], dtype=np.int64))
        starts, ranks = np.concatenate(new_starts), np.concatenate(new_ranks)
        order = np.argsort(starts, kind="stable")
        starts, ranks = starts[order], ranks[order]
        # A piece ends where its unit ended, unless the next piece begins before that.
        ends = self.ends[np.searchsorted(self.starts, starts, side="right") - 1]
        following = np.append(starts[1:], np.iinfo(np.int64).max)
        return _without_blanks(self.document, starts, np.minimum(ends, following), ranks)

    def _oversized(self) -> NDArray[np.int64]:
        """The units that alone are over a limit."""
        sizes, lengths = self.sizes, self.ends - self.starts
        over = np.zeros(len(lengths), dtype=bool)
        if sizes.max_chars:
            over |= lengths > sizes.max_chars
        if sizes.sentence_words:
            self._mark_wordy(over, np.flatnonzero(lengths > 2 * sizes.sentence_words))
        for which, measure in enumerate(self.measures):
            bound, budget = self.vocabularies[which].bound, self.contexts.budgets[which]
            counts = measure.each()
            # Only a unit that would not fit with the longest context needs to know its own.
            for unit in np.flatnonzero(counts > bound - 2 * budget).tolist():
                over[unit] |= counts[unit] > bound - self.contexts.at(self._s[unit]).costs[which]
        return np.flatnonzero(over)

    def _mark_wordy(self, over: NDArray[np.bool_], long: NDArray[np.int64]) -> None:
        text, most = self.document.markdown, self.sizes.sentence_words
        for unit in long.tolist():
            if int(self.kinds[unit]) not in glue.UNWORDED:
                over[unit] |= len(text[self._s[unit] : self._e[unit]].split(None, most)) > most

    def _pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """Cuts inside one oversized unit; each piece fits with the context it will have."""
        blocks = self.document.blocks
        kind = int(blocks.kinds[np.searchsorted(blocks.starts, start, side="right") - 1])
        sizes = self.sizes
        is_table = kind in (kinds.TABLE, kinds.HTML_TABLE)
        own, inside = self.contexts.at(start), self.contexts.at(start + 1)
        bounds = []
        for which, vocabulary in enumerate(self.vocabularies):
            cost = max(own.costs[which], inside.costs[which])
            most = vocabulary.bound - (2 * self.contexts.budgets[which] if is_table else cost)
            if which == 0 and sizes.target_tokens:
                most = min(most, sizes.target_tokens)
            bounds.append((vocabulary.index, max(1, most)))
        room = ladder.Room(
            self.document.markdown,
            tuple(bounds),
            sizes.max_chars,
            sizes.window_words if kind not in glue.UNWORDED else 0,
            1 if len(bounds) > 1 else -1,
        )
        found = list(ladder.cuts(room, start, end, kind))
        if is_table and start in self.document.blocks.rows:
            self._note_columns(start, end, kind, [at for at, _ in found])
        return found

    def _note_columns(self, start: int, end: int, kind: int, pieces: list[int]) -> None:
        cells = ladder.cell_starts(self.document.markdown, start, end, kind)
        borders = [*pieces, end]
        for at, stop in zip(pieces, borders[1:], strict=True):
            first = max(0, bisect_right(cells, at) - 1)
            self.columns[at] = (first, max(first + 1, bisect_left(cells, stop)))


def _sentences(
    document: TextDocument,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    starts = document.sentence_starts
    blocks = document.blocks
    ranks = np.full(len(starts), reasons.SENTENCE, dtype=np.int64)
    heads = blocks.starts[blocks.kinds == kinds.HEADING]
    for places, rank in (
        (blocks.nested_fences.ravel(), reasons.ITEM),
        (blocks.items, reasons.ITEM),
        (blocks.rows, reasons.ROW),
        (blocks.starts, reasons.BLOCK),
        (heads, reasons.SECTION),
    ):
        at = np.searchsorted(starts, places)
        hit = at < len(starts)
        hit[hit] = starts[at[hit]] == places[hit]
        ranks[at[hit]] = rank
    ends = np.append(starts[1:], len(document.markdown))
    return _without_blanks(document, starts, ends, ranks)


def _without_blanks(
    document: TextDocument, starts: NDArray[np.int64], ends: NDArray[np.int64], ranks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Trimmed spans, the blank ones left out; the best border among those left out is kept."""
    starts, ends = document.trimmed(starts, ends)
    filled = np.flatnonzero(ends > starts)
    if not len(filled):
        none = np.zeros(0, dtype=np.int64)
        return none, none, none
    since = np.append(0, filled[:-1] + 1)
    best = np.maximum.reduceat(ranks[: filled[-1] + 1], since)
    return starts[filled], ends[filled], best
