"""One page of a PDF as words with boxes, turned upright."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from typing import Any

from chunk_assets.converters.pdf.graphics import Drawing, read_drawing
from chunk_assets.converters.pdf.model import Box, PageText, Style, Word
from chunk_assets.converters.pdf.native import address, native, page_text

# A hyphen that PDFium takes for a word break ends its word: what follows is on the next line.
_WORD = re.compile(r"[^\s\x00-\x20\ufffe]+[\x02\ufffe]?")
_BREAK = re.compile(r"\r\n?|\n")
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_JUNK = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFEFF, 0xAD, 0x200B], None)
_BOLD_NAME = re.compile(rb"bold|black|heavy|demi|[-,]b[di]?$|cmbx", re.IGNORECASE)
_FORCE_BOLD = 1 << 18
_INVISIBLE_MODES = {3, 7}
# Smaller than this (points) nobody reads it; used to hide text from people but not from machines.
_TINY = 1.0
_CENTRE_SIZE = re.compile(r"[\ue000-\uf8ff\ufffd]")


class _StyleReader:
    """Styles by text object, asked of PDFium once an object."""

    def __init__(self, page_address: int) -> None:
        self._page = page_address
        self._native = native()
        self._styles: dict[int, Style] = {}
        self._shared: dict[Style, Style] = {}
        self._fonts: dict[int, bool] = {}
        self._matrix = (ctypes.c_float * 6)()

    def of(self, index: int) -> tuple[Style, int]:
        """The style of character ``index`` and the address of its text object."""
        found = self._native.text_object(self._page, index) or 0
        style = self._styles.get(found)
        if style is None:
            style = self._read(found, index)
            style = self._shared.setdefault(style, style)
            self._styles[found] = style
        return style, found

    def _read(self, found: int, index: int) -> Style:
        call = self._native
        call.matrix(self._page, index, ctypes.addressof(self._matrix))
        a, b, c, d = self._matrix[:4]
        scale = (c * c + d * d) ** 0.5 or (a * a + b * b) ** 0.5
        size = round(abs(call.font_size(self._page, index) * scale) * 4) / 4
        bold = self._bold(found, index) if found else False
        return Style(size, bold, _angle(a, b, d), self._flaw(found, size))

    def _bold(self, found: int, index: int) -> bool:
        call = self._native
        font = call.font(found) or 0
        if font not in self._fonts:
            weight = call.weight(self._page, index)
            name = ctypes.create_string_buffer(256)
            call.font_name(font, ctypes.addressof(name), 256)
            forced = max(call.font_flags(font), 0) & _FORCE_BOLD
            self._fonts[font] = weight >= 600 or bool(forced) or bool(_BOLD_NAME.search(name.value))
        return self._fonts[font] or call.render_mode(found) == 2

    def _flaw(self, found: int, size: float) -> str:
        if not found:
            return ""
        if self._native.render_mode(found) in _INVISIBLE_MODES:
            return "invisible"
        if size < _TINY:
            return "tiny"
        red, green, blue, alpha = _fill_color(found)
        if alpha <= 8:
            return "transparent"
        return "white" if min(red, green, blue) >= 250 else ""


def _fill_color(found: int) -> tuple[int, int, int, int]:
    channels = (ctypes.c_uint * 4)()
    at = ctypes.addressof(channels)
    if not native().fill_color(found, at, at + 4, at + 8, at + 12):
        return 0, 0, 0, 255
    return channels[0], channels[1], channels[2], channels[3]


def _angle(a: float, b: float, d: float) -> int:
    """Direction of the text in degrees, counter-clockwise, or -1 if it is no multiple of 90."""
    if abs(b) <= 0.05 * abs(a):
        return 0 if a > 0 or d > 0 else 180
    if abs(a) <= 0.05 * abs(b):
        return 90 if b > 0 else 270
    return -1


def read_page(page: Any, number: int) -> PageText:
    """Words, rules and pictures of one page; hidden words are left out and counted by reason.

    ``page`` is a ``pypdfium2.PdfPage``. Costs are linear in characters and drawing objects.
    """
    text_page = page.get_textpage()
    try:
        words = _raw_words(text_page)
    finally:
        text_page.close()
    drawing = read_drawing(address(page.raw))
    bounds = page.get_bbox()
    return upright(number, words, drawing, bounds)


def _raw_words(text_page: Any) -> list[Word]:
    """Words in PDFium's order, boxes in the page's own axes (y up, so ``top`` > ``bottom``)."""
    text = page_text(text_page.raw)
    at = address(text_page.raw)
    spans = _spans(text)
    boxes = (ctypes.c_float * (8 * len(spans) + 8))()
    cursor = ctypes.addressof(boxes)
    loose = native().loose_box
    for start, end, _ in spans:
        loose(at, start, cursor)
        loose(at, end - 1, cursor + 16)
        cursor += 32
    flat = boxes[:]
    styles = _StyleReader(at)
    words = []
    for seq, (start, end, line) in enumerate(spans):
        left, top, right, bottom, left2, top2, right2, bottom2 = flat[8 * seq : 8 * seq + 8]
        style, _ = styles.of(start)
        clean = _clean(text[start:end])
        if clean:
            box = (min(left, left2), max(top, top2), max(right, right2), min(bottom, bottom2))
            words.append(Word(clean, *box, style, line, seq))
    return words


def _spans(text: str) -> list[tuple[int, int, int]]:
    """Start, end and line number of every word; a hyphen at a line's end starts a new line too."""
    breaks = [match.start() for match in _BREAK.finditer(text)]
    breaks.append(len(text) + 1)
    spans: list[tuple[int, int, int]] = []
    line = passed = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        while breaks[passed] < start:
            passed += 1
            line += 1
        spans.append((start, end, line))
        if text[end - 1] in "\x02\ufffe":
            line += 1
    return spans


