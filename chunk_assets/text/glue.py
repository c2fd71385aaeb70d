"""Which neighbouring units are one: a heading and its body, a table's header and first row, a list item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.text import reasons
from chunk_assets.text.markdown import kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.layout import Layout

_COLON = (ord(":"), ord("："))
# Blocks that are never cut by a number of words.
UNWORDED = frozenset({kinds.TABLE, kinds.HTML_TABLE, kinds.FENCE, kinds.HTML, kinds.FRONT_MATTER})


def whole_items(layout: Layout) -> NDArray[np.int64]:
    """First units after joining the sentences of every list item that fits as a whole."""
    count = len(layout)
    goes_on = (layout.kinds == kinds.LIST) & np.isin(layout.ranks, (reasons.SENTENCE, reasons.ROW))
    if not goes_on.any():
        return np.arange(count)
    firsts = np.flatnonzero(~goes_on)
    lasts = np.append(firsts[1:], count) - 1
    long = np.flatnonzero(lasts > firsts)
    keep = np.ones(count, dtype=bool)
    for run in long.tolist():
        first, last = int(firsts[run]), int(lasts[run])
        if layout.fits(first, last, layout.sizes.target_tokens):
            keep[first + 1 : last + 1] = False
    return np.flatnonzero(keep)


def keep_together(layout: Layout) -> NDArray[np.int64]:
    """First units after joining what should not be parted, wherever it fits together.

    Headings, introductions and header rows go with what follows them, rules with what is before.
    """
    count = len(layout)
    keep = np.ones(count, dtype=bool)
    group_end = np.arange(count)
    target = layout.sizes.target_tokens
    for unit in np.flatnonzero(_clings(layout))[::-1].tolist():
        last = int(group_end[unit + 1])
        if layout.fits(unit, last, target):
            keep[unit + 1] = False
            group_end[unit] = last
    return np.flatnonzero(keep)


def _clings(layout: Layout) -> NDArray[np.bool_]:
    """Which units should not be parted from the next one."""
    clings: NDArray[np.bool_] = layout.kinds == kinds.HEADING
    if not len(clings):
        return clings
    following, parts = layout.kinds[1:], layout.ranks[1:]
    clings[:-1] |= (parts == reasons.ROW) & (layout.ranks[:-1] != reasons.ROW)
    clings[:-1] |= (following == kinds.RULE) & (parts == reasons.BLOCK)
    colon = np.isin(layout.document.points[layout.ends[:-1] - 1], _COLON)
    clings[:-1] |= colon & (layout.kinds[:-1] == kinds.PARAGRAPH) & (parts == reasons.BLOCK)
    clings[:-1] &= layout.kinds[:-1] != kinds.FRONT_MATTER
    clings[-1] = False
    return clings
