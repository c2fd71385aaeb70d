"""Office packages (DOCX, PPTX): parts, relationships and properties, read from memory.

Elements are named by a short form (``w:p``, ``a:t``) that is the same for transitional and strict
documents, so that a reader need not know which of the two it has.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunk_assets.converters.archive import open_archive, parse_xml, read_member
from chunk_assets.converters.markup import clean_text, collapse_spaces
from chunk_assets.errors import DocumentFailure

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.base import Limits

_OFFICE = "http://schemas.openxmlformats.org/"
_STRICT = b"http://purl.oclc.org/ooxml/"
# The last words of a namespace, the same in the transitional and the strict form, and its prefix.
_PREFIXES = (
    ("wordprocessingml/2006/main", "w"),
    ("wordprocessingml/main", "w"),
    ("officeDocument/2006/math", "m"),
    ("officeDocument/math", "m"),
    ("markup-compatibility/2006", "mc"),
    ("drawingml/2006/main", "a"),
    ("drawingml/main", "a"),
    ("drawingml/2006/wordprocessingDrawing", "wp"),
    ("drawingml/wordprocessingDrawing", "wp"),
    ("drawingml/2006/chart", "c"),
    ("drawingml/chart", "c"),
    ("drawingml/2006/diagram", "dgm"),
    ("drawingml/diagram", "dgm"),
    ("presentationml/2006/main", "p"),
    ("presentationml/main", "p"),
    ("microsoft-com:vml", "v"),
    ("word/2010/wordprocessingShape", "wps"),
    ("word/2010/wordml", "w14"),
    ("package/2006/relationships", "rel"),
    ("drawing/2014/chartex", "cx"),
)
_QNAME = re.compile(r"\{([^}]*)\}(.*)", re.DOTALL)


class _ShortNames(dict[object, str]):
    """Clark names (``{uri}local``) to short names; each is worked out once."""

    def __missing__(self, tag: object) -> str:
        # Comments and entities have functions for tags: they have no name.
        short = self[tag] = _short(tag) if isinstance(tag, str) else ""
        return short


def _short(tag: str) -> str:
    match = _QNAME.match(tag)
    if match is None:
        return tag
    space, local = str(match[1]), str(match[2])
    prefix = next((prefix for words, prefix in _PREFIXES if space.endswith(words)), "")
    return f"{prefix}:{local}" if prefix else local


SHORT = _ShortNames()


def attribute(element: etree._Element, local: str) -> str | None:
    """The value of the attribute with this local name in any namespace, or ``None``."""
    found: str | None = element.get(_W + local)
    if found is not None:
        return found
    for name, other in element.attrib.items():
        if name == local or str(name).endswith("}" + local):
            return str(other)
    return None


_W = "{" + _OFFICE + "wordprocessingml/2006/main}"


def child(element: etree._Element | None, name: str) -> etree._Element | None:
    """The first child with this short name, or ``None``."""
    if element is not None:
        for found in element:
            if SHORT[found.tag] == name:
                return found
    return None


def value(element: etree._Element | None, name: str) -> str | None:
    """The ``val`` attribute of the first child with this short name, or ``None``."""
    found = child(element, name)
    return None if found is None else attribute(found, "val")


def is_on(element: etree._Element | None, name: str) -> bool:
    """Whether a toggle property is there and not switched off (``false``, ``0``, ``off``)."""
    found = child(element, name)
    return found is not None and attribute(found, "val") not in {"0", "false", "off", "none"}


@dataclass(frozen=True, slots=True)
class Relationship:
    """A link from one part to another (``target`` is a part name) or outside (``external``)."""

    kind: str
    target: str
    external: bool


class Package:
    """The parts of an Office file. Part names are looked up whatever their case and slashes."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._limits = limits
        self._archive = open_archive(data, limits)
        self._names = {_plain(name): name for name in self._archive.namelist()}

    def names(self) -> list[str]:
        """All part names, sorted."""
        return sorted(self._names.values())

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return _plain(name) in self._names

    def read(self, name: str) -> bytes | None:
        """The bytes of a part, ``None`` when there is none; damage is a ``DocumentFailure``."""
        stored = self._names.get(_plain(name))
        return None if stored is None else read_member(self._archive, stored, self._limits)

    def xml(self, name: str) -> etree._Element | None:
        """The root of a part, strict namespaces turned into transitional ones; ``None``: no part."""
        data = self.read(name)
        if data is None or not data.strip():
            return None
        return parse_xml(transitional(data), what=name)

    def optional_xml(self, name: str) -> etree._Element | None:
        """As ``xml``, but a broken part counts as missing: the text must not suffer for its styles."""
        try:
            return self.xml(name)
        except DocumentFailure as failure:
            if failure.status == "unsafe":
                raise
            return None

    def relationships(self, name: str) -> dict[str, Relationship]:
        """The relationships of a part (of the package itself for an empty name) by their id."""
        folder, base = posixpath.split(name)
        root = self.optional_xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, Relationship] = {}
        for element in () if root is None else root:
            identifier, target = element.get("Id"), element.get("Target")
            if identifier and target is not None:
                external = element.get("TargetMode") == "External"
                kind = (element.get("Type") or "").rsplit("/", 1)[-1]
                found[identifier] = Relationship(
                    kind, target if external else _resolve(folder, target), external
                )
        return found

    def main_part(self, default: str) -> str:
        """The name of the main document, by the package's relationships or else ``default``.

        Raises:
            DocumentFailure: ``broken``, when there is neither.
        """
        for relationship in self.relationships("").values():
            if relationship.kind == "officeDocument" and self.has(relationship.target):
                return relationship.target
        if self.has(default):
            return default
        raise DocumentFailure("broken", f"no main document: the package has no {default!r}")

    def facts(self) -> dict[str, str]:
        """Title, author, dates and the like of the property parts; empty ones left out."""
        found: dict[str, str] = {}
        for part, names in _PROPERTIES.items():
            root = self.optional_xml(part)
            for element in () if root is None else root:
                name = names.get(SHORT[element.tag].rsplit(":", 1)[-1])
                text = _one_line(element.text or "")
                if name and text:
                    found.setdefault(name, text)
        return found


