"""The parts of an OOXML workbook: sheets in order, shared strings, styles, properties."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from chunk_assets.converters.archive import open_archive, read_member
from chunk_assets.converters.base import Limits
from chunk_assets.converters.xlsx.cells import finished, finished_content, rich_text, unescaped
from chunk_assets.converters.xlsx.xml import attributes, regular
from chunk_assets.errors import DocumentFailure

_SHEET = re.compile(r"<sheet\b([^>]*?)/?>")
_RELATION = re.compile(r"<(?:\w+:)?Relationship\b([^>]*?)/?>")
_STRING = re.compile(r"<si>(?:<t(?: xml:space=\"preserve\")?>([^<]*)</t></si>|(.*?)</si>)|<si ?/>", re.DOTALL)
_DATE1904 = re.compile(r'date1904="(?:1|true)"')
_PROPERTIES = (
    ("title", re.compile(r"<dc:title[^>]*>([^<]+)<")),
    ("author", re.compile(r"<dc:creator[^>]*>([^<]+)<")),
    ("subject", re.compile(r"<dc:subject[^>]*>([^<]+)<")),
    ("created", re.compile(r"<dcterms:created[^>]*>([^<]+)<")),
    ("modified", re.compile(r"<dcterms:modified[^>]*>([^<]+)<")),
)


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """One sheet of the workbook: its name, part and whether it is hidden."""

    name: str
    part: str
    hidden: bool


class Package:
    """A workbook package; parts are read when asked for, each within the limits."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._archive: zipfile.ZipFile = open_archive(data, limits)
        self._limits = limits
        self._names = {name.replace("\\", "/").lstrip("/").lower(): name for name in self._archive.namelist()}
        self._workbook = self._workbook_part()
        self._targets = self._relations(self._workbook)
        self._main = self._text(self._workbook)
        self.date1904 = bool(_DATE1904.search(self._main))

    def part(self, name: str) -> bytes:
        """The part in regular form; empty when there is none of that name."""
        member = self._names.get(name.lower())
        if member is None:
            return b""
        return regular(read_member(self._archive, member, self._limits), f"the part {name}")

    def _text(self, name: str) -> str:
        return self.part(name).decode("utf-8", "replace")

    def sheets(self) -> Iterator[SheetEntry]:
        """Worksheets in the order of the workbook; chart and dialog sheets have no cells."""
        for number, match in enumerate(_SHEET.finditer(self._main), 1):
            given = attributes(match[1])
            target = self._targets.get(given.get("id", ""), f"xl/worksheets/sheet{number}.xml")
            name = unescaped(given.get("name", "")) or f"Sheet {number}"
            yield SheetEntry(name, target, given.get("state") in ("hidden", "veryHidden"))

    def strings(self) -> list[str]:
        """The shared strings as finished cells."""
        found = _STRING.findall(self._text(self._beside("sharedstrings.xml")))
        return [finished(rich_text(rich)) if rich else finished_content(plain) for plain, rich in found]

    def styles(self) -> str:
        """The part with the cell styles."""
        return self._text(self._beside("styles.xml"))

    def facts(self) -> dict[str, str]:
        """Title, author and dates of the document properties."""
        core = self._text("docProps/core.xml")
        found = {name: pattern.search(core) for name, pattern in _PROPERTIES}
        return {
            name: unescaped(match[1]).strip() for name, match in found.items() if match and match[1].strip()
        }

    def _beside(self, name: str) -> str:
        """The part of this name that the workbook relates to, in whatever folder."""
        related = (target for target in self._targets.values() if target.lower().endswith(name))
        return next(related, posixpath.join(posixpath.dirname(self._workbook), name))

    def _workbook_part(self) -> str:
        if "xl/workbook.xml" in self._names:
            return "xl/workbook.xml"
        for target in self._relations("").values():
            if re.fullmatch(r"xl/[^/]*\.xml", target, re.IGNORECASE) and target.lower() in self._names:
                return target
        raise DocumentFailure("broken", "the package has no workbook part")

    def _relations(self, part: str) -> dict[str, str]:
        folder, name = posixpath.split(part)
        relations = self._text(posixpath.join(folder, "_rels", f"{name}.rels"))
        targets = {}
        for match in _RELATION.finditer(relations):
            given = attributes(match[1])
            if given.get("TargetMode") != "External":
                target = unescaped(given.get("Target", ""))
                path = target if target.startswith("/") else posixpath.join(folder, target)
                targets[given.get("Id", "")] = posixpath.normpath(path).lstrip("/")
        return targets