def _clean(text: str) -> str:
    """Word text in NFC: ligatures spelled out, the break hyphen a hyphen, no control characters."""
    if text.isascii() and text.isprintable():
        return text
    if text[-1] in "\x02\ufffe":
        text = text[:-1] + "-"
    text = _LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    return unicodedata.normalize("NFC", text.translate(_JUNK))


def upright(number: int, words: list[Word], drawing: Drawing, bounds: tuple[float, ...]) -> PageText:
    """The page turned so that most of its text runs to the right, without what can't be seen."""
    letters: dict[int, int] = {}
    for word in words:
        letters[word.style.angle] = letters.get(word.style.angle, 0) + len(word.text)
    letters.pop(-1, None)
    angle = max(letters, key=lambda key: (letters[key], -key)) if letters else 0
    left, bottom, right, top = bounds
    box = Box(*_turn(left, top, right, bottom, angle))
    page = PageText(number, box, [])
    page.picture_share = drawing.picture_share(bounds)
    page.drawn = drawing.objects
    page.across, page.down = _turned_rules(drawing, angle)
    dark = [Box(*_turn(*fill, angle)) for fill in drawing.fills]
    for word in words:
        seen = Word(
            word.text,
            *_turn(word.x0, word.top, word.x1, word.bottom, angle),
            _relative(word.style, angle),
            *word[6:],
        )
        reason = _unseen(seen, page, dark, drawing)
        if reason:
            page.hidden[reason] = page.hidden.get(reason, 0) + 1
        else:
            page.words.append(seen)
            page.doubtful += len(_CENTRE_SIZE.findall(seen.text))
    return page


def _relative(style: Style, angle: int) -> Style:
    if angle == 0 or style.angle < 0:
        return style
    return Style(style.size, style.bold, (style.angle - angle) % 360, style.flaw)


def _turn(
    left: float, top: float, right: float, bottom: float, angle: int
) -> tuple[float, float, float, float]:
    """A box of the page's axes (y up) in the reading frame (y down) of text that runs at ``angle``."""
    if angle == 0:
        return left, -top, right, -bottom
    if angle == 90:
        return bottom, left, top, right
    if angle == 180:
        return -right, bottom, -left, top
    return -top, -right, -bottom, -left


def _turned_rules(drawing: Drawing, angle: int) -> tuple[list[Any], list[Any]]:
    across, down = drawing.across, drawing.down
    sign = {0: (-1, 1), 90: (1, 1), 180: (1, -1), 270: (-1, -1)}[angle]
    at_sign, along_sign = sign
    if angle in {0, 180}:
        return (
            [_rule(rule, at_sign, along_sign) for rule in across],
            [_rule(rule, along_sign, at_sign) for rule in down],
        )
    return (
        [_rule(rule, at_sign, along_sign) for rule in down],
        [_rule(rule, along_sign, at_sign) for rule in across],
    )


def _rule(rule: Any, at_sign: int, along_sign: int) -> Any:
    start, end = rule.start * along_sign, rule.end * along_sign
    return type(rule)(rule.at * at_sign, min(start, end), max(start, end))


def _unseen(word: Word, page: PageText, fills: list[Box], drawing: Drawing) -> str:
    """Why a reader can't see the word, or ""."""
    x, y = (word.x0 + word.x1) / 2, (word.top + word.bottom) / 2
    box = page.box
    if not (box.x0 - 2 <= x <= box.x1 + 2 and box.top - 2 <= y <= box.bottom + 2):
        return "off the page"
    flaw = word.style.flaw
    if not flaw:
        return ""
    if flaw == "invisible":
        # The text layer of a scan is drawn invisibly over its picture: that is the text to keep.
        return "" if page.picture_share > 0.02 else flaw
    if flaw == "white":
        backed = any(f.x0 <= x <= f.x1 and f.top <= y <= f.bottom for f in fills)
        return "" if backed or drawing.shaded or page.picture_share > 0.02 else flaw
    return flaw
