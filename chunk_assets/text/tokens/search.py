"""The forced borders of one text next to an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.tokens.borders import Borders


class BorderSearch:
    """Looks at the characters near an offset, since a border is hardly ever far.

    Once more has been looked at than the text is long, all its borders are found and kept: a text
    with long stretches without any costs no more than that.
    """

    def __init__(self, borders: Borders, points: NDArray[Any]) -> None:
        self._borders, self._points = borders, points
        self._left = len(points)
        self._all: NDArray[np.int32] | None = None

    def first(self, start: int, stop: int) -> int:
        """The first forced border in ``start..stop`` (both included), or -1."""
        known = self._known(stop - start)
        if known is None:
            return self._spent(self._borders.first(self._points, start, stop), stop - start)
        at = int(known.searchsorted(np.int32(max(start, 0))))
        return int(known[at]) if at < len(known) and known[at] <= stop else -1

    def last(self, start: int, stop: int) -> int:
        """The last forced border in ``start..stop`` (both included), or -1."""
        known = self._known(stop - start)
        if known is None:
            return self._spent(self._borders.last(self._points, start, stop), stop - start)
        at = int(known.searchsorted(np.int32(min(stop, len(self._points))), side="right")) - 1
        return int(known[at]) if at >= 0 and known[at] >= start else -1

    def _known(self, width: int) -> NDArray[np.int32] | None:
        if self._all is None and self._left < width:
            self._all = np.flatnonzero(self._borders.between(self._points)).astype(np.int32) + np.int32(1)
        return self._all

    def _spent(self, found: int, width: int) -> int:
        # A border that was found was near: that look cost little.
        self._left -= width if found < 0 else 0
        return found
