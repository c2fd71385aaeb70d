"""Office files with fixed properties, and archives whose bytes depend on their content only."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import docx
import pptx
from docx.enum.style import WD_STYLE_TYPE
from openpyxl import Workbook
from openpyxl.styles import Font

from sample_maker.markup import Text

if TYPE_CHECKING:
    from docx.document import Document as Docx

_WHEN = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)  # the libraries want it naive
_STAMP = b"2026-01-01T00:00:00Z"


def settled(archive: bytes) -> bytes:
    """The same archive with members sorted, dated 1980 and stored.

    Stored and not deflated: compressed bytes differ between builds of zlib.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        first = "[Content_Types].xml"
        for name in sorted(old.namelist(), key=lambda n: (n != first, n)):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 0, 0
            new.writestr(info, _fixed(name, old.read(name)))
    return out.getvalue()


def _fixed(name: str, data: bytes) -> bytes:
    if name != "docProps/core.xml":
        return data
    return re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", _STAMP, data)


def word(text: Text, author: str) -> bytes:
    """A DOCX with real heading styles, numbered clauses as paragraphs, and tables with a header row."""
    document = _blank()
    for block in text.blocks:
        if block.kind == "heading":
            document.add_heading(block.text, level=block.level)
        elif block.kind == "table":
            _word_table(document, block.rows)
        else:
            document.add_paragraph(block.text)
    document.sections[0].footer.paragraphs[0].text = "Confidential"
    properties = document.core_properties
    properties.author, properties.title = author, text.blocks[0].text
    properties.created = properties.modified = _WHEN
    buffer = io.BytesIO()
    document.save(buffer)
    return settled(buffer.getvalue())


def _blank() -> Docx:
    """The library's empty document without the 0.8 MB of styles that nothing here uses."""
    document = docx.Document()
    for owner, unused in ((document.part, "/stylesWithEffects"), (document.part.package, "/thumbnail")):
        for key, relation in list(owner.rels.items()):
            if relation.reltype.endswith(unused):
                del owner.rels[key]
    for style in list(document.styles):
        if style.type == WD_STYLE_TYPE.TABLE and style.name not in {"Normal Table", "Table Grid"}:
            style.delete()
    return document


def _word_table(document: Docx, rows: tuple[tuple[str, ...], ...]) -> None:
    table = document.add_table(rows=len(rows), cols=len(rows[0]), style="Table Grid")
    for line, row in zip(rows, table.rows, strict=True):
        for value, cell in zip(line, row.cells, strict=True):
            cell.text = value


def sheet(sheets: dict[str, list[list[object]]]) -> bytes:
    """An XLSX: one sheet a key, the first row in bold, sums as formulas with no cached value."""
    book = Workbook()
    for index, (name, rows) in enumerate(sheets.items()):
        page = book.active if index == 0 else book.create_sheet()
        page.title = name
        for row in rows:
            page.append(row)
        for cell in page[1]:
            cell.font = Font(bold=True)
    book.properties.creator = "Tern & Hollow Furnishings"
    book.properties.created = _WHEN
    buffer = io.BytesIO()
    book.save(buffer)
    return settled(buffer.getvalue())


def slides(pages: list[tuple[str, list[str], str]]) -> bytes:
    """A PPTX: title, bullets and speaker's notes of each slide."""
    deck = pptx.Presentation()
    for title, bullets, notes in pages:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(bullets)
        slide.notes_slide.notes_text_frame.text = notes
    deck.core_properties.created = deck.core_properties.modified = _WHEN
    buffer = io.BytesIO()
    deck.save(buffer)
    return settled(buffer.getvalue())
