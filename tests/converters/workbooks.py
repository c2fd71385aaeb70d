"""Workbooks made for tests, whole, patched or written by hand."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest

from chunk_assets.converters.base import Limits, Options
from chunk_assets.converters.xlsx import XLSX
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted


def saved(book: openpyxl.Workbook) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def convert(book: openpyxl.Workbook | bytes, limits: Limits | None = None) -> Converted:
    data = book if isinstance(book, bytes) else saved(book)
    return XLSX.convert(data, Options(limits=limits or Limits()))


def lines(book: openpyxl.Workbook | bytes) -> list[str]:
    return convert(book).markdown.splitlines()


def one_sheet(*rows: list[object], formats: dict[str, str] | None = None) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for place, code in (formats or {}).items():
        sheet[place].number_format = code
    return book


def patched(data: bytes, part: str, change) -> bytes:
    """The package with one part rewritten by ``change``."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
        if part not in old.namelist():
            new.writestr(part, change(b""))
    return stream.getvalue()


def raw_sheet(body: str, strings: str = "", root: str = "worksheet") -> bytes:
    """A package whose one sheet has exactly this XML in its sheetData."""
    data = saved(one_sheet(["x"]))
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{space}"><sheetData>{body}</sheetData></worksheet>'.encode()
    data = patched(data, "xl/worksheets/sheet1.xml", lambda _: sheet)
    table = f'<sst xmlns="{space}">{strings}</sst>'.encode()
    return patched(data, "xl/sharedStrings.xml", lambda _: table)


def failure(data: bytes, limits: Limits | None = None) -> DocumentFailure:
    with pytest.raises(DocumentFailure) as caught:
        convert(data, limits)
    return caught.value
