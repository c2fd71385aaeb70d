"""The whole conversion of a PDF on one page."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from chunk_assets.converters.base import Limits, Options
from chunk_assets.converters.pdf.assembly import assemble
from chunk_assets.converters.pdf.document import facts_of, opened, opened_page, outline_levels
from chunk_assets.converters.pdf.fallback import (
    MAX_REREAD,
    is_undecodable,
    page_count,
    reread,
    second_opinion,
)
from chunk_assets.converters.pdf.layout import LaidPage, lay_out
from chunk_assets.converters.pdf.model import Box, PageText
from chunk_assets.converters.pdf.ocr import recognise
from chunk_assets.converters.pdf.reading import read_page
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import OK, Converted

# A page with at most this many words under a picture that fills most of it is a scan with a stamp.
_STAMP_WORDS = 12
_FULL_PICTURE = 0.6


@dataclass(slots=True)
class _Reading:
    pages: list[LaidPage] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    stamped: list[int] = field(default_factory=list)
    recognised: list[int] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    garbled: list[int] = field(default_factory=list)
    hidden: dict[str, int] = field(default_factory=dict)
    words: int = 0
    letters: int = 0
    damaged: bool = False


def convert(data: bytes, options: Options) -> Converted:
    """The PDF as markdown with page map, facts and warnings.

    Raises:
        DocumentFailure: ``empty``, ``encrypted``, ``broken``, ``mismatch``, ``needs_ocr``, ``too_large``.
    """
    with _uncollected():
        return _convert(data, options)


def _convert(data: bytes, options: Options) -> Converted:
    limits = options.limits
    try:
        with opened(data) as document:
            count = _page_count(document, limits)
            reading = _read_pages(document, count, data, options)
            facts = facts_of(document)
            outline = outline_levels(document)
    except DocumentFailure as failure:
        if failure.status != "broken":
            raise
        reading = _read_damaged(data, failure)
        facts, outline = {}, {}
    _check(reading)
    writer, furniture = assemble(reading.pages, outline, limits.max_output_chars)
    if writer.full:
        raise _too_long(limits.max_output_chars)
    facts["pages"] = str(len(reading.pages))
    if furniture.heads:
        facts["running_heads"] = "\n".join(furniture.heads)
    if furniture.numbers:
        facts["page_numbers"] = ", ".join(
            f"{page}: {text}" for page, text in sorted(furniture.numbers.items())
        )
    status, reason = _status(reading)
    return Converted(writer.markdown(), writer.pages(), facts, tuple(_warnings(reading)), status, reason)


def _page_count(document: Any, limits: Limits) -> int:
    count = len(document)
    if count == 0:
        raise DocumentFailure("empty", "the PDF has no pages")
    if count > limits.max_pages:
        raise DocumentFailure("too_large", f"{count} pages are over the limit of {limits.max_pages}")
    return count


def _too_long(limit: int) -> DocumentFailure:
    return DocumentFailure("too_large", f"the text is over the limit of {limit} characters")


@contextmanager
def _uncollected() -> Iterator[None]:
    """No cyclic garbage is made here, so the collector's passes over a page's words are spared."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read_pages(document: Any, count: int, data: bytes, options: Options) -> _Reading:
    """All pages, laid out; raises ``too_large`` as soon as their letters are over the limit."""
    reading = _Reading()
    limit = options.limits.max_output_chars
    other = None
    for index in range(count):
        text = _read_one(document, index, options.ocr)
        if text is None or text.vertical:
            other = other or second_opinion(data)
            text = _better(text, other, index)
        elif _is_blank(text):
            other = other or second_opinion(data)
            text = None if other is not None and is_undecodable(other, index, count) else text
        if text is None:
            reading.failed.append(index + 1)
            text = PageText(index + 1, Box(0.0, 0.0, 1.0, 1.0), [])
        _note(reading, text)
        if reading.letters > limit:
            raise _too_long(limit)
        reading.pages.append(lay_out(text))
    return reading


def _read_one(document: Any, index: int, ocr: bool) -> PageText | None:
    """One page by PDFium, or None if it can't load it: its neighbours are not to suffer for that."""
    try:
        with opened_page(document, index) as (page, own):
            text = read_page(page, index + 1, own)
            if ocr and (_is_picture(text) or _is_stamped(text)):
                again = recognise(page, index + 1)
                again.recognised = True
                text = again if again.words else text
            return text
    except (RuntimeError, ValueError):
        return None


