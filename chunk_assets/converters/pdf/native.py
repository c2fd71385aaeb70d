"""Fast doors into PDFium: the same functions as ``pypdfium2.raw``, called with plain addresses.

The generated ctypes bindings convert every pointer on every call, which costs more than the call
itself. A page has thousands of characters, so the few functions used per word are bound again here.
"""

from __future__ import annotations

import ctypes
import re
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from itertools import repeat
from typing import Any, NamedTuple

_TEX_LIGATURES = {0x0B: "\ufb00", 0x0C: "\ufb01", 0x0E: "\ufb03", 0x0F: "\ufb04"}
_TEX_CODES = re.compile("[\x0b\x0c\x0e\x0f]")
_TEX_FL = re.compile(r"\r(?!\n)(?=[a-z])")
# What PDFium calls the kinds of page objects.
TEXT_OBJECT, PATH_OBJECT, IMAGE_OBJECT, SHADING_OBJECT, FORM_OBJECT = 1, 2, 3, 4, 5


class Native(NamedTuple):
    """Functions over addresses: handles go in and come out as integers."""

    loose_box: Callable[..., int]
    text_object: Callable[..., int | None]
    matrix: Callable[..., int]
    font_size: Callable[..., float]
    weight: Callable[..., int]
    render_mode: Callable[..., int]
    fill_color: Callable[..., int]
    page_count: Callable[..., int]
    page_object: Callable[..., int | None]
    form_count: Callable[..., int]
    form_object: Callable[..., int | None]
    object_type: Callable[..., int]
    bounds: Callable[..., int]
    object_matrix: Callable[..., int]
    draw_mode: Callable[..., int]
    segment_count: Callable[..., int]
    segment: Callable[..., int | None]
    segment_type: Callable[..., int]
    segment_point: Callable[..., int]
    font: Callable[..., int | None]
    font_flags: Callable[..., int]
    font_name: Callable[..., int]
    transparent: Callable[..., int]
    map_error: Callable[..., int]
    unicode: Callable[..., int]
    page_width: Callable[..., float]
    page_height: Callable[..., float]


_ADDRESS, _INT = ctypes.c_void_p, ctypes.c_int
_SIGNATURES: dict[str, tuple[str, Any, tuple[Any, ...]]] = {
    "loose_box": ("FPDFText_GetLooseCharBox", _INT, (_ADDRESS, _INT, _ADDRESS)),
    "text_object": ("FPDFText_GetTextObject", _ADDRESS, (_ADDRESS, _INT)),
    "matrix": ("FPDFText_GetMatrix", _INT, (_ADDRESS, _INT, _ADDRESS)),
    "font_size": ("FPDFText_GetFontSize", ctypes.c_double, (_ADDRESS, _INT)),
    "weight": ("FPDFText_GetFontWeight", _INT, (_ADDRESS, _INT)),
    "render_mode": ("FPDFTextObj_GetTextRenderMode", _INT, (_ADDRESS,)),
    "fill_color": ("FPDFPageObj_GetFillColor", _INT, (_ADDRESS,) * 5),
    "page_count": ("FPDFPage_CountObjects", _INT, (_ADDRESS,)),
    "page_object": ("FPDFPage_GetObject", _ADDRESS, (_ADDRESS, _INT)),
    "form_count": ("FPDFFormObj_CountObjects", _INT, (_ADDRESS,)),
    "form_object": ("FPDFFormObj_GetObject", _ADDRESS, (_ADDRESS, ctypes.c_ulong)),
    "object_type": ("FPDFPageObj_GetType", _INT, (_ADDRESS,)),
    "bounds": ("FPDFPageObj_GetBounds", _INT, (_ADDRESS,) * 5),
    "object_matrix": ("FPDFPageObj_GetMatrix", _INT, (_ADDRESS, _ADDRESS)),
    "draw_mode": ("FPDFPath_GetDrawMode", _INT, (_ADDRESS, _ADDRESS, _ADDRESS)),
    "segment_count": ("FPDFPath_CountSegments", _INT, (_ADDRESS,)),
    "segment": ("FPDFPath_GetPathSegment", _ADDRESS, (_ADDRESS, _INT)),
    "segment_type": ("FPDFPathSegment_GetType", _INT, (_ADDRESS,)),
    "segment_point": ("FPDFPathSegment_GetPoint", _INT, (_ADDRESS, _ADDRESS, _ADDRESS)),
    "font": ("FPDFTextObj_GetFont", _ADDRESS, (_ADDRESS,)),
    "font_flags": ("FPDFFont_GetFlags", _INT, (_ADDRESS,)),
    "transparent": ("FPDFPageObj_HasTransparency", _INT, (_ADDRESS,)),
    "unicode": ("FPDFText_GetUnicode", ctypes.c_uint, (_ADDRESS, _INT)),
    "page_width": ("FPDF_GetPageWidthF", ctypes.c_float, (_ADDRESS,)),
    "page_height": ("FPDF_GetPageHeightF", ctypes.c_float, (_ADDRESS,)),
    "map_error": ("FPDFText_HasUnicodeMapError", _INT, (_ADDRESS, _INT)),
    "font_name": ("FPDFFont_GetBaseFontName", ctypes.c_size_t, (_ADDRESS, _ADDRESS, ctypes.c_size_t)),
}


@cache
def native() -> Native:
    """The functions, bound once a process."""
    from pypdfium2 import raw

    def bind(name: str, result: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        at = ctypes.cast(getattr(raw, name), ctypes.c_void_p).value or 0
        # The calls are too short to be worth letting other threads run meanwhile.
        return ctypes.PYFUNCTYPE(result, *arguments)(at)

    return Native(**{key: bind(*signature) for key, signature in _SIGNATURES.items()})


def run(calls: Iterable[object]) -> None:
    """Make all ``calls`` of a ``map`` for what they write to memory: quicker than a loop of Python's."""
    deque(calls, maxlen=0)


def address(handle: Any) -> int:
    """The address behind a ctypes pointer, or 0 for a null pointer."""
    return ctypes.addressof(handle.contents) if handle else 0


def with_ligatures(text: str) -> str:
    """The text with the control codes that stand for ligatures in fonts of TeX made ligatures.

    Such fonts (OT1) often tell no Unicode values, and PDFium then gives the codes as they are. The code of
    "fl" is that of a carriage return, which ends lines where a line feed follows.
    """
    if not _TEX_CODES.search(text):
        return text
    return _TEX_FL.sub("\ufb02", text.translate(_TEX_LIGATURES))


def page_text(text_page: Any) -> str:
    r"""All characters of a text page, one Python character for each of PDFium's characters.

    Characters without Unicode become ``\\ufffd``. Lines end in ``\\r\\n``; a hyphen that PDFium
    holds for a word break is ``\\x02`` or ``\\ufffe``.
    """
    from pypdfium2 import raw

    count = max(raw.FPDFText_CountChars(text_page), 0)
    buffer = (ctypes.c_ushort * (count + 1))()
    got = raw.FPDFText_GetText(text_page, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(got - 1, 0)].decode("utf-16-le", "replace")
    if len(text) == count:
        return with_ligatures(text)
    units = map(native().unicode, repeat(address(text_page)), range(count))
    return "".join(
        [chr(unit) if 0 < unit < 0x110000 and not 0xD800 <= unit < 0xE000 else "\ufffd" for unit in units]
    )
