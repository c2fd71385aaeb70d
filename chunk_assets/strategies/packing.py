"""Packing units into chunks: windows with whole units of overlap, and the rule for short tails."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.strategies.base import Piece
from chunk_assets.text import reasons
from chunk_assets.text.markdown import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from chunk_assets.text.layout import Layout

# A better border is taken only where the chunk that ends there has this part of its target.
_LEAST_FILL = 4

Run = tuple[int, int]


def pieces(layout: Layout, runs: Iterable[Run]) -> list[Piece]:
    """The runs of units (first and last) as spans."""
    return [Piece(layout.start(first), layout.end(last)) for first, last in runs]


def parts(layout: Layout, borders: NDArray[np.bool_] | None = None) -> list[Run]:
    """The whole document as runs that begin where ``borders`` says (``bool[n]``).

    Front matter is always a run of its own.
    """
    count = len(layout)
    if not count:
        return []
    begins = np.zeros(count, dtype=bool) if borders is None else borders.copy()
    begins[0] = True
    front = layout.kinds == kinds.FRONT_MATTER
    begins[1:] |= front[:-1] & ~front[1:]
    begins |= apart(layout)
    firsts = np.flatnonzero(begins)
    lasts = np.append(firsts[1:], count) - 1
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def apart(layout: Layout) -> NDArray[np.bool_]:
    """Which units begin a chunk whatever the packing: pieces of a row that was cut between cells.

    The context of each names its own columns, so neither another piece nor the next row joins it.
    """
    found = np.isin(layout.starts, np.array(sorted(layout.columns), dtype=np.int64))
    found[1:] |= found[:-1]
    return found


class Preferred:
    """The last border of each rank, for packing that rather ends a chunk at a better border."""

    def __init__(self, layout: Layout, ranks: Iterable[int]) -> None:
        at = np.arange(len(layout))
        self._last = [np.maximum.accumulate(np.where(layout.ranks >= rank, at, -1)).data for rank in ranks]
        self._layout = layout

    def end(self, first: int, last: int) -> int:
        """The unit at which a chunk from ``first`` that could reach ``last`` should end."""
        layout = self._layout
        least = layout.tokens(first, last) // _LEAST_FILL
        for borders in self._last:
            at = borders[last + 1]
            if at > first and layout.tokens(first, at - 1) >= least:
                return at - 1
        return last


def windows(layout: Layout, first: int, last: int, preferred: Preferred | None = None) -> list[Run]:
    """Units ``first`` to ``last`` as chunks of the target size.

    Each after the first begins with whole units of the one before: as many as the overlap budget
    holds and leaves room for.
    """
    target = layout.sizes.target_tokens
    runs: list[Run] = []
    while True:
        end = layout.reach(first, target, last)
        if runs:
            while end <= runs[-1][1] and first <= runs[-1][1]:
                # The overlap leaves no room for what follows it: it gives way.
                first = _next_whole(layout, first + 1, runs[-1][1] + 1)
                end = layout.reach(first, target, last)
        if preferred and end < last:
            end = _preferred_end(preferred, runs, first, end)
        runs.append((first, end))
        if end >= last:
            return with_tail(layout, runs)
        first = overlap_start(layout, first, end)


def _preferred_end(preferred: Preferred, runs: list[Run], first: int, end: int) -> int:
    better = preferred.end(first, end)
    return better if not runs or better > runs[-1][1] else end


def _next_whole(layout: Layout, first: int, last: int) -> int:
    """The next unit, at most ``last``, that begins with a whole sentence."""
    while first < last and layout.ranks[first] < reasons.SENTENCE:
        first += 1
    return first


def overlap_start(layout: Layout, first: int, last: int) -> int:
    """The unit with which the chunk after ``first`` to ``last`` begins: whole sentences only."""
    best = start = last + 1
    while start - 1 > first and is_overlap(layout, start - 1, last):
        start -= 1
        if layout.ranks[start] >= reasons.SENTENCE:
            best = start
    return best


def is_overlap(layout: Layout, first: int, last: int) -> bool:
    """Whether a chunk may repeat these units of the one before; a budget of 0 in both is no overlap."""
    tokens, chars = layout.sizes.overlap_tokens, layout.sizes.overlap_chars
    if chars and layout.chars(first, last) > chars:
        return False
    if not tokens:
        return bool(chars)
    return layout.tokens(first, last) <= tokens


def with_tail(layout: Layout, runs: list[Run]) -> list[Run]:
    """The runs, where a last one under ``min_tokens`` joins the one before, or takes units from it."""
    least = layout.sizes.min_tokens
    if len(runs) < 2 or not least or layout.tokens(*runs[-1]) >= least:
        return runs
    (before, before_end), (tail, end) = runs[-2:]
    if layout.fits(before, end):
        return [*runs[:-2], (before, end)]
    while tail - 1 > before and layout.tokens(tail, end) < least and layout.fits(tail - 1, end):
        tail -= 1
    while tail - 1 > before and layout.ranks[tail] < reasons.SENTENCE and layout.fits(tail - 1, end):
        tail -= 1
    if layout.ranks[tail] < reasons.SENTENCE or layout.tokens(tail, end) < least:
        return runs
    if layout.tokens(before, tail - 1) < least or (len(runs) > 2 and tail - 1 <= runs[-3][1]):
        return runs
    return [*runs[:-2], (before, _shared_end(layout, tail, before_end)), (tail, end)]


def _shared_end(layout: Layout, tail: int, before_end: int) -> int:
    """Where the chunk before ``tail`` ends so that the two share no more than the overlap budget."""
    end = min(before_end, tail - 1)
    while end < before_end and is_overlap(layout, tail, end + 1):
        end += 1
    return end


def natural(layout: Layout, hard: NDArray[np.bool_], merge_below: int) -> list[Run]:
    """Blocks as chunks.

    Those under ``merge_below`` tokens join the next one (or, before a hard border, the one before)
    where the two are within the target; those over it become windows.
    """
    hard = hard | apart(layout)
    blocks = parts(layout, hard | (layout.ranks >= reasons.BLOCK))
    if not blocks:
        return []
    packer = _Natural(layout, blocks, merge_below)
    borders = [*packer.sections(hard), len(blocks)]
    for begin, end in itertools.pairwise(borders):
        packer.pack(begin, end)
    return packer.runs


class _Natural:
    """Packs blocks, known by their numbers. Most of them are chunks as they are, and taken in one go."""

    def __init__(self, layout: Layout, blocks: list[Run], merge_below: int) -> None:
        self._layout, self._blocks, self._least = layout, blocks, merge_below
        self._target = layout.sizes.target_tokens
        self._firsts, self._lasts = np.array(blocks, dtype=np.int64).T
        fits = layout.fitting(self._firsts, self._lasts, self._target)
        small = layout.measures[0].runs(self._firsts, self._lasts) < merge_below
        self._fits: list[bool] = fits.tolist()
        self._odd: list[int] = np.flatnonzero(small | ~fits).tolist()
        self.runs: list[Run] = []

    def sections(self, hard: NDArray[np.bool_]) -> list[int]:
        """The numbers of the blocks that begin a section."""
        begins = hard[self._firsts]
        begins[0] = True
        begins[1:] |= (self._layout.kinds == kinds.FRONT_MATTER)[self._lasts[:-1]]
        found: list[int] = np.flatnonzero(begins).tolist()
        return found

    def pack(self, begin: int, end: int) -> None:
        """Adds the runs of the blocks of one section."""
        before = len(self.runs)  # what a short last run may not join: the section before, windows
        at = begin
        for odd in self._odd[bisect_left(self._odd, begin) : bisect_left(self._odd, end)]:
            if odd < at:
                continue
            self.runs.extend(self._blocks[at:odd])
            if self._fits[odd]:
                at = self._grown(odd, end)
                self._add((self._blocks[odd][0], self._blocks[at - 1][1]), at == end, before)
            else:
                self.runs.extend(windows(self._layout, *self._blocks[odd]))
                at, before = odd + 1, len(self.runs)
        self.runs.extend(self._blocks[at:end])

    def _grown(self, first: int, end: int) -> int:
        """The number after the blocks that a small one joins."""
        layout, start, after = self._layout, self._blocks[first][0], first + 1
        while after < end and layout.tokens(start, self._blocks[after - 1][1]) < self._least:
            if not layout.fits(start, self._blocks[after][1], self._target):
                break
            after += 1
        return after

    def _add(self, run: Run, is_last: bool, before: int) -> None:
        if is_last and len(self.runs) > before and self._layout.tokens(*run) < self._least:
            joined = (self.runs[-1][0], run[1])
            if self._layout.fits(*joined, self._target):
                self.runs[-1] = joined
                return
        self.runs.append(run)
