"""How text objects are drawn: size, weight, direction, and why a reader may not see them."""

from __future__ import annotations

import ctypes
import re
from itertools import repeat

from chunk_assets.converters.pdf.model import Style
from chunk_assets.converters.pdf.native import native

_BOLD_NAME = re.compile(rb"bold|black|heavy|demi|[-,]b[di]?$|cmbx", re.IGNORECASE)
_MONO_NAME = re.compile(rb"mono|courier|consol|typewriter|cmtt|menlo|[-,]code", re.IGNORECASE)
_FIXED_PITCH = 1
_FORCE_BOLD = 1 << 18
_INVISIBLE_MODES = frozenset({3, 7})
_STROKED_TOO = 2
# Smaller than this (points) nobody reads it; used to hide text from people but not from machines.
TINY = 1.0
# The height of a capital letter in type sizes.
_CAPITAL = 0.7

_NO_STYLE = Style(0.0, False, 0)


class StyleReader:
    """Styles by text object, asked of PDFium once an object. Equal styles are one object."""

    def __init__(self, text_page: int) -> None:
        self._page = text_page
        self._native = native()
        self._shared: dict[tuple[float, bool, int, str, bool], Style] = {}
        self._types: dict[tuple[int, float, int], tuple[float, bool, int, bool]] = {}
        self._looks: dict[tuple[int, float, int, str], Style] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._sizes: dict[int, float] = {}
        self._matrix = (ctypes.c_float * 6)()
        self._matrix_at = ctypes.addressof(self._matrix)
        self._drawn: tuple[list[int | None], list[float], dict[int, int | None]] = [], [], {}
        self.objects: list[int | None] = []

    def of_each(self, indices: list[int], heights: list[float]) -> list[Style]:
        """The styles of the characters at ``indices``, with the height of each one's box.

        ``objects`` then holds the address of each one's text object, or None.
        """
        # All calls run through ``map``, which is quicker than a loop of Python's for so many short ones.
        objects = list(map(self._native.text_object, repeat(self._page), indices))
        self.objects = objects
        first = dict(zip(reversed(objects), range(len(objects) - 1, -1, -1), strict=True))
        found = [item for item in dict.fromkeys(objects) if item]
        styles: dict[int | None, Style] = {None: _NO_STYLE}
        looks = self._looks
        modes = map(self._native.render_mode, found)
        fonts = list(map(self._native.font, found))
        self._drawn = objects, heights, dict(zip(found, fonts, strict=True))
        for item, font, mode, shade in zip(found, fonts, modes, self._shades(found), strict=True):
            at = first[item]
            # One font with boxes of one height has one size, so its matrix is asked for only once.
            key = (font or 0, heights[at], mode, shade)
            style = looks.get(key)
            if style is None:
                style = looks[key] = self._look(*key, indices[at])
            styles[item] = style
        return list(map(styles.__getitem__, objects))

    def _shades(self, objects: list[int]) -> list[str]:
        """Whether each text object is filled with white or is transparent, or ""."""
        import numpy as np

        colors = np.zeros((len(objects), 4), np.uint32)
        at = colors.ctypes.data
        red, green, blue, alpha = (range(at + 4 * n, at + 4 * n + colors.nbytes, 16) for n in range(4))
        known = np.fromiter(map(self._native.fill_color, objects, red, green, blue, alpha), np.int32) != 0
        clear = known & (colors[:, 3] <= 8)
        white = known & (colors[:, :3] >= 250).all(axis=1)
        shades = [""] * len(objects)
        for index in np.flatnonzero(clear | white).tolist():
            shades[index] = "transparent" if clear[index] else "white"
        return shades

    def _look(self, font: int, height: float, mode: int, shade: str, index: int) -> Style:
        """The style of a character drawn so; ``index`` is its place."""
        key = font, height, mode
        known = self._types.get(key)
        if known is None:
            known = self._types[key] = self._type(font, index, mode)
        size, bold, angle, mono = known
        if size < TINY <= height / 2:
            size = self._drawn_size(font)
        flaw = "invisible" if mode in _INVISIBLE_MODES else "tiny" if size < TINY else shade
        return self._style(size, bold, angle, flaw, mono)

    def _type(self, font: int, index: int, mode: int) -> tuple[float, bool, int, bool]:
        """Size, weight, direction and pitch of a character."""
        self._native.matrix(self._page, index, self._matrix_at)
        a, b, c, d, _, _ = self._matrix
        scale = abs(d) if b == 0.0 == c else (c * c + d * d) ** 0.5 or abs(a)
        size = abs(round(self._native.font_size(self._page, index) * scale * 4) / 4)
        bold, mono = self._font(font, index)
        return size, bold or mode == _STROKED_TOO, angle_of(a, b, d), mono

    def _drawn_size(self, font: int) -> float:
        """The size of a font that has a scale of its own (Type 3), by the tallest letters drawn with it."""
        size = self._sizes.get(font)
        if size is None:
            objects, heights, fonts = self._drawn
            tallest = max(
                height
                for item, height in zip(objects, heights, strict=True)
                if item and (fonts[item] or 0) == font
            )
            size = self._sizes[font] = round(tallest / _CAPITAL * 4) / 4
        return size

    def _style(self, size: float, bold: bool, angle: int, flaw: str, mono: bool) -> Style:
        key = (size, bold, angle, flaw, mono)
        style = self._shared.get(key)
        if style is None:
            style = self._shared[key] = Style(size, bold, angle, flaw, mono)
        return style

    def _font(self, font: int, index: int) -> tuple[bool, bool]:
        """Whether a font is bold, and whether it is of fixed pitch."""
        known = self._fonts.get(font)
        if known is None:
            call = self._native
            name = ctypes.create_string_buffer(256)
            call.font_name(font, ctypes.addressof(name), 256)
            flags = max(call.font_flags(font), 0)
            bold = (
                call.weight(self._page, index) >= 600 or flags & _FORCE_BOLD or _BOLD_NAME.search(name.value)
            )
            mono = flags & _FIXED_PITCH or _MONO_NAME.search(name.value)
            known = self._fonts[font] = bool(bold), bool(mono)
        return known


def angle_of(a: float, b: float, d: float) -> int:
    """Direction of text drawn with matrix a b . d, in degrees counter-clockwise.

    -1 if it is no multiple of 90. Mirrored text counts as upright.
    """
    if abs(b) <= 0.05 * abs(a):
        return 0 if a > 0 or d > 0 else 180
    if abs(a) <= 0.05 * abs(b):
        return 90 if b > 0 else 270
    return -1
