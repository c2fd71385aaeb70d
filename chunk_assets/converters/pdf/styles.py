"""How text objects are drawn: size, weight, direction, and why a reader may not see them."""

from __future__ import annotations

import ctypes
import re

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


class StyleReader:
    """Styles by text object, asked of PDFium once an object. Equal styles are one object."""

    def __init__(self, text_page: int) -> None:
        self._page = text_page
        self._native = native()
        self._styles: dict[int, Style] = {}
        self._shared: dict[tuple[float, bool, int, str, bool], Style] = {}
        self._types: dict[tuple[int, float, int], tuple[float, bool, int, bool]] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._matrix = (ctypes.c_float * 6)()
        self._matrix_at = ctypes.addressof(self._matrix)
        self._color = (ctypes.c_uint * 4)()
        self._color_at = ctypes.addressof(self._color)

    def of_each(self, indices: list[int], heights: list[float]) -> list[Style]:
        """The styles of the characters at ``indices``, with the height of each one's box."""
        styles = self._styles
        page = self._page
        text_object = self._native.text_object
        result = []
        for index, height in zip(indices, heights, strict=True):
            found = text_object(page, index) or 0
            style = styles.get(found)
            if style is None:
                style = styles[found] = self._read(found, index, height)
            result.append(style)
        return result

    def object_at(self, index: int) -> int:
        """The address of the text object of the character at ``index``, or 0."""
        return self._native.text_object(self._page, index) or 0

    def _read(self, found: int, index: int, height: float) -> Style:
        if not found:
            return self._style(0.0, False, 0, "", False)
        call = self._native
        mode = call.render_mode(found)
        # One font with boxes of one height has one size, so its matrix is asked for only once.
        key = call.font(found) or 0, height, mode
        known = self._types.get(key)
        if known is None:
            known = self._types[key] = self._type(key[0], index, mode)
        size, bold, angle, mono = known
        return self._style(size, bold, angle, self._flaw(found, mode, size), mono)

    def _type(self, font: int, index: int, mode: int) -> tuple[float, bool, int, bool]:
        """Size, weight, direction and pitch of a character."""
        self._native.matrix(self._page, index, self._matrix_at)
        a, b, c, d, _, _ = self._matrix
        scale = abs(d) if b == 0.0 == c else (c * c + d * d) ** 0.5 or abs(a)
        size = abs(round(self._native.font_size(self._page, index) * scale * 4) / 4)
        bold, mono = self._font(font, index)
        return size, bold or mode == _STROKED_TOO, angle_of(a, b, d), mono

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

    def _flaw(self, found: int, mode: int, size: float) -> str:
        if mode in _INVISIBLE_MODES:
            return "invisible"
        if size < TINY:
            return "tiny"
        at = self._color_at
        if not self._native.fill_color(found, at, at + 4, at + 8, at + 12):
            return ""
        red, green, blue, alpha = self._color
        if alpha <= 8:
            return "transparent"
        return "white" if red >= 250 and green >= 250 and blue >= 250 else ""


def angle_of(a: float, b: float, d: float) -> int:
    """Direction of text drawn with matrix a b . d, in degrees counter-clockwise.

    -1 if it is no multiple of 90. Mirrored text counts as upright.
    """
    if abs(b) <= 0.05 * abs(a):
        return 0 if a > 0 or d > 0 else 180
    if abs(a) <= 0.05 * abs(b):
        return 90 if b > 0 else 270
    return -1
