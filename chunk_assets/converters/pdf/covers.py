"""Words under something drawn over them: blackened or whited out, but still in the file."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from chunk_assets.converters.pdf.graphics import Drawing
from chunk_assets.converters.pdf.native import TEXT_OBJECT, native

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_COVERS = 300
MAX_ORDER = 1 << 60
# A cover over more of the page than this is a background whose order we don't trust.
_BACKGROUND = 0.5

Cover = tuple[int, float, float, float, float]


def covered_words(
    page: int, drawing: Drawing, corners: NDArray[np.float64], objects: list[int | None]
) -> list[int]:
    """Indices of the words that lie wholly under an opaque rectangle drawn after them.

    ``page`` is the page's address, ``corners`` (n, 8) and ``objects`` are the words' corners and text
    objects. Only what is drawn on the page itself is looked at, not in forms.
    """
    solids = drawing.solids[: MAX_COVERS + 1]
    covers = [cover for place, item in solids if (cover := _cover(item, place, page))]
    if not covers or len(covers) > MAX_COVERS:
        return []
    under = _under(covers, corners)
    if not under:
        return []
    order = {item: place for place, item in enumerate(drawing.found)}
    found = {}
    for seq, above in under.items():
        if order.get(objects[seq], MAX_ORDER) < above:
            left, top, _, bottom, _, _, right, _ = corners[seq].tolist()
            found[seq] = ((left + right) / 2, (top + bottom) / 2, above)
    return _not_drawn_again(found, drawing) if found else []


def _under(covers: list[Cover], corners: NDArray[np.float64]) -> dict[int, int]:
    """By index of the words within a cover, the place of the last cover over them."""
    import numpy as np

    left, right = corners[:, 0], corners[:, 6]
    middle = (corners[:, 1] + corners[:, 3]) / 2
    last = np.full(len(corners), -1)
    for place, x0, y0, x1, y1 in covers:
        within = (x0 - 1 <= left) & (right <= x1 + 1) & (y0 <= middle) & (middle <= y1)
        last[within] = np.maximum(last[within], place)
    return {seq: int(last[seq]) for seq in np.flatnonzero(last >= 0).tolist()}


def _not_drawn_again(found: dict[int, tuple[float, float, int]], drawing: Drawing) -> list[int]:
    """The words over whose cover no text is drawn: PDFium tells only the first of equal texts."""
    edges = (ctypes.c_float * 4)()
    at = ctypes.addressof(edges)
    hidden = dict(found)
    lowest = min(place for _, _, place in found.values())
    for place, (item, kind) in enumerate(zip(drawing.found, drawing.kinds, strict=True)):
        if place < lowest or kind != TEXT_OBJECT or not hidden:
            continue
        native().bounds(item, at, at + 4, at + 8, at + 12)
        left, bottom, right, top = edges
        for seq, (x, y, cover) in list(hidden.items()):
            if place > cover and left <= x <= right and bottom - 2 <= y <= top + 2:
                del hidden[seq]
    return sorted(hidden)


def _cover(item: int, place: int, page: int) -> Cover | None:
    """The rectangle a filled path covers, if it is a plain and opaque one."""
    call = native()
    channels = (ctypes.c_uint * 4)()
    at = ctypes.addressof(channels)
    if call.segment_count(item) not in {4, 5} or call.transparent(item):
        return None
    if not call.fill_color(item, at, at + 4, at + 8, at + 12) or channels[3] < 255:
        return None
    edges = (ctypes.c_float * 4)()
    at = ctypes.addressof(edges)
    call.bounds(item, at, at + 4, at + 8, at + 12)
    left, bottom, right, top = edges
    wide = (right - left) * (top - bottom) > _BACKGROUND * call.page_width(page) * call.page_height(page)
    return None if wide else (place, left, bottom, right, top)
