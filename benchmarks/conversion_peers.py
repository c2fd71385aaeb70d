"""How each contender turns one file into text. Functions take a path, so that workers can run them."""
# ruff: noqa: D403 - packages are called as they call themselves

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path


def ours(path: str) -> str:
    """This project, sniffing and contract checks included."""
    from chunk_assets.conversion import convert_source
    from chunk_assets.converters.base import Options

    converted = convert_source(path, Path(path).name, Options())
    if converted.status not in ("ok", "partial"):
        raise ValueError(f"{converted.status}: {converted.reason}")
    return converted.markdown


def pypdfium2_text(path: str) -> str:
    """PDFium's bare text pass: the floor of what reading a PDF costs, without any structure."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def pdfplumber_text(path: str) -> str:
    """pdfplumber's text of each page."""
    import pdfplumber

    with pdfplumber.open(path) as document:
        return "\n".join(page.extract_text() for page in document.pages)


def python_docx_naive(path: str) -> str:
    """Paragraphs and tables as most tutorials read them."""
    import docx

    document = docx.Document(path)
    paragraphs = [paragraph.text for paragraph in document.paragraphs]
    rows = [" | ".join(cell.text for cell in row.cells) for table in document.tables for row in table.rows]
    return "\n".join(paragraphs + rows)


def mammoth_markdown(path: str) -> str:
    """mammoth's own markdown."""
    import mammoth

    with Path(path).open("rb") as stream:
        return str(mammoth.convert_to_markdown(stream).value)


def calamine_values(path: str) -> str:
    """python-calamine reading every value: the floor of what reading a sheet costs."""
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_path(path)
    kinds = python_calamine.SheetTypeEnum
    names = [sheet.name for sheet in book.sheets_metadata if sheet.typ == kinds.WorkSheet]
    return "\n".join(
        " | ".join(map(str, row)) for name in names for row in book.get_sheet_by_name(name).to_python()
    )


def calamine_bare(path: str) -> str:
    """python-calamine reading every value and doing nothing with it."""
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_path(path)
    kinds = python_calamine.SheetTypeEnum
    names = [sheet.name for sheet in book.sheets_metadata if sheet.typ == kinds.WorkSheet]
    return str(sum(len(book.get_sheet_by_name(name).to_python()) for name in names))


def openpyxl_values(path: str) -> str:
    """openpyxl in its read-only mode."""
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    rows = [row for sheet in book.worksheets for row in sheet.iter_rows(values_only=True)]
    book.close()
    return "\n".join(" | ".join("" if cell is None else str(cell) for cell in row) for row in rows)


def csv_naive(path: str) -> str:
    """The standard library's reader with its defaults, UTF-8 assumed."""
    import csv

    with Path(path).open(encoding="utf-8", newline="") as stream:
        return "\n".join(" | ".join(row) for row in csv.reader(stream))


def markdownify_page(path: str) -> str:
    """markdownify over the whole page."""
    import markdownify

    return str(markdownify.markdownify(Path(path).read_text("utf-8", "replace")))


def markitdown_text(path: str) -> str:
    """markitdown with its default converters."""
    from markitdown import MarkItDown

    return str(MarkItDown().convert(path).text_content)


def kreuzberg_text(path: str) -> str:
    """kreuzberg with its defaults, recognition of pictures off."""
    import kreuzberg

    return str(kreuzberg.extract_file_sync(path).content)


# Kind of file → contender → (package that must be installed, function).
Peer = tuple[str, Callable[[str], str]]
PEERS: Mapping[str, Mapping[str, Peer]] = {
    "pdf": {
        "pypdfium2 (bare text)": ("pypdfium2", pypdfium2_text),
        "pdfplumber": ("pdfplumber", pdfplumber_text),
        "markitdown": ("markitdown", markitdown_text),
        "kreuzberg": ("kreuzberg", kreuzberg_text),
    },
    "docx": {
        "python-docx (naive)": ("docx", python_docx_naive),
        "mammoth": ("mammoth", mammoth_markdown),
        "markitdown": ("markitdown", markitdown_text),
        "kreuzberg": ("kreuzberg", kreuzberg_text),
    },
    "xlsx": {
        "calamine (bare)": ("python_calamine", calamine_bare),
        "calamine": ("python_calamine", calamine_values),
        "openpyxl": ("openpyxl", openpyxl_values),
        "markitdown": ("markitdown", markitdown_text),
        "kreuzberg": ("kreuzberg", kreuzberg_text),
    },
    "csv": {
        "csv (naive)": ("csv", csv_naive),
        "markitdown": ("markitdown", markitdown_text),
        "kreuzberg": ("kreuzberg", kreuzberg_text),
    },
    "html": {
        "markdownify": ("markdownify", markdownify_page),
        "markitdown": ("markitdown", markitdown_text),
        "kreuzberg": ("kreuzberg", kreuzberg_text),
    },
}


def timed(run: Callable[[str], str], path: str, at_least: float) -> tuple[str, float]:
    """The text, and the processor seconds of one run, over as many runs as take ``at_least`` seconds."""
    runs, started = 0, time.process_time()
    while True:
        text = run(path)
        runs += 1
        spent = time.process_time() - started
        if spent >= at_least or runs >= 50:
            return text, spent / runs


def installed(package: str) -> bool:
    """Whether the package can be imported here."""
    return find_spec(package) is not None
