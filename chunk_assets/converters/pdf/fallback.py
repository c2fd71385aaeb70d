"""A second reader, pdfplumber, for what PDFium can't read: some damaged files and vertical writing.

It is thirty times slower, so it is asked only when PDFium has failed.
"""

from __future__ import annotations

import io
import logging
import unicodedata
from itertools import pairwise
from typing import Any

from chunk_assets.converters.pdf.model import Box, PageText, Style, Word

MAX_REREAD = 200
# Bytes of a packed stream with nothing in it.
NOTHING_PACKED = 8


def second_opinion(data: bytes) -> Any:
    """The ``pdfplumber.PDF`` of ``data``, or None when it can't be opened either.

    It needs no closing: it holds nothing but the bytes, and closing a damaged one can fail.
    """
    import pdfplumber

    # It tells every fault of a damaged file, thousands sometimes; what counts is what it finds.
    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)
    try:
        return pdfplumber.open(io.BytesIO(data))
    except Exception:  # noqa: BLE001 - the parser fails in many ways on damaged files; all mean "no"
        return None


def page_count(document: Any) -> int:
    """Pages to read of what ``second_opinion`` gave, at most ``MAX_REREAD``."""
    try:
        return min(len(document.pages), MAX_REREAD) if document is not None else 0
    except Exception:  # noqa: BLE001 - see above
        return 0


def reread(document: Any, index: int, vertical: bool = False) -> PageText | None:
    """The words of page ``index`` (from 0), or None if there are none or it fails too."""
    try:
        page = document.pages[index]
        words = _columns(page.chars) if vertical else _words(page)
        box = Box(*page.bbox)
    except Exception:  # noqa: BLE001 - see above
        return None
    if not words:
        return None
    if vertical:
        box = Box(box.top, -box.x1, box.bottom, -box.x0)
    return PageText(index + 1, box, words, letters=sum(len(word.text) for word in words))


def is_undecodable(document: Any, index: int, count: int) -> bool:
    """Whether page ``index`` (from 0) of ``count`` only looks blank: it, or all its content, is damaged.

    The two readers must count the same pages, or else which one is meant is not known either.
    """
    if index >= MAX_REREAD:
        return False
    try:
        from pdfminer.pdftypes import resolve1

        if len(document.pages) != count:
            return True
        streams = [resolve1(item) for item in document.pages[index].page_obj.contents]
        raw = [stream.get_rawdata() or b"" for stream in streams]
        something = any(len(data) > NOTHING_PACKED for data in raw)
        return something and all(_is_noise(stream.get_data()) for stream in streams)
    except Exception:  # noqa: BLE001 - see above
        return True


def _is_noise(content: bytes) -> bool:
    """Drawing instructions are ASCII; bytes that were decoded wrongly, or not at all, are not."""
    plain = sum(32 <= byte < 127 or byte in b"\t\n\r\f" for byte in content)
    return plain * 10 < len(content) * 7 or not content.strip()


def _style(size: float, name: str) -> Style:
    return Style(round(size * 4) / 4, "bold" in name.lower(), 0)


def _words(page: Any) -> list[Word]:
    """Words in the order of the file; each visual line has a number of its own."""
    found = page.extract_words(use_text_flow=True, extra_attrs=["size", "fontname"])
    words: list[Word] = []
    line = 0
    for seq, item in enumerate(found):
        if words and abs(item["top"] - words[-1].top) > 0.5 * item["size"]:
            line += 1
        box = item["x0"], item["top"], item["x1"], item["bottom"]
        text = unicodedata.normalize("NFC", "".join([char for char in item["text"] if char.isprintable()]))
        words.append(Word(text, *box, _style(item["size"], item["fontname"]), line, seq))
    return words


def _columns(chars: list[dict[str, Any]]) -> list[Word]:
    """Columns of vertical writing, from right to left, in a frame turned so that they run to the right."""
    words: list[Word] = []
    columns: list[list[dict[str, Any]]] = []
    for char in sorted(chars, key=lambda char: -char["x0"]):
        if not columns or columns[-1][0]["x0"] - char["x0"] > 0.6 * char["size"]:
            columns.append([])
        columns[-1].append(char)
    for line, column in enumerate(columns):
        column.sort(key=lambda char: char["top"])
        pieces = [[column[0]]]
        for last, char in pairwise(column):
            if char["top"] - last["bottom"] > 1.5 * char["size"]:
                pieces.append([])
            pieces[-1].append(char)
        for piece in pieces:
            first = piece[0]
            text = "".join([char["text"] for char in piece])
            box = first["top"], -first["x1"], piece[-1]["bottom"], -first["x0"]
            words.append(Word(text, *box, _style(first["size"], first["fontname"]), line, len(words)))
    return [
        word._replace(text=unicodedata.normalize("NFC", word.text.strip()))
        for word in words
        if word.text.strip()
    ]
