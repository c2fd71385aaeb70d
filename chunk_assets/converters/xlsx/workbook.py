"""The sheets of an OOXML workbook in order, from XML parts or binary ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chunk_assets.converters.base import Limits
from chunk_assets.converters.xlsx import binary
from chunk_assets.converters.xlsx.cells import finished, finished_content, rich_text, unescaped
from chunk_assets.converters.xlsx.drawing import notes
from chunk_assets.converters.xlsx.package import Package
from chunk_assets.converters.xlsx.sheet import Sheet, SheetReader
from chunk_assets.converters.xlsx.styles import number_styles
from chunk_assets.converters.xlsx.xml import attributes
from chunk_assets.errors import DocumentFailure

_SHEET = re.compile(r"<sheet\b([^>]*?)/?>")
_STRING = re.compile(r"<si>(?:<t(?: xml:space=\"preserve\")?>([^<]*)</t></si>|(.*?)</si>)|<si ?/>", re.DOTALL)
_DATE1904 = re.compile(r'date1904="(?:1|true)"')


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    part: str
    hidden: bool


def sheets(package: Package, limits: Limits) -> Iterator[tuple[str, bool, Sheet]]:
    """Name, whether it is hidden, and cells of each sheet; a sheet that can't be read has a ``fault``."""
    entries, read = _binary(package, limits) if package.is_binary else _xml(package, limits)
    with_notes = any("drawing" in name or "comment" in name for name in package.names())
    for entry in entries:
        sheet = _sheet(package, entry, read)
        if with_notes and not sheet.fault:
            sheet.texts, sheet.comments = notes(package, entry.part)
        yield entry.name, entry.hidden, sheet


def _sheet(package: Package, entry: _Entry, read: Callable[[str], Sheet]) -> Sheet:
    if not package.has(entry.part):
        return Sheet(fault=f"sheet {entry.name!r} has no part in the package")
    try:
        return read(entry.part)
    except DocumentFailure as failure:
        if failure.status != "broken":
            raise
        return Sheet(fault=f"sheet {entry.name!r}: {failure.reason}")


def _xml(package: Package, limits: Limits) -> tuple[list[_Entry], Callable[[str], Sheet]]:
    main = package.text(package.workbook)
    found = _STRING.findall(_or_nothing(package, "sharedstrings.xml"))
    strings = [finished(rich_text(rich)) if rich else finished_content(plain) for plain, rich in found]
    styles = number_styles(_or_nothing(package, "styles.xml"), date1904=bool(_DATE1904.search(main)))
    reader = SheetReader(strings, styles, limits.max_output_chars)
    entries = []
    for number, match in enumerate(_SHEET.finditer(main), 1):
        given = attributes(match[1])
        part = package.target(given.get("id", ""), f"xl/worksheets/sheet{number}.xml")
        name = unescaped(given.get("name", "")) or f"Sheet {number}"
        entries.append(_Entry(name, part, given.get("state") in ("hidden", "veryHidden")))
    return entries, lambda part: reader.read(package.part(part))


def _or_nothing(package: Package, name: str) -> str:
    """A part that the sheets can be read without, though not completely."""
    try:
        return package.text(package.beside(name))
    except DocumentFailure as failure:
        if failure.status != "broken":
            raise
        return ""


def _binary(package: Package, limits: Limits) -> tuple[list[_Entry], Callable[[str], Sheet]]:
    main = package.raw(package.workbook)
    styles = binary.number_styles(package.raw(package.beside("styles.bin")), date1904=binary.uses_1904(main))
    strings = binary.strings(package.raw(package.beside("sharedstrings.bin")))
    reader = SheetReader(strings, styles, limits.max_output_chars)
    entries = [
        _Entry(
            name or f"Sheet {number}", package.target(relation, f"xl/worksheets/sheet{number}.bin"), hidden
        )
        for number, (name, relation, hidden) in enumerate(binary.sheet_entries(main), 1)
    ]
    return entries, lambda part: binary.read(package.raw(part), reader)
