"""Spreadsheets: every sheet its own section, every table on it a pipe table.

OOXML workbooks are read straight from their XML, so that numbers come as shown; .xls, .xlsb and .ods by
calamine. Hidden sheets and rows are converted like the others: the heading of a hidden sheet says so,
and a warning names hidden rows and columns. A sheet without cells keeps its heading.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chunk_assets.converters import media
from chunk_assets.converters.base import Converter, Limits, Options
from chunk_assets.converters.markup import clean_text, escape_inline
from chunk_assets.converters.xlsx import calamine
from chunk_assets.converters.xlsx.layout import sheet_lines
from chunk_assets.converters.xlsx.package import Package
from chunk_assets.converters.xlsx.sheet import Sheet, SheetReader
from chunk_assets.converters.xlsx.styles import number_styles
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import OK, Converted


def convert(data: bytes, options: Options) -> Converted:
    """The workbook as markdown, one ``##`` section for each sheet.

    ``partial`` where cells refer to text that the file lacks.

    Raises:
        DocumentFailure: ``encrypted``, ``broken``, ``unsafe``, ``too_large`` or ``empty``.
    """
    facts: dict[str, str] = {}
    warnings: list[str] = []
    lines: list[str] = []
    count = blank = lost = 0
    for name, hidden, sheet in _sheets(data, options.limits, facts):
        title = escape_inline(clean_text(name).strip())
        lines += ["", f"## {title} (hidden)" if hidden else f"## {title}"]
        lines += sheet_lines(sheet, options.limits)
        _warn(name, hidden, sheet, warnings)
        count += 1
        blank += not sheet.rows
        lost += sheet.lost
    if not count:
        raise DocumentFailure("empty", "the workbook has no sheets")
    if blank:
        warnings.append(f"{blank} of {count} sheets have no cells with text")
    facts["sheets"] = str(count)
    reason = f"{lost} cells refer to shared strings that are not in the file" if lost else ""
    status = "partial" if lost else OK
    return Converted("\n".join(lines).strip("\n") + "\n", (), facts, tuple(warnings), status, reason)


XLSX = Converter("xlsx", 1, (media.XLSX, media.XLSB, media.XLS, media.ODS), convert)


def _sheets(data: bytes, limits: Limits, facts: dict[str, str]) -> Iterator[tuple[str, bool, Sheet]]:
    if (
        not data.startswith(b"PK")
        or b"xl/workbook.bin" in data
        or b"mimetypeapplication/vnd.oasis" in data[:100]
    ):
        yield from calamine.sheets(data)
        return
    package = Package(data, limits)
    facts.update(package.facts())
    styles = number_styles(package.styles(), date1904=package.date1904)
    reader = SheetReader(package.strings(), styles, limits.max_output_chars)
    for entry in package.sheets():
        yield entry.name, entry.hidden, reader.read(package.part(entry.part))


def _warn(name: str, hidden: bool, sheet: Sheet, warnings: list[str]) -> None:
    if hidden and sheet.rows:
        warnings.append(f"sheet {name!r} is hidden")
    if sheet.hidden_rows:
        warnings.append(f"sheet {name!r}: hidden rows {_ranges(sheet.hidden_rows)}")
    used = {column for row in sheet.rows for column in row.columns} if sheet.hidden_columns else set()
    columns = [column for column in sheet.hidden_columns if column in used]
    if columns:
        warnings.append(f"sheet {name!r}: hidden columns {_ranges(columns)}")
    if sheet.uncached:
        places = ", ".join(sheet.uncached[:10])
        warnings.append(f"sheet {name!r}: {len(sheet.uncached)} formulas without a stored value ({places})")


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
