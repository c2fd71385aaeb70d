"""Opening a PDF, and what it says of itself: properties and outline."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chunk_assets.converters.pdf.headings import title_key
from chunk_assets.errors import DocumentFailure

_DATE = re.compile(r"^(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?")
_FACTS = {
    "Title": "title",
    "Author": "author",
    "Subject": "subject",
    "Keywords": "keywords",
    "Creator": "creator",
    "Producer": "producer",
    "CreationDate": "created",
    "ModDate": "modified",
}
_PASSWORD, _SECURITY = 4, 5
MAX_OUTLINE = 5_000
MAX_ANNOTATIONS = 5_000


@contextmanager
def opened(data: bytes) -> Iterator[Any]:
    """The ``pypdfium2.PdfDocument`` of ``data``, closed at the end.

    Raises:
        DocumentFailure: ``empty``, ``encrypted`` or ``broken``.
    """
    import pypdfium2

    if not data.strip(b"\x00 \t\r\n"):
        raise DocumentFailure("empty", "the file has no bytes or only white space")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _failure(_error_code(data), data) from error
    try:
        yield document
    finally:
        document.close()


@contextmanager
def opened_page(document: Any, index: int) -> Iterator[tuple[Any, int | None]]:
    """One page with its filled-in form fields and free text drawn in their places.

    With the number of characters that the page has without these, or None if it has none of them.

    Raises:
        RuntimeError: PDFium can't load the page.
    """
    from pypdfium2 import raw

    page = document[index]
    own = None
    try:
        if _shows_annotations(page):
            count = _characters(page)
            if raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
                page.close()
                page = document[index]
                own = count
        yield page, own
    finally:
        page.close()


def _characters(page: Any) -> int:
    from pypdfium2 import raw

    text_page = raw.FPDFText_LoadPage(page)
    if not text_page:
        return 0
    try:
        return max(int(raw.FPDFText_CountChars(text_page)), 0)
    finally:
        raw.FPDFText_ClosePage(text_page)


def _shows_annotations(page: Any) -> bool:
    from pypdfium2 import raw

    kinds = {raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_WIDGET}
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if kind in kinds:
            return True
    return False


def _error_code(data: bytes) -> int:
    """Why PDFium can't open the file, asked anew.

    It does not set its error for every fault and then tells that of an earlier document, so something
    that is surely no PDF is opened first.
    """
    import pypdfium2

    code = 0
    for attempt in (b"no PDF", data):
        try:
            pypdfium2.PdfDocument(attempt).close()
        except pypdfium2.PdfiumError as error:
            code = int(getattr(error, "err_code", 0) or 0)
    return code


def _failure(code: int, data: bytes) -> DocumentFailure:
    if code == _PASSWORD:
        return DocumentFailure("encrypted", "the PDF needs a password to be opened")
    if code == _SECURITY:
        return DocumentFailure("encrypted", "the PDF is protected by a security scheme that is not supported")
    if b"%PDF" not in data[:1024]:
        return DocumentFailure(
            "mismatch", "the file is no PDF: there is no %PDF header in its first 1024 bytes"
        )
    return DocumentFailure(
        "broken", "the PDF can't be parsed: its cross-reference table or page tree is damaged"
    )


def facts_of(document: Any) -> dict[str, str]:
    """Title, author, dates (ISO 8601) and the like, as far as they are given."""
    facts = {}
    for key, name in _FACTS.items():
        value = _plain(_property(document, key))
        if value and name in {"created", "modified"}:
            value = _iso_date(value)
        if value:
            facts[name] = value
    return facts


def _property(document: Any, key: str) -> str:
    try:
        return str(document.get_metadata_value(key))
    except ValueError:
        # Half a surrogate pair: a property that can't be decoded is as good as none.
        return ""


def _plain(text: str) -> str:
    kept = text or ""
    if not kept.isprintable():
        kept = "".join([char if unicodedata.category(char)[0] != "C" else " " for char in kept])
    return unicodedata.normalize("NFC", " ".join(kept.split()))[:2_000]


def _iso_date(value: str) -> str:
    match = _DATE.match(value)
    if not match:
        return ""
    year, month, day, hour, minute, second = match.groups()
    date = "-".join(part for part in (year, month, day) if part)
    return f"{date}T{hour}:{minute}:{second or '00'}" if hour and minute and day else date


def outline_levels(document: Any) -> dict[str, int]:
    """Heading levels (1 to 6) by ``title_key`` of the outline's titles."""
    levels: dict[str, int] = {}
    try:
        for count, item in enumerate(document.get_toc(max_depth=6)):
            if count >= MAX_OUTLINE:
                break
            key = title_key(_plain(item.get_title()))
            if len(key) >= 3:
                levels.setdefault(key, item.level + 1)
    except (RuntimeError, ValueError, RecursionError):
        # A damaged outline costs heading levels, not the document.
        return levels
    return levels
