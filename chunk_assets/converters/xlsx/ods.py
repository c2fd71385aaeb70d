"""OpenDocument spreadsheets: the text that each cell shows, dates in ISO 8601.

Read row by row, since one sheet may have a million; repeated blank rows and cells are only counted
(ODF 1.3 part 3, 9.1).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunk_assets.converters.archive import open_archive, read_member
from chunk_assets.converters.base import Limits
from chunk_assets.converters.xlsx.cells import finished
from chunk_assets.converters.xlsx.sheet import Row, Sheet, SheetReader
from chunk_assets.errors import DocumentFailure

if TYPE_CHECKING:
    from lxml import etree

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
_FACTS = {
    f"{_DC}title": "title",
    f"{_META}initial-creator": "author",
    f"{_DC}subject": "subject",
    f"{_META}creation-date": "created",
    f"{_DC}date": "modified",
}
_DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S")
# A row or cell with text is written out at most this often where the file repeats it.
_MAX_REPEATS = 10_000
_MAX_COLUMN = 16_384


def facts(data: bytes, limits: Limits) -> dict[str, str]:
    """Title, author and dates of the document properties."""
    from chunk_assets.converters.archive import parse_xml

    try:
        root = parse_xml(read_member(open_archive(data, limits), "meta.xml", limits), what="meta.xml")
    except (KeyError, DocumentFailure):
        return {}
    found = {_FACTS[e.tag]: (e.text or "").strip() for e in root.iter(*_FACTS)}
    return {name: text for name, text in found.items() if text}


def sheets(data: bytes, limits: Limits) -> Iterator[tuple[str, bool, Sheet]]:
    """Name, whether it is hidden, and cells of each sheet in order.

    Raises:
        DocumentFailure: ``encrypted``, ``broken``, ``unsafe`` or ``too_large``.
    """
    archive = open_archive(data, limits)
    try:
        content = read_member(archive, "content.xml", limits)
        manifest = read_member(archive, "META-INF/manifest.xml", limits)
    except KeyError as error:
        raise DocumentFailure("broken", f"the package has no part {error}") from error
    if b":encryption-data" in manifest:
        raise DocumentFailure("encrypted", "the spreadsheet needs a password")
    if b"<!DOCTYPE" in content[:4_096] or b"<!ENTITY" in content:
        raise DocumentFailure("unsafe", "the part content.xml has a DOCTYPE, which spreadsheets never need")
    yield from _Content(content, limits).sheets()


class _Content:
    """Walks the content part; elements are freed as soon as they are read."""

    def __init__(self, content: bytes, limits: Limits) -> None:
        self._content = content
        self._hidden: set[str] = set()
        self._reader = SheetReader([], [], limits.max_output_chars)
        self._number = 0

    def sheets(self) -> Iterator[tuple[str, bool, Sheet]]:
        from lxml import etree

        wanted = [f"{_TABLE}table", f"{_TABLE}table-row", f"{_STYLE}style"]
        sheet = Sheet()
        try:
            events = etree.iterparse(
                io.BytesIO(self._content), ("start", "end"), tag=wanted,
                resolve_entities=False, no_network=True, huge_tree=False,
            )  # fmt: skip
            for event, element in events:
                if event == "start":
                    if element.tag == wanted[0]:
                        sheet, self._number = Sheet(), 0
                    continue
                if element.tag == wanted[1]:
                    self._row(sheet, element)
                    element.clear()
                elif element.tag == wanted[2]:
                    self._style(element)
                else:
                    yield element.get(f"{_TABLE}name", "Sheet"), self._is_hidden(element), sheet
                    element.clear()
        except etree.XMLSyntaxError as error:
            raise DocumentFailure("broken", f"the part content.xml is not well formed: {error}") from error

    def _style(self, element: etree._Element) -> None:
        if any(child.get(f"{_TABLE}display") == "false" for child in element):
            self._hidden.add(element.get(f"{_STYLE}name", ""))

    def _is_hidden(self, table: etree._Element) -> bool:
        return table.get(f"{_TABLE}style-name", "") in self._hidden

    def _row(self, sheet: Sheet, element: etree._Element) -> None:
        repeats = _count(element, "number-rows-repeated")
        columns, texts = [], []
        for column, text in self._cells(sheet, element):
            columns.append(column)
            texts.append(text)
        if columns:
            for number in range(self._number, self._number + min(repeats, _MAX_REPEATS)):
                self._reader.add(sheet, Row(number, columns, texts))
                if element.get(f"{_TABLE}visibility", "visible") != "visible":
                    sheet.hidden_rows.append(number)
        self._number += repeats

    def _cells(self, sheet: Sheet, row: etree._Element) -> Iterator[tuple[int, str]]:
        column = 0
        for cell in row:
            repeats = _count(cell, "number-columns-repeated")
            text = finished(_shown(cell)) if len(cell) else ""
            if text:
                self._merge(sheet, cell, column)
                for place in range(column, min(column + min(repeats, _MAX_REPEATS), _MAX_COLUMN)):
                    yield place, text
            column += repeats

    def _merge(self, sheet: Sheet, cell: etree._Element, column: int) -> None:
        height, width = _count(cell, "number-rows-spanned"), _count(cell, "number-columns-spanned")
        if height > 1 or width > 1:
            sheet.merges.append((self._number, column, height, width))


def _count(element: etree._Element, name: str) -> int:
    given = element.get(_TABLE + name, "1")
    return max(int(given), 1) if given.isdecimal() and len(given) < 8 else 1


def _shown(cell: etree._Element) -> str:
    """The text of a cell; numbers without grouping marks where those are all that the text adds."""
    kind = cell.get(f"{_OFFICE}value-type", "")
    if kind == "date":
        return cell.get(f"{_OFFICE}date-value", "").replace("T", " ").removesuffix(" 00:00:00")
    if kind == "time" and (match := _DURATION.fullmatch(cell.get(f"{_OFFICE}time-value", ""))):
        return f"{int(match[1]):02d}:{match[2]}:{match[3]}"
    paragraphs = [_paragraph(child) for child in cell if child.tag == f"{_TEXT}p"]
    text = "\n".join(paragraphs)
    value = cell.get(f"{_OFFICE}value", "")
    return _ungrouped(text, value) if kind in ("float", "currency") and value else text


def _ungrouped(text: str, value: str) -> str:
    """``15,000`` as ``15000`` where that is the whole value; see ``numbers``."""
    try:
        is_whole = float(re.sub(r"[^\d.]", "", text)) == abs(float(value))
    except ValueError:
        return text
    return text.replace(",", "") if is_whole else text


def _paragraph(element: etree._Element) -> str:
    """The characters of a paragraph; ``text:s`` stands for blanks, notes beside the text are left out."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == f"{_TEXT}s":
            parts.append(" " * min(int(child.get(f"{_TEXT}c", "1") or 1), 100))
        elif child.tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            parts.append("\n" if child.tag.endswith("break") else " ")
        elif child.tag != f"{_OFFICE}annotation" and isinstance(child.tag, str):
            parts.append(_paragraph(child))
        parts.append(child.tail or "")
    return "".join(parts)
