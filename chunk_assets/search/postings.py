"""Inverted lists: for each term the rows that have it, in arrays that are mapped, not read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PARTS = ("starts", "rows", "values")


@dataclass(frozen=True, slots=True)
class Postings:
    """Term ``t`` is in ``rows[starts[t]:starts[t + 1]]`` (rising), with the ``values`` beside them.

    ``starts`` is ``int64[terms + 1]``, ``rows`` ``int32[n]``, ``values`` ``float32[n]``.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: NDArray[np.float32]

    @property
    def terms(self) -> int:
        """How many terms there are."""
        return len(self.starts) - 1

    @property
    def counts(self) -> NDArray[np.int64]:
        """``int64[terms]``: in how many rows each term is."""
        import numpy as np

        return np.diff(self.starts)

    def of(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows and values of one term."""
        place = slice(int(self.starts[term]), int(self.starts[term + 1]))
        return self.rows[place], self.values[place]

    def save(self, folder: Path) -> None:
        """Writes one file an array."""
        import numpy as np

        folder.mkdir(parents=True, exist_ok=True)
        for name in PARTS:
            np.save(folder / f"{name}.npy", getattr(self, name))


def load(folder: Path) -> Postings:
    """What ``save`` wrote, mapped."""
    import numpy as np

    return Postings(*(np.load(folder / f"{name}.npy", mmap_mode="r") for name in PARTS))


def inverted(
    terms: NDArray[np.integer], rows: NDArray[np.integer], values: NDArray[np.number], size: int
) -> Postings:
    """Postings of ``size`` terms from (term, row, value), each pair once, rows rising."""
    import numpy as np

    order = np.argsort(terms, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(terms, minlength=size))]).astype(np.int64)
    return Postings(starts, rows[order].astype(np.int32), values[order].astype(np.float32))


def merged(parts: Iterable[tuple[Postings, NDArray[np.int64], int]], size: int) -> Postings:
    """Postings of ``size`` terms from those of parts, each in turn.

    A part is its postings, the number in the whole of each of its terms, and of its first row. What
    this costs is copying: nothing is sorted.
    """
    import numpy as np

    parts = list(parts)
    counts = np.zeros(size, np.int64)
    for part, numbers, _ in parts:
        counts[numbers] += part.counts
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    total = int(starts[-1])
    rows, values = np.empty(total, np.int32), np.empty(total, np.float32)
    free = starts[:-1].copy()
    for part, numbers, first in parts:
        at = np.repeat(free[numbers] - part.starts[:-1], part.counts) + np.arange(len(part.rows))
        rows[at] = part.rows + np.int32(first)
        values[at] = part.values
        free[numbers] += part.counts
    return Postings(starts, rows, values)