def _is_picture(page: PageText) -> bool:
    """No text, but pictures, or drawing enough for letters drawn as outlines."""
    return not page.words and (page.picture_share > 0.01 or page.drawn > 100)


def _is_blank(page: PageText) -> bool:
    """Nothing at all is on the page, not even something hidden: as on one whose content is damaged."""
    return not (page.words or page.drawn or page.picture_share or page.hidden)


def _is_stamped(page: PageText) -> bool:
    """A few words on a picture that fills most of the page: a scan with a stamp."""
    return 0 < len(page.words) <= _STAMP_WORDS and page.picture_share >= _FULL_PICTURE


def _better(text: PageText | None, other: Any, index: int) -> PageText | None:
    """The page by the second reader if it finds more; PDFium loses much of vertical writing."""
    if other is None or index >= MAX_REREAD:
        return text
    again = reread(other, index, vertical=text is not None)
    known = sum(len(word.text) for word in text.words) if text is not None else 0
    return again if again is not None and again.letters > known else text


def _read_damaged(data: bytes, failure: DocumentFailure) -> _Reading:
    """What the second reader finds in a file that PDFium can't open; raises ``failure`` for nothing."""
    reading = _Reading(damaged=True)
    other = second_opinion(data)
    for index in range(page_count(other)):
        text = reread(other, index)
        if text is None:
            reading.failed.append(index + 1)
            text = PageText(index + 1, Box(0.0, 0.0, 1.0, 1.0), [])
        _note(reading, text)
        reading.pages.append(lay_out(text))
    if not reading.words:
        raise failure
    return reading


def _note(reading: _Reading, page: PageText) -> None:
    reading.words += len(page.words)
    reading.letters += page.letters
    for reason, number in page.hidden.items():
        reading.hidden[reason] = reading.hidden.get(reason, 0) + number
    if _is_picture(page):
        reading.pictures.append(page.number)
    elif _is_stamped(page):
        reading.stamped.append(page.number)
    if page.recognised:
        reading.recognised.append(page.number)
    if page.doubtful * 50 > page.letters:
        reading.doubtful.append(page.number)
    if page.garbled:
        reading.garbled.append(page.number)


def _check(reading: _Reading) -> None:
    """Raise when not one page gave text."""
    count = len(reading.pages)
    if reading.words:
        return
    if reading.pictures:
        raise DocumentFailure(
            "needs_ocr", f"{len(reading.pictures)} of {count} pages are pictures and no page has a text layer"
        )
    if reading.failed:
        raise DocumentFailure("broken", f"none of {count} pages could be read")
    if reading.hidden:
        raise DocumentFailure("empty", "all text of the document is hidden from its reader")
    raise DocumentFailure("empty", f"no text and no picture on any of {count} pages")


def _status(reading: _Reading) -> tuple[str, str]:
    if reading.failed:
        return "partial", f"pages that could not be read: {_numbers(reading.failed)}"
    if len(reading.pictures) * 2 >= len(reading.pages):
        return "partial", f"pages that are pictures without a text layer: {_numbers(reading.pictures)}"
    return OK, ""


def _warnings(reading: _Reading) -> list[str]:
    named = (
        (reading.failed, "pages that could not be read"),
        (reading.pictures, "pages that are pictures without a text layer (need OCR)"),
        (reading.stamped, "pages with a few words beside a full-page picture (may need OCR)"),
        (reading.recognised, "pages read by OCR"),
        (reading.doubtful, "pages with characters that have no Unicode value"),
        (reading.garbled, "pages whose text looks garbled (wrong character map)"),
    )
    warnings = [f"{what}: {_numbers(pages)}" for pages, what in named if pages]
    if reading.damaged:
        warnings.insert(0, "the file is damaged; its text was read by a second, more lenient reader")
    for reason, number in sorted(reading.hidden.items()):
        warnings.append(f"hidden words left out ({reason}): {number}")
    return warnings


def _numbers(pages: Sequence[int]) -> str:
    shown = ", ".join(map(str, pages[:50]))
    return f"{shown} and {len(pages) - 50} more" if len(pages) > 50 else shown
