"""Words under something drawn over them: blackened or whited out, but still in the file."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from chunk_assets.converters.pdf.native import TEXT_OBJECT, native

MAX_COVERS = 300
MAX_ORDER = 1 << 60
# A cover over more of the page than this is a background whose order we don't trust.
_BACKGROUND = 0.5

Cover = tuple[int, float, float, float, float]


def covered_words(
    page: int,
    solids: Sequence[tuple[int, int]],
    object_at: Callable[[int], int],
    starts: Sequence[int],
    flat: Sequence[float],
) -> list[int]:
    """Indices of the words that lie wholly under an opaque rectangle drawn after them.

    ``page`` is the page's address, ``solids`` are filled paths that come after a text (see
    ``Drawing``), ``object_at`` gives the text object of a character, ``starts`` and ``flat`` are the
    words' first characters and corners.
    """
    if not solids:
        return []
    covers = [cover for place, item in solids[: MAX_COVERS + 1] if (cover := _cover(item, place, page))]
    if not covers or len(covers) > MAX_COVERS:
        return []
    order, texts = _drawing_order(page)
    found: dict[int, tuple[float, float, int]] = {}
    for seq, start in enumerate(starts):
        left, top, _, bottom, _, _, right, _ = flat[8 * seq : 8 * seq + 8]
        middle = (top + bottom) / 2
        above = [c[0] for c in covers if c[1] - 1 <= left and right <= c[3] + 1 and c[2] <= middle <= c[4]]
        if above and order.get(object_at(start), MAX_ORDER) < max(above):
            found[seq] = ((left + right) / 2, middle, max(above))
    return _not_drawn_again(found, texts) if found else []


def _drawing_order(page: int) -> tuple[dict[int, int], dict[int, int]]:
    """Place in the drawing order by object address, and addresses of texts by place, top level only."""
    call = native()
    order: dict[int, int] = {}
    texts: dict[int, int] = {}
    for index in range(max(call.page_count(page), 0)):
        item = call.page_object(page, index) or 0
        order[item] = index
        if call.object_type(item) == TEXT_OBJECT:
            texts[index] = item
    return order, texts


def _not_drawn_again(found: dict[int, tuple[float, float, int]], texts: dict[int, int]) -> list[int]:
    """The words over whose cover no text is drawn: PDFium tells only the first of equal texts."""
    edges = (ctypes.c_float * 4)()
    at = ctypes.addressof(edges)
    hidden = dict(found)
    lowest = min(place for _, _, place in found.values())
    for place, item in texts.items():
        if place < lowest or not hidden:
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
