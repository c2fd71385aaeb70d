"""Reading pages that are pictures, with the optional extra ``ocr`` (rapidocr, offline)."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

from chunk_assets.converters.pdf.model import Box, PageText, Style, Word
from chunk_assets.errors import ConfigurationError

# Pixels a point: 200 dpi, and no side longer than the second number.
SCALE = 200 / 72
MAX_SIDE = 4_000
MIN_SCORE = 0.5


@cache
def _engine() -> Any:
    """The recogniser, loaded once a process.

    Raises:
        ConfigurationError: the extra is not installed.
    """
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        message = "ocr is on, but rapidocr is not installed; install it with: pip install 'chunk-assets[ocr]'"
        raise ConfigurationError(message) from error
    return RapidOCR(params={"Global.log_level": "critical"})


def recognise(page: Any, number: int) -> PageText:
    """The words on the picture of a page (``pypdfium2.PdfPage``), in the frame of the upright page."""
    engine = _engine()
    width, height = page.get_size()
    scale = min(SCALE, MAX_SIDE / max(width, height, 1.0))
    found = engine(page.render(scale=scale).to_numpy(), use_cls=False)
    words: list[Word] = []
    rows = zip(found.boxes, found.txts, found.scores, strict=True) if found.boxes is not None else ()
    for line, (corners, text, score) in enumerate(rows):
        if score >= MIN_SCORE and text.strip():
            words.extend(_words(corners, unicodedata.normalize("NFC", text), scale, line, len(words)))
    result = PageText(number, Box(0.0, 0.0, width, height), words)
    result.letters = sum(len(word.text) for word in words)
    return result


def _words(corners: Any, text: str, scale: float, line: int, seq: int) -> list[Word]:
    """The words of a recognised line, each with its share of the line's box."""
    xs = [float(x) / scale for x, _ in corners]
    ys = [float(y) / scale for _, y in corners]
    left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
    step = (right - left) / len(text)
    style = Style(round((bottom - top) * 0.75 * 2) / 2, False, 0)
    words: list[Word] = []
    start = 0
    for part in text.split():
        start = text.index(part, start)
        x0 = left + start * step
        words.append(Word(part, x0, top, x0 + len(part) * step, bottom, style, line, seq + len(words)))
        start += len(part)
    return words
