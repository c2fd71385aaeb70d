"""Office packages (DOCX, PPTX): parts, relationships and properties, read from memory.

Elements are named by a short form (``w:p``, ``a:t``) that is the same for transitional and strict
documents, so that a reader need not know which of the two it has.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
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
_NAMESPACES = {
    "w": f"{_OFFICE}wordprocessingml/2006/main",
    "m": f"{_OFFICE}officeDocument/2006/math",
    "mc": f"{_OFFICE}markup-compatibility/2006",
    "a": f"{_OFFICE}drawingml/2006/main",
    "wp": f"{_OFFICE}drawingml/2006/wordprocessingDrawing",
    "c": f"{_OFFICE}drawingml/2006/chart",
    "dgm": f"{_OFFICE}drawingml/2006/diagram",
    "pic": f"{_OFFICE}drawingml/2006/picture",
    "p": f"{_OFFICE}presentationml/2006/main",
    "v": "urn:schemas-microsoft-com:vml",
    "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
}
_PREFIXES = {uri: prefix for prefix, uri in _NAMESPACES.items()}
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
    prefix = _PREFIXES.get(str(match[1]))
    return f"{prefix}:{match[2]}" if prefix else str(match[2])


class _ClarkNames(dict[str, str]):
    """Short names to Clark names; each is worked out once."""

    def __missing__(self, short: str) -> str:
        prefix, _, local = short.rpartition(":")
        clark = self[short] = f"{{{_NAMESPACES[prefix]}}}{local}" if prefix else local
        return clark


CLARK = _ClarkNames()


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
    return None if element is None else next(element.iterchildren(CLARK[name]), None)


def leading(element: etree._Element, name: str) -> etree._Element | None:
    """The first child, if it has this short name: properties stand before content."""
    for found in element:
        return found if found.tag == CLARK[name] else None
    return None


def tags(*names: str) -> dict[str, str]:
    """Short names by their Clark names, for ``children``."""
    return {CLARK[name]: name for name in names}


def children(element: etree._Element | None, wanted: Mapping[str, str]) -> dict[str, etree._Element]:
    """The last child for each of the ``wanted`` tags that there is, by short name; in one pass.

    A plain loop: asking lxml for several tags at once takes twice as long.
    """
    found: dict[str, etree._Element] = {}
    for inner in () if element is None else element:
        name = wanted.get(inner.tag)
        if name is not None:
            found[name] = inner
    return found


def value(element: etree._Element | None, name: str) -> str | None:
    """The ``val`` attribute of the first child with this short name, or ``None``."""
    found = child(element, name)
    return None if found is None else attribute(found, "val")


def is_on(element: etree._Element | None, name: str) -> bool:
    """Whether a toggle property is there and not switched off (``false``, ``0``, ``off``)."""
    return toggled(child(element, name))


def toggled(found: etree._Element | None) -> bool:
    """Whether this toggle property is there and not switched off."""
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
