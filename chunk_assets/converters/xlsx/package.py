"""The parts of an OOXML workbook, each found by its relation and read within the limits."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterable

from chunk_assets.converters.archive import open_archive, read_member
from chunk_assets.converters.base import Limits
from chunk_assets.converters.xlsx.cells import unescaped
from chunk_assets.converters.xlsx.xml import attributes, regular
from chunk_assets.errors import DocumentFailure

_RELATION = re.compile(r"<(?:\w+:)?Relationship\b([^>]*?)/?>")
# Some writers give the workbook a name and folder of their own; document properties are elsewhere.
_MAIN_PART = re.compile(r"(?!docprops/)(?:[^/]+/)?[^/]*book[^/]*\.(?:xml|bin)", re.IGNORECASE)
_PROPERTIES = (
    ("title", re.compile(r"<dc:title[^>]*>([^<]+)<")),
    ("author", re.compile(r"<dc:creator[^>]*>([^<]+)<")),
    ("subject", re.compile(r"<dc:subject[^>]*>([^<]+)<")),
    ("created", re.compile(r"<dcterms:created[^>]*>([^<]+)<")),
    ("modified", re.compile(r"<dcterms:modified[^>]*>([^<]+)<")),
)


class Package:
    """A workbook package; parts are read when asked for, each within the limits."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._archive: zipfile.ZipFile = open_archive(data, limits)
        self._limits = limits
        self._names = {name.replace("\\", "/").lstrip("/").lower(): name for name in self._archive.namelist()}
        self.workbook = self._workbook_part()
        self._targets = self._relations(self.workbook)

    @property
    def is_binary(self) -> bool:
        """Whether the parts are records (.xlsb) instead of XML."""
        return self.workbook.lower().endswith(".bin")

    def has(self, name: str) -> bool:
        """Whether there is a part of that name."""
        return name.lower() in self._names

    def names(self) -> Iterable[str]:
        """The names of all parts in small letters."""
        return self._names

    def raw(self, name: str) -> bytes:
        """The part as it is; empty when there is none of that name."""
        member = self._names.get(name.lower())
        return b"" if member is None else read_member(self._archive, member, self._limits)

    def part(self, name: str) -> bytes:
        """The XML part in regular form; empty when there is none of that name."""
        return regular(self.raw(name), f"the part {name}")

    def text(self, name: str) -> str:
        """The XML part in regular form, decoded."""
        return self.part(name).decode("utf-8", "replace")

    def target(self, relation: str, default: str) -> str:
        """The part that the workbook relates to by this id."""
        return self._targets.get(relation, default)

    def related(self, part: str) -> list[str]:
        """The parts that a part relates to, in the order of the file."""
        return list(self._relations(part).values())

    def facts(self) -> dict[str, str]:
        """Title, author and dates of the document properties."""
        core = self.text("docProps/core.xml")
        found = {name: pattern.search(core) for name, pattern in _PROPERTIES}
        return {
            name: unescaped(match[1]).strip() for name, match in found.items() if match and match[1].strip()
        }

    def beside(self, name: str) -> str:
        """The part of this name that the workbook relates to, in whatever folder."""
        related = (target for target in self._targets.values() if target.lower().endswith(name))
        return next(related, posixpath.join(posixpath.dirname(self.workbook), name))

    def _workbook_part(self) -> str:
        for usual in ("xl/workbook.xml", "xl/workbook.bin"):
            if self.has(usual):
                return usual
        for target in self._relations("").values():
            if _MAIN_PART.fullmatch(target) and self.has(target):
                return target
        raise DocumentFailure("broken", "the package has no workbook part")

    def _relations(self, part: str) -> dict[str, str]:
        folder, name = posixpath.split(part)
        relations = self.text(posixpath.join(folder, "_rels", f"{name}.rels"))
        targets = {}
        for match in _RELATION.finditer(relations):
            given = attributes(match[1])
            if given.get("TargetMode") != "External":
                target = unescaped(given.get("Target", ""))
                path = target if target.startswith("/") else posixpath.join(folder, target)
                targets[given.get("Id", "")] = (posixpath.normpath(path) if "./" in path else path).lstrip(
                    "/"
                )
        return targets
