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


def python_docx_texts(path: str) -> str:
    """The texts of all paragraphs and then of all tables: the least that python-docx can be asked for."""
    import docx

    document = docx.Document(path)
    paragraphs = [paragraph.text for paragraph in document.paragraphs]
    rows = [" | ".join(cell.text for cell in row.cells) for table in document.tables for row in table.rows]
    return "\n".join(paragraphs + rows)


def python_docx_naive(path: str) -> str:
    """What a first converter on python-docx does, without numbering, notes, boxes or tracked changes.

    The blocks of the body in order; headings by the name of the style, bold and italic by run, tables
    cell by cell.
    """
    import docx
    from docx.table import Table

    document = docx.Document(path)
    lines = []
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            lines += [" | ".join(cell.text for cell in row.cells) for row in block.rows]
            continue
        style = (block.style.name if block.style is not None else None) or ""
        runs = [f"**{r.text}**" if r.bold else f"*{r.text}*" if r.italic else r.text for r in block.runs]
        prefix = "#" * int(style[-1]) + " " if style[:-1] == "Heading " and style[-1].isdigit() else ""
        lines.append(prefix + "".join(runs))
    return "\n".join(lines)


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


def liteparse_text(path: str) -> str:
    """liteparse's text without recognition of pictures."""
    from liteparse import LiteParse

    return str(LiteParse(ocr_enabled=False, quiet=True, num_workers=1).parse(path).text)


def pdf_oxide_markdown(path: str) -> str:
    """pdf_oxide's markdown of all pages."""
    from pdf_oxide import PdfDocument

    return str(PdfDocument(path).to_markdown_all())


def pdf_inspector_markdown(path: str) -> str:
    """pdf_inspector's markdown."""
    import pdf_inspector

    return str(pdf_inspector.process_pdf(path).markdown or "")


def office_oxide_markdown(path: str) -> str:
    """office_oxide's markdown."""
    import office_oxide

    return str(office_oxide.to_markdown(path))


# Kind of file → contender → (package that must be installed, function).
Peer = tuple[str, Callable[[str], str]]
MARKITDOWN: Peer = ("markitdown", markitdown_text)
KREUZBERG: Peer = ("kreuzberg", kreuzberg_text)
OFFICE_OXIDE: Peer = ("office_oxide", office_oxide_markdown)
PEERS: Mapping[str, Mapping[str, Peer]] = {
    "pdf": {
        "pypdfium2 (bare text)": ("pypdfium2", pypdfium2_text),
        "pdfplumber": ("pdfplumber", pdfplumber_text),
        "liteparse": ("liteparse", liteparse_text),
        "pdf_oxide": ("pdf_oxide", pdf_oxide_markdown),
        "pdf_inspector": ("pdf_inspector", pdf_inspector_markdown),
        "markitdown": MARKITDOWN,
        "kreuzberg": KREUZBERG,
    },
    "docx": {
        "python-docx (texts)": ("docx", python_docx_texts),
        "python-docx (naive)": ("docx", python_docx_naive),
        "mammoth": ("mammoth", mammoth_markdown),
        "office_oxide": OFFICE_OXIDE,
        "markitdown": MARKITDOWN,
        "kreuzberg": KREUZBERG,
    },
    "xlsx": {
        "calamine (bare)": ("python_calamine", calamine_bare),
        "calamine": ("python_calamine", calamine_values),
        "openpyxl": ("openpyxl", openpyxl_values),
        "office_oxide": OFFICE_OXIDE,
        "markitdown": MARKITDOWN,
        "kreuzberg": KREUZBERG,
    },
    "csv": {"csv (naive)": ("csv", csv_naive), "markitdown": MARKITDOWN, "kreuzberg": KREUZBERG},
    "html": {
        "markdownify": ("markdownify", markdownify_page),
        "markitdown": MARKITDOWN,
        "kreuzberg": KREUZBERG,
    },
    "md": {"markitdown": MARKITDOWN, "kreuzberg": KREUZBERG},
    "txt": {"markitdown": MARKITDOWN, "kreuzberg": KREUZBERG},
    "pptx": {"office_oxide": OFFICE_OXIDE, "markitdown": MARKITDOWN, "kreuzberg": KREUZBERG},
    "eml": {"markitdown": MARKITDOWN, "kreuzberg": KREUZBERG},
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
