"""What is drawn on a page beside text: straight rules, filled areas, pictures."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from itertools import repeat

from chunk_assets.converters.pdf.model import Rule
from chunk_assets.converters.pdf.native import (
    FORM_OBJECT,
    IMAGE_OBJECT,
    PATH_OBJECT,
    SHADING_OBJECT,
    TEXT_OBJECT,
    native,
    run,
)

# Bounds on the work for one page: a map or chart has 100,000 paths and no table worth finding.
MAX_OBJECTS = 60_000
MAX_PATHS = 8_000
MAX_SEGMENTS = 20_000
MAX_DEPTH = 5
_THIN = 2.6
_SHORT = 4.0
# A path of so many segments in so little room is a letter or an icon drawn as an outline, no rule.
_GLYPH = 14.0
_MANY = 7

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Drawing:
    """Rules, fills and pictures in the page's own axes (y up). Boxes are left, top, right, bottom.

    ``found`` and ``kinds`` are the page's objects by address, in drawing order. ``solids`` are filled paths
    that may hide text drawn before them: their place among the objects and their address.
    """

    across: list[Rule] = field(default_factory=list)
    down: list[Rule] = field(default_factory=list)
    fills: list[tuple[float, float, float, float]] = field(default_factory=list)
    solids: list[tuple[int, int]] = field(default_factory=list)
    pictures: list[tuple[float, float, float, float]] = field(default_factory=list)
    shaded: bool = False
    objects: int = 0
    segments: int = 0
    found: list[int | None] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)

    def picture_share(self, bounds: tuple[float, ...]) -> float:
        """Share of the page's area under pictures, overlaps counted twice, at most 1."""
        left, bottom, right, top = bounds
        area = max((right - left) * (top - bottom), 1.0)
        covered = 0.0
        for x0, y1, x1, y0 in self.pictures:
            width = min(x1, right) - max(x0, left)
            height = min(y1, top) - max(y0, bottom)
            covered += max(width, 0.0) * max(height, 0.0)
        return min(covered / area, 1.0)

    def add_edge(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Add the line between two points if it runs along an axis and is not a dot."""
        if abs(y0 - y1) <= 0.5 and abs(x0 - x1) >= _SHORT:
            self.across.append(Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
        elif abs(x0 - x1) <= 0.5 and abs(y0 - y1) >= _SHORT:
            self.down.append(Rule((x0 + x1) / 2, min(y0, y1), max(y0, y1)))


def read_drawing(page: int) -> Drawing:
    """The drawing of the page at address ``page``, form objects included, within the bounds above."""
    drawing = Drawing()
    call = native()
    count = min(max(call.page_count(page), 0), MAX_OBJECTS)
    drawing.found = list(map(call.page_object, repeat(page), range(count)))
    drawing.kinds = list(map(call.object_type, drawing.found))
    first_text = drawing.kinds.index(TEXT_OBJECT) if TEXT_OBJECT in drawing.kinds else count
    _read_objects(drawing, drawing.found, drawing.kinds, IDENTITY, 0)
    drawing.solids = [(place, item) for place, item in drawing.solids if place > first_text]
    return drawing


def _read_objects(
    drawing: Drawing, found: list[int | None], kinds: list[int], matrix: Matrix, depth: int
) -> None:
    present = set(kinds)
    if present - {PATH_OBJECT, TEXT_OBJECT}:
        for kind, item in zip(kinds, found, strict=True):
            if item and kind not in {PATH_OBJECT, TEXT_OBJECT}:
                _read_object(drawing, item, kind, matrix, depth)
    if PATH_OBJECT in present:
        paths = [place for place, kind in enumerate(kinds) if kind == PATH_OBJECT]
        taken = paths[: max(MAX_PATHS - drawing.objects, 0)]
        drawing.objects += len(paths)
        _read_paths(drawing, taken, [found[place] or 0 for place in taken], matrix, depth)


def _read_object(drawing: Drawing, item: int, kind: int, matrix: Matrix, depth: int) -> None:
    if kind == IMAGE_OBJECT:
        drawing.pictures += _bounds([item], matrix)
    elif kind == SHADING_OBJECT:
        drawing.shaded = True
    elif kind == FORM_OBJECT and depth < MAX_DEPTH and drawing.objects < MAX_OBJECTS:
        _read_form(drawing, item, matrix, depth)


def _read_form(drawing: Drawing, item: int, matrix: Matrix, depth: int) -> None:
    call = native()
    count = min(max(call.form_count(item), 0), MAX_OBJECTS)
    inner = list(map(call.form_object, repeat(item), range(count)))
    drawing.objects += 1
    kinds = list(map(call.object_type, inner))
    _read_objects(drawing, inner, kinds, _product(_own_matrix(item), matrix), depth + 1)


def _own_matrix(item: int) -> Matrix:
    values = (ctypes.c_float * 6)()
    if not native().object_matrix(item, ctypes.addressof(values)):
        return IDENTITY
    a, b, c, d, e, f = values[:]
    return a, b, c, d, e, f


def _product(first: Matrix, second: Matrix) -> Matrix:
    """The matrix that applies ``first`` and then ``second``."""
    if second == IDENTITY:
        return first
    a, b, c, d, e, f = first
    p, q, r, s, t, u = second
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)


def _point(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _bounds(items: list[int], matrix: Matrix) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of objects on the page."""
    count = len(items)
    edges = (ctypes.c_float * (4 * count))()
    at = ctypes.addressof(edges)
    sides = (range(at + 4 * n, at + 4 * n + 16 * count, 16) for n in range(4))
    run(map(native().bounds, items, *sides))
    boxes = zip(edges[::4], edges[3::4], edges[2::4], edges[1::4], strict=True)
    return list(boxes) if matrix == IDENTITY else [_moved(*box, matrix) for box in boxes]


def _moved(
    left: float, top: float, right: float, bottom: float, matrix: Matrix
) -> tuple[float, float, float, float]:
    corners = [_point(x, y, matrix) for x in (left, right) for y in (bottom, top)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), max(ys), max(xs), min(ys)


def _read_paths(drawing: Drawing, places: list[int], items: list[int], matrix: Matrix, depth: int) -> None:
    """Add the paths that are no mere dots; ``places`` are theirs among the objects they stand with."""
    large = [
        (place, item, box)
        for place, item, box in zip(places, items, _bounds(items, matrix), strict=True)
        if box[2] - box[0] >= _SHORT or box[1] - box[3] >= _SHORT
    ]
    # For each path how it is filled, and whether it is stroked; zeros where PDFium doesn't know.
    modes = (ctypes.c_int * (2 * len(large)))()
    at = ctypes.addressof(modes)
    end = at + 8 * len(large)
    run(map(native().draw_mode, [item for _, item, _ in large], range(at, end, 8), range(at + 4, end, 8)))
    fills, strokes = modes[::2], modes[1::2]
    bare = [
        item for (_, item, _), fill, stroke in zip(large, fills, strokes, strict=True) if fill and not stroke
    ]
    white = _white(bare) if bare else ()
    for (place, item, box), fill, stroke in zip(large, fills, strokes, strict=True):
        if fill and depth == 0 and min(box[2] - box[0], box[1] - box[3]) > _THIN:
            drawing.solids.append((place, item))
        if stroke or (fill and item not in white):
            _add_path(drawing, item, box, matrix, bool(fill))


def _add_path(
    drawing: Drawing, item: int, box: tuple[float, float, float, float], matrix: Matrix, filled: bool
) -> None:
    left, top, right, bottom = box
    width, height = right - left, top - bottom
    if height <= _THIN and height <= width:
        drawing.across.append(Rule((top + bottom) / 2, left, right))
    elif width <= _THIN:
        drawing.down.append(Rule((left + right) / 2, bottom, top))
    else:
        if filled:
            drawing.fills.append(box)
        small = width < _GLYPH and height < _GLYPH
        _read_segments(drawing, item, _product(_own_matrix(item), matrix), filled, small)


def _white(items: list[int]) -> set[int]:
    """Those of the paths that are filled with white, or with nothing to be seen."""
    count = len(items)
    colors = (ctypes.c_uint * (4 * count))()
    at = ctypes.addressof(colors)
    places = (range(at + 4 * n, at + 4 * n + 16 * count, 16) for n in range(4))
    known = list(map(native().fill_color, items, *places))
    channels = zip(items, known, colors[::4], colors[1::4], colors[2::4], colors[3::4], strict=True)
    return {
        item
        for item, told, red, green, blue, alpha in channels
        if told and (alpha <= 8 or (red >= 250 and green >= 250 and blue >= 250))
    }


def _read_segments(drawing: Drawing, item: int, matrix: Matrix, filled: bool, small: bool) -> None:
    """Add the straight sides of a path; curves move the pen without leaving a rule."""
    call = native()
    count = max(call.segment_count(item), 0)
    drawing.segments += count
    if drawing.segments > MAX_SEGMENTS or (small and count > _MANY):
        return
    segments = list(map(call.segment, repeat(item), range(count)))
    points = (ctypes.c_float * (2 * count))()
    at = ctypes.addressof(points)
    end = at + 8 * count
    run(map(call.segment_point, segments, range(at, end, 8), range(at + 4, end, 8)))
    start = last = (0.0, 0.0)
    for kind, here in zip(
        map(call.segment_type, segments), zip(points[::2], points[1::2], strict=True), strict=True
    ):
        if kind == 2:
            start = here
        elif kind == 0:
            drawing.add_edge(*_point(*last, matrix), *_point(*here, matrix))
        last = here
    if filled and count > 3 and start != last:
        drawing.add_edge(*_point(*last, matrix), *_point(*start, matrix))
