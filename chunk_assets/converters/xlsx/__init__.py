"""Spreadsheets: every sheet its own section, every table on it a pipe table.

OOXML and OpenDocument are read straight from their parts, so that numbers come as shown; .xls by
calamine, with number formats from its records. Hidden sheets and rows are converted like the others:
the heading of a hidden sheet says so, and a warning names hidden rows and columns. A sheet without
cells keeps its heading.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from chunk_assets.converters import media
from chunk_assets.converters.base import Converter, Limits, Options
from chunk_assets.converters.markup import clean_text, escape_inline
from chunk_assets.converters.xlsx import calamine, ods, workbook
from chunk_assets.converters.xlsx.layout import sheet_lines
from chunk_assets.converters.xlsx.package import Package
from chunk_assets.converters.xlsx.sheet import Sheet
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import OK, Converted


def convert(data: bytes, options: Options) -> Converted:
    """The workbook as markdown, one ``##`` section for each sheet.

    ``partial`` where a sheet can't be read or cells refer to text that the file lacks.

    Raises:
        DocumentFailure: ``encrypted``, ``broken``, ``unsafe``, ``too_large`` or ``empty``.
    """
    facts: dict[str, str] = {}
    with _collector_paused():
        found = list(_sheets(data, options.limits, facts))
        lines: list[str] = []
        for name, hidden, sheet in found:
            title = escape_inline(clean_text(name).strip())
            lines += ["", f"## {title} (hidden)" if hidden else f"## {title}"]
            lines += sheet_lines(sheet, options.limits)
            lines += [line for text in sheet.texts for line in ("", text)]
    if not found:
        raise DocumentFailure("empty", "the workbook has no sheets")
    facts["sheets"] = str(len(found))
    if comments := sum(sheet.comments for _, _, sheet in found):
        facts["comments"] = str(comments)
    faults = _faults([sheet for _, _, sheet in found])
    status = "partial" if faults else OK
    markdown = "\n".join(lines).strip("\n") + "\n"
    return Converted(markdown, (), facts, tuple(_warnings(found)), status, faults)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without the cycle collector: it would walk millions of short tuples, in which there are no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _faults(sheets: Sequence[Sheet]) -> str:
    """What is missing from the text, in one sentence; raises when that is everything."""
    faults = [sheet.fault for sheet in sheets if sheet.fault]
    if faults and len(faults) == len(sheets):
        raise DocumentFailure("broken", "; ".join(faults[:3]))
    lost = sum(sheet.lost for sheet in sheets)
    if lost:
        faults.append(f"{lost} cells refer to shared strings that are not in the file")
    return "; ".join(faults[:10])


XLSX = Converter("xlsx", 1, (media.XLSX, media.XLSB, media.XLS, media.ODS), convert)


def _sheets(data: bytes, limits: Limits, facts: dict[str, str]) -> Iterator[tuple[str, bool, Sheet]]:
    if not data.startswith(b"PK"):
        yield from calamine.sheets(data, limits)
        return
    if media.ODS.encode() in data[:256]:
        facts.update(ods.facts(data, limits))
        yield from ods.sheets(data, limits)
        return
    package = Package(data, limits)
    facts.update(package.facts())
    yield from workbook.sheets(package, limits)


def _warnings(found: Sequence[tuple[str, bool, Sheet]]) -> Iterator[str]:
    for name, hidden, sheet in found:
        if hidden and sheet.rows:
            yield f"sheet {name!r} is hidden"
        if sheet.hidden_rows:
            yield f"sheet {name!r}: hidden rows {_ranges(sheet.hidden_rows)}"
        if columns := _used(sheet, sheet.hidden_columns):
            yield f"sheet {name!r}: hidden columns {_ranges(columns)}"
        if sheet.uncached:
            places = ", ".join(sheet.uncached[:10])
            yield f"sheet {name!r}: {len(sheet.uncached)} formulas without a stored value ({places})"
    blank = sum(1 for _, _, sheet in found if not sheet.rows and not sheet.texts)
    if blank:
        yield f"{blank} of {len(found)} sheets have no cells with text"


def _used(sheet: Sheet, columns: Sequence[int]) -> list[int]:
    """Those of the columns that have text."""
    used = {column for row in sheet.rows for column in row.columns} if columns else set()
    return [column for column in columns if column in used]


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers from 0 as ranges from 1: ``2-5, 9``; at most ten of them."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [str(a + 1) if a == b else f"{a + 1}-{b + 1}" for a, b in ranges[:10]]
    return ", ".join(shown) + (", …" if len(ranges) > 10 else "")