_PROPERTIES = {
    "docProps/core.xml": {
        "title": "title",
        "creator": "author",
        "lastModifiedBy": "last_modified_by",
        "created": "created",
        "modified": "modified",
        "subject": "subject",
        "keywords": "keywords",
        "description": "description",
        "category": "category",
        "language": "language",
    },
    "docProps/app.xml": {"Company": "company", "Manager": "manager", "Application": "application"},
}


def _one_line(text: str) -> str:
    return collapse_spaces(clean_text(text).replace("\n", " ")).strip()


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _resolve(folder: str, target: str) -> str:
    """The part name of a relationship's target; one that climbs out of the package names no part."""
    target = target.split("#", 1)[0].replace("\\", "/")
    joined = target if target.startswith("/") else posixpath.join("/", folder, target)
    return posixpath.normpath(joined).lstrip("/")


_STRICT_NAMES = (
    (b"wordprocessingml/main", b"wordprocessingml/2006/main"),
    (b"presentationml/main", b"presentationml/2006/main"),
    (b"officeDocument/relationships", b"officeDocument/2006/relationships"),
    (b"officeDocument/math", b"officeDocument/2006/math"),
    (b"drawingml/", b"drawingml/2006/"),
)


def transitional(data: bytes) -> bytes:
    """XML bytes with the namespaces of strict documents replaced by the transitional ones."""
    if _STRICT in data[:20_000]:
        for strict, usual in _STRICT_NAMES:
            data = data.replace(_STRICT + strict, _OFFICE.encode() + usual)
    return data
