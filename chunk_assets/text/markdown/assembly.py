"""From the kind of each line to blocks with spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.text.markdown import kinds
from chunk_assets.text.spans import merged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.markdown.blocks import BlockScanner


def assembled(of_line: NDArray[np.int64], scanner: BlockScanner | None) -> kinds.Blocks:
    """The blocks of a scanned text: runs of lines of one kind; none without a scanner."""
    if scanner is None:
        none, pairs = np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        return kinds.Blocks(none, none, none, none, none, none, pairs, pairs, pairs)
    filled = of_line != kinds.BLANK
    change = np.ones(len(of_line), dtype=bool)
    change[1:] = of_line[1:] != of_line[:-1]
    begins = filled & (change | (np.frombuffer(scanner.opens, dtype=np.uint8) > 0))
    first = np.flatnonzero(begins)
    stops = np.flatnonzero(change | begins)
    last = np.append(stops, len(of_line))[np.searchsorted(stops, first, side="right")] - 1
    levels = np.zeros(len(first), dtype=np.int64)
    for line, level in scanner.levels.items():
        levels[np.searchsorted(first, line)] = level
    return kinds.Blocks(
        of_line[first],
        np.asarray(scanner.starts)[first],
        np.asarray(scanner.ends)[last],
        levels,
        _sorted(scanner.items),
        _sorted(scanner.rows),
        _pairs(scanner.headers),
        _pairs(scanner.tables),
        _pairs(scanner.nested_fences),
    )


def _sorted(offsets: list[int]) -> NDArray[np.int64]:
    return merged(np.array(offsets, dtype=np.int64))


def _pairs(found: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(found, dtype=np.int64).reshape(-1, 2)
