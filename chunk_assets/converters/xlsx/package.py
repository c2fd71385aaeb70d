"""The parts of an OOXML workbook: sheets in order, shared strings, styles, properties."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from chunk_assets.converters.archive import open_archive, read_member
from chunk_assets.converters.base import Limits
from chunk_assets.converters.xlsx.sheet import finished, finished_bytes, rich_text
from chunk_assets.converters.xlsx.xml import attribute, regular, text_of
from chunk_assets.errors import DocumentFailure

_SHEET = re.compile(rb"<sheet\b([^>]*?)/?>")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b([^>]*?)/?>")
_STRING = re.compile(
    rb"<si>(?:<t(?: xml:space=\"preserve\")?>([^<]*)</t></si>|(.*?)</si>)|<si ?/>", re.DOTALL
)
_DATE1904 = re.compile(rb'date1904="(?:1|true)"')
_PROPERTIES = (
    ("title", re.compile(rb"<dc:title[^>]*>([^<]+)<")),
    ("author", re.compile(rb"<dc:creator[^>]*>([^<]+)<")),
    ("subject", re.compile(rb"<dc:subject[^>]*>([^<]+)<")),
    ("created", re.compile(rb"<dcterms:created[^>]*>([^<]+)<")),
    ("modified", re.compile(rb"<dcterms:modified[^>]*>([^<]+)<")),
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
        self._main = self.part(self._workbook)
        self.date1904 = bool(_DATE1904.search(self._main))

    def part(self, name: str) -> bytes:
        """The part in regular form; empty when there is none of that name."""
        member = self._names.get(name.lower())
        if member is None:
            return b""
        return regular(read_member(self._archive, member, self._limits), f"the part {name}")

    def sheets(self) -> Iterator[SheetEntry]:
        """Worksheets in the order of the workbook; chart and dialog sheets have no cells."""
        targets = self._targets
        for number, match in enumerate(_SHEET.finditer(self._main), 1):
            relation = attribute(match[1], b"id") or ""
            target = targets.get(relation, f"xl/worksheets/sheet{number}.xml")
            name = attribute(match[1], b"name") or f"Sheet {number}"
            yield SheetEntry(name, target, attribute(match[1], b"state") in ("hidden", "veryHidden"))

    def strings(self) -> list[str]:
        """The shared strings as finished cells."""
        part = self.part(self._beside("sharedstrings.xml"))
        strings = []
        for match in _STRING.finditer(part):
            plain, rich = match[1], match[2]
            strings.append(finished_bytes(plain) if plain is not None else finished(rich_text(rich or b"")))
        return strings

    def styles(self) -> bytes:
        """The part with the cell styles."""
        return self.part(self._beside("styles.xml"))

    def facts(self) -> dict[str, str]:
        """Title, author and dates of the document properties."""
        core = self.part("docProps/core.xml")
        found = {name: pattern.search(core) for name, pattern in _PROPERTIES}
        return {
            name: text_of(match[1]).strip() for name, match in found.items() if match and match[1].strip()
        }

    def _beside(self, name: str) -> str:
        """The part of this name that the workbook relates to, in whatever folder."""
        related = (target for target in self._targets.values() if target.lower().endswith(name))
        return next(related, posixpath.join(posixpath.dirname(self._workbook), name))

    def _workbook_part(self) -> str:
        for target in self._relations("").values():
            if re.fullmatch(r"xl/[^/]*\.xml", target, re.IGNORECASE) and target.lower() in self._names:
                return target
        if "xl/workbook.xml" in self._names:
            return "xl/workbook.xml"
        raise DocumentFailure("broken", "the package has no workbook part")

    def _relations(self, part: str) -> dict[str, str]:
        folder, name = posixpath.split(part)
        relations = self.part(posixpath.join(folder, "_rels", f"{name}.rels"))
        targets = {}
        for match in _RELATION.finditer(relations):
            target = attribute(match[1], b"Target") or ""
            if attribute(match[1], b"TargetMode") != "External":
                path = target if target.startswith("/") else posixpath.join(folder, target)
                targets[attribute(match[1], b"Id") or ""] = posixpath.normpath(path).lstrip("/")
        return targets
