"""What is drawn on a page beside text: straight rules, filled areas, pictures."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

from chunk_assets.converters.pdf.model import Rule
from chunk_assets.converters.pdf.native import (
    FORM_OBJECT,
    IMAGE_OBJECT,
    PATH_OBJECT,
    SHADING_OBJECT,
    TEXT_OBJECT,
    native,
)

# Bounds on the work for one page: a map or chart has 100,000 paths and no table worth finding.
MAX_OBJECTS = 60_000
MAX_PATHS = 8_000
MAX_SEGMENTS = 20_000
MAX_DEPTH = 5
_THIN = 2.6
_SHORT = 4.0

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Drawing:
    """Rules, fills and pictures in the page's own axes (y up). Boxes are left, top, right, bottom.

    ``solids`` are filled paths that may hide text drawn before them: their place among the page's
    objects and their address. ``first_text`` is the place of the first text object.
    """

    across: list[Rule] = field(default_factory=list)
    down: list[Rule] = field(default_factory=list)
    fills: list[tuple[float, float, float, float]] = field(default_factory=list)
    solids: list[tuple[int, int]] = field(default_factory=list)
    first_text: int | None = None
    pictures: list[tuple[float, float, float, float]] = field(default_factory=list)
    shaded: bool = False
    objects: int = 0
    segments: int = 0

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
    count = max(call.page_count(page), 0)
    get = call.page_object
    _read_objects(drawing, [get(page, index) for index in range(min(count, MAX_OBJECTS))], IDENTITY, 0)
    return drawing


def _read_objects(drawing: Drawing, found: list[int | None], matrix: Matrix, depth: int) -> None:
    kind_of = native().object_type
    for place, item in enumerate(found):
        kind = kind_of(item) if item else 0
        if kind == TEXT_OBJECT:
            if depth == 0 and drawing.first_text is None:
                drawing.first_text = place
        elif item:
            _read_object(drawing, item, kind, matrix, depth, place)


def _read_object(drawing: Drawing, item: int, kind: int, matrix: Matrix, depth: int, place: int) -> None:
    if kind == PATH_OBJECT:
        drawing.objects += 1
        if drawing.objects <= MAX_PATHS:
            _read_path(drawing, item, matrix, place if depth == 0 else None)
    elif kind == IMAGE_OBJECT:
        drawing.pictures.append(_bounds(item, matrix))
    elif kind == SHADING_OBJECT:
        drawing.shaded = True
    elif kind == FORM_OBJECT and depth < MAX_DEPTH and drawing.objects < MAX_OBJECTS:
        _read_form(drawing, item, matrix, depth)


def _read_form(drawing: Drawing, item: int, matrix: Matrix, depth: int) -> None:
    call = native()
    count = min(max(call.form_count(item), 0), MAX_OBJECTS)
    inner = [call.form_object(item, index) for index in range(count)]
    drawing.objects += 1
    _read_objects(drawing, inner, _product(_own_matrix(item), matrix), depth + 1)


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


_BOUNDS = (ctypes.c_float * 4)()
_BOUNDS_AT = ctypes.addressof(_BOUNDS)


def _bounds(item: int, matrix: Matrix) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of an object on the page."""
    native().bounds(item, _BOUNDS_AT, _BOUNDS_AT + 4, _BOUNDS_AT + 8, _BOUNDS_AT + 12)
    left, bottom, right, top = _BOUNDS
    if matrix != IDENTITY:
        corners = [_point(x, y, matrix) for x in (left, right) for y in (bottom, top)]
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        bottom, top = min(y for _, y in corners), max(y for _, y in corners)
    return left, top, right, bottom


def _read_path(drawing: Drawing, item: int, matrix: Matrix, place: int | None) -> None:
    left, top, right, bottom = _bounds(item, matrix)
    width, height = right - left, top - bottom
    if width < _SHORT and height < _SHORT:
        return
    filled, stroked = _draw_mode(item)
    if filled and place is not None and drawing.first_text is not None and min(height, width) > _THIN:
        drawing.solids.append((place, item))
    if not (filled or stroked) or (filled and not stroked and _is_white(item)):
        return
    if height <= _THIN and height <= width:
        drawing.across.append(Rule((top + bottom) / 2, left, right))
    elif width <= _THIN:
        drawing.down.append(Rule((left + right) / 2, bottom, top))
    else:
        if filled:
            drawing.fills.append((left, top, right, bottom))
        _read_segments(drawing, item, _product(_own_matrix(item), matrix), filled)


_MODE = (ctypes.c_int * 2)()
_MODE_AT = ctypes.addressof(_MODE)
_COLOR = (ctypes.c_uint * 4)()
_COLOR_AT = ctypes.addressof(_COLOR)


def _draw_mode(item: int) -> tuple[bool, bool]:
    """Whether a path is filled, and whether it is stroked."""
    if not native().draw_mode(item, _MODE_AT, _MODE_AT + 4):
        return False, False
    return _MODE[0] != 0, _MODE[1] != 0


def _is_white(item: int) -> bool:
    if not native().fill_color(item, _COLOR_AT, _COLOR_AT + 4, _COLOR_AT + 8, _COLOR_AT + 12):
        return False
    red, green, blue, alpha = _COLOR
    return (red >= 250 and green >= 250 and blue >= 250) or alpha <= 8


def _read_segments(drawing: Drawing, item: int, matrix: Matrix, filled: bool) -> None:
    """Add the straight sides of a path; curves move the pen without leaving a rule."""
    call = native()
    count = max(call.segment_count(item), 0)
    drawing.segments += count
    if drawing.segments > MAX_SEGMENTS:
        return
    values = (ctypes.c_float * 2)()
    at = ctypes.addressof(values)
    start = last = (0.0, 0.0)
    for index in range(count):
        segment = call.segment(item, index)
        call.segment_point(segment, at, at + 4)
        here = _point(values[0], values[1], matrix)
        kind = call.segment_type(segment)
        if kind == 2:
            start = here
        elif kind == 0:
            drawing.add_edge(*last, *here)
        last = here
    if filled and count > 3 and start != last:
        drawing.add_edge(*last, *start)
