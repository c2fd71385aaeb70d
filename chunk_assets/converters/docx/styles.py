"""Styles of a Word document: what each one means for text, inheritance resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunk_assets.converters.ooxml import SHORT, attribute, child, is_on, value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml import etree

# Word writes built-in names in English; other writers translate them.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titulo|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis"
    r"|заголовок|見出し|标题|標題|제목)\s*([1-9])$",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:source ?code|code(?: ?(?:block|listing|snippet|example))?|html preformatted|preformatted text"
    r"|macro|macro text|source listing|verbatim|source text)\b",
    re.IGNORECASE,
)
_NOT_CODE = re.compile(r"\b(?:zip|bar|post(?:al)?|area|dress|tax|civil|penal) ?code\b", re.IGNORECASE)
_CODE_SPAN = re.compile(
    r"\b(?:html code|verbatim char|code char|inline code|source text|code|html keyboard|html sample)\b",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"^(?:intense )?quote$|^block ?(?:quote|text)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a paragraph style says: heading level 1–9 (0: none), numbering, code, quote, hidden.

    ``num_id`` is ``None`` without numbering; ``level`` is ``None`` when the numbering part decides.
    """

    style_id: str = ""
    heading: int = 0
    num_id: str | None = None
    level: int | None = None
    code: bool = False
    quote: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class CharacterStyle:
    """What a character style says: code, hidden."""

    code: bool = False
    hidden: bool = False


class Styles:
    """Looks up styles by id; unknown ids mean the plain style."""

    def __init__(self, root: etree._Element | None) -> None:
        elements = [] if root is None else [e for e in root if SHORT[e.tag] == "w:style"]
        self._elements = {attribute(e, "styleId") or "": e for e in elements}
        self._paragraphs: dict[str, ParagraphStyle] = {}
        self._characters: dict[str, CharacterStyle] = {}
        self.default = _default_id(elements)

    def num_id(self, style_id: str) -> str | None:
        """The numbering that a numbering style stands for."""
        return next(filter(None, (_numbering(e)[0] for e in self._chain(style_id))), None)

    def paragraph(self, style_id: str | None) -> ParagraphStyle:
        """The paragraph style with this id (the default one for ``None``)."""
        identifier = style_id or self.default
        found = self._paragraphs.get(identifier)
        if found is None:
            found = self._paragraphs[identifier] = self._resolve(identifier)
        return found

    def character(self, style_id: str) -> CharacterStyle:
        """The character style with this id."""
        found = self._characters.get(style_id)
        if found is None:
            chain = self._chain(style_id)
            found = CharacterStyle(
                code=any(_CODE_SPAN.search(name) for name in _names(chain)),
                hidden=_first_toggle(chain, "w:vanish"),
            )
            self._characters[style_id] = found
        return found

    def _chain(self, style_id: str) -> list[etree._Element]:
        """The style's element and those it is based on, nearest first, cycles cut."""
        chain: list[etree._Element] = []
        seen: set[str] = set()
        while style_id in self._elements and style_id not in seen:
            seen.add(style_id)
            chain.append(self._elements[style_id])
            style_id = value(chain[-1], "w:basedOn") or ""
        return chain

    def _resolve(self, style_id: str) -> ParagraphStyle:
        chain = self._chain(style_id)
        if not chain:
            return ParagraphStyle(style_id, heading=_level_of_name(style_id))
        names = _names(chain)
        num_id, level, owner = None, None, style_id
        for element in chain:
            num_id, level = _numbering(element)
            if num_id is not None:
                owner = attribute(element, "styleId") or ""
                break
        return ParagraphStyle(
            style_id=owner,
            heading=_heading(chain),
            num_id=num_id,
            level=level,
            code=any(_CODE.search(n) and not _NOT_CODE.search(n) for n in names),
            quote=any(_QUOTE.match(n) for n in names),
            hidden=_first_toggle(chain, "w:vanish"),
        )


def _default_id(elements: Iterable[etree._Element]) -> str:
    for element in elements:
        if attribute(element, "default") in {"1", "true"} and attribute(element, "type") == "paragraph":
            return attribute(element, "styleId") or ""
    return ""


def _names(chain: list[etree._Element]) -> list[str]:
    return [value(element, "w:name") or attribute(element, "styleId") or "" for element in chain]


def _first_toggle(chain: list[etree._Element], name: str) -> bool:
    for element in chain:
        properties = child(element, "w:rPr")
        if child(properties, name) is not None:
            return is_on(properties, name)
    return False


def _level_of_name(name: str) -> int:
    match = _HEADING.match(name.strip())
    if match:
        return int(match[1])
    return 1 if name.strip().lower() == "title" else 0


def _heading(chain: list[etree._Element]) -> int:
    """Heading level 1–9 of a style: the nearest name or outline level that says so, else 0."""
    for element in chain:
        outline = value(child(element, "w:pPr"), "w:outlineLvl")
        if outline is not None and outline.isdigit():
            return int(outline) + 1 if int(outline) < 9 else 0
        name = value(element, "w:name") or attribute(element, "styleId") or ""
        if level := _level_of_name(name):
            return level
    return 0


def _numbering(element: etree._Element) -> tuple[str | None, int | None]:
    """Numbering id and level of a style's own properties."""
    properties = child(child(element, "w:pPr"), "w:numPr")
    level = value(properties, "w:ilvl")
    return value(properties, "w:numId"), int(level) if level and level.isdigit() else None
