"""The whole conversion of a PDF on one page."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from chunk_assets.converters.base import Options
from chunk_assets.converters.pdf.assembly import assemble
from chunk_assets.converters.pdf.document import facts_of, opened, opened_page, outline_levels
from chunk_assets.converters.pdf.layout import LaidPage, lay_out
from chunk_assets.converters.pdf.model import Box, PageText
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
    doubtful: list[int] = field(default_factory=list)
    hidden: dict[str, int] = field(default_factory=dict)
    words: int = 0
    letters: int = 0


def convert(data: bytes, options: Options) -> Converted:
    """The PDF as markdown with page map, facts and warnings.

    Raises:
        DocumentFailure: ``empty``, ``encrypted``, ``broken``, ``mismatch``, ``needs_ocr``, ``too_large``.
    """
    with _uncollected():
        return _convert(data, options)


def _convert(data: bytes, options: Options) -> Converted:
    with opened(data) as document:
        count = len(document)
        if count == 0:
            raise DocumentFailure("empty", "the PDF has no pages")
        if count > options.limits.max_pages:
            raise DocumentFailure(
                "too_large", f"{count} pages are over the limit of {options.limits.max_pages}"
            )
        reading = _read_pages(document, count, options.limits.max_output_chars)
        facts = facts_of(document)
        outline = outline_levels(document)
    _check(reading, count)
    limit = options.limits.max_output_chars
    writer, furniture = assemble(reading.pages, outline, limit)
    if writer.full:
        raise DocumentFailure("too_large", f"the text is over the limit of {limit} characters")
    facts["pages"] = str(count)
    if furniture.heads:
        facts["running_heads"] = "\n".join(furniture.heads)
    status, reason = _status(reading)
    return Converted(writer.markdown(), writer.pages(), facts, tuple(_warnings(reading)), status, reason)


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


def _read_pages(document: Any, count: int, limit: int) -> _Reading:
    """All pages, laid out; raises ``too_large`` as soon as their letters are over ``limit``."""
    reading = _Reading()
    for index in range(count):
        try:
            with opened_page(document, index) as page:
                text = read_page(page, index + 1)
        except (RuntimeError, ValueError):
            # PDFium can't load this page; its neighbours are not to suffer for it.
            reading.failed.append(index + 1)
            text = PageText(index + 1, Box(0.0, 0.0, 1.0, 1.0), [])
        _note(reading, text)
        if reading.letters > limit:
            raise DocumentFailure("too_large", f"the text is over the limit of {limit} characters")
        reading.pages.append(lay_out(text))
    return reading


def _note(reading: _Reading, page: PageText) -> None:
    reading.words += len(page.words)
    reading.letters += page.letters
    for reason, number in page.hidden.items():
        reading.hidden[reason] = reading.hidden.get(reason, 0) + number
    if (
        not page.words
        and page.number not in reading.failed
        and (page.picture_share > 0.01 or page.drawn > 100)
    ):
        reading.pictures.append(page.number)
    elif page.words and len(page.words) <= _STAMP_WORDS and page.picture_share >= _FULL_PICTURE:
        reading.stamped.append(page.number)
    if page.doubtful * 50 > page.letters:
        reading.doubtful.append(page.number)


def _check(reading: _Reading, count: int) -> None:
    """Raise when not one page gave text."""
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
    missing = reading.pictures + reading.stamped
    if len(missing) * 2 >= len(reading.pages):
        return "partial", f"pages that are pictures without text: {_numbers(sorted(missing))}"
    return OK, ""


def _warnings(reading: _Reading) -> list[str]:
    warnings = []
    if reading.failed:
        warnings.append(f"pages that could not be read: {_numbers(reading.failed)}")
    if reading.pictures:
        warnings.append(
            f"pages that are pictures without a text layer (need OCR): {_numbers(reading.pictures)}"
        )
    if reading.stamped:
        warnings.append(
            f"pages with a few words beside a full-page picture (may need OCR): {_numbers(reading.stamped)}"
        )
    if reading.doubtful:
        warnings.append(f"pages with characters that have no Unicode value: {_numbers(reading.doubtful)}")
    for reason, number in sorted(reading.hidden.items()):
        warnings.append(f"hidden words left out ({reason}): {number}")
    return warnings


def _numbers(pages: Sequence[int]) -> str:
    shown = ", ".join(map(str, pages[:50]))
    return f"{shown} and {len(pages) - 50} more" if len(pages) > 50 else shown
