"""How many tokens there are between any two units of a text, exactly, for one vocabulary."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunk_assets.text.tokens import TokenIndex


class Measure:
    """Token counts of runs of units. Unit ``i`` is ``text[starts[i]:ends[i]]``; units don't overlap."""

    def __init__(self, index: TokenIndex, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        self.index = index
        self._starts, self._ends = starts.data, ends.data
        marks = index.marks(starts, ends)
        self.before, self.after = marks.starts, marks.ends
        self._first, self._last = marks.first, marks.last
        self._views()

    def _views(self) -> None:
        self._b, self._a = self.before.data, self.after.data
        self._f, self._l = self._first.data, self._last.data

    def joined(self, firsts: NDArray[np.int64], lasts: NDArray[np.int64]) -> Measure:
        """The measure of coarser units: unit ``k`` is the run ``firsts[k]`` to ``lasts[k]``."""
        new = Measure.__new__(Measure)
        new.index = self.index
        new._starts = np.asarray(self._starts)[firsts].data
        new._ends = np.asarray(self._ends)[lasts].data
        new.before, new._first = self.before[firsts], self._first[firsts]
        new.after, new._last = self.after[lasts], self._last[lasts]
        new._views()
        return new

    def tokens(self, first: int, last: int) -> int:
        """Exact tokens from the start of unit ``first`` to the end of unit ``last``."""
        if self._f[first] <= self._l[last]:
            return self._a[last] - self._b[first]
        return self.index.count(self._starts[first], self._ends[last])

    def each(self) -> NDArray[np.int64]:
        """Exact tokens of each unit alone."""
        return self.runs(np.arange(len(self.before)), np.arange(len(self.before)))

    def runs(self, firsts: NDArray[np.int64], lasts: NDArray[np.int64]) -> NDArray[np.int64]:
        """``tokens`` of many runs."""
        counts: NDArray[np.int64] = self.after[lasts] - self.before[firsts]
        unsure = np.flatnonzero(self._first[firsts] > self._last[lasts])
        if len(unsure):
            starts, ends = np.asarray(self._starts)[firsts[unsure]], np.asarray(self._ends)[lasts[unsure]]
            counts[unsure] = self.index.counts(starts, ends)
        return counts

    def reach(self, first: int, limit: int, most: int) -> int:
        """The last unit up to which the run from ``first`` has ``limit`` tokens or fewer.

        At most ``most``; ``first`` itself where it alone has more; -1 where no border is sure after
        ``first``, so that ``walk`` must find out.
        """
        last = bisect_right(self._a, self._b[first] + limit, first, most + 1) - 1
        if last < first or self._f[first] > self._l[last]:
            return -1
        while last < most and self.tokens(first, last + 1) <= limit:
            last += 1
        while last > first and self.tokens(first, last) > limit:
            last -= 1
        return last


def walk(bounds: Sequence[tuple[Measure, int]], first: int, most: int) -> int:
    """``reach`` within several limits at once, unit by unit: no count is of more than fits."""
    last = first
    while last < most and all(measure.tokens(first, last + 1) <= limit for measure, limit in bounds):
        last += 1
    return last
