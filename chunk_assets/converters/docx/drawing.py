"""Drawings in Word documents: text boxes, pictures by their alternative text, charts, diagrams."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from chunk_assets.converters.charts import chart_blocks, diagram_blocks
from chunk_assets.converters.markup import image
from chunk_assets.converters.ooxml import SHORT, attribute, child

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.blocks import Inline
    from chunk_assets.converters.docx.state import State

_PROPERTIES = {"wp:docPr", "cNvPr", "pic:cNvPr"}


def add_drawing(drawing: etree._Element, inline: Inline, state: State) -> None:
    """Adds what a ``w:drawing``, ``w:pict`` or ``w:object`` says; its boxes come after the paragraph.

    The drawing is walked with a list, not by recursion, and the inside of a text box only by its reader,
    so that each text is met once however deep shapes are grouped.
    """
    pending = list(reversed(drawing))
    described = False
    while pending:
        element = pending.pop()
        name = SHORT[element.tag]
        if name == "w:txbxContent":
            _add_box(element, state)
        elif name == "mc:AlternateContent":
            pending.extend(reversed(_preferred(element)))
        elif name in {"a:blip", "v:imagedata"} and not described:
            described = _add_picture(drawing, element, inline, state)
        elif name in _PARTS:
            _add_part(element, name, state)
        elif name == "v:textpath":
            inline.text(attribute(element, "string") or "")
        elif name == "a:t":
            inline.text(f" {element.text or ''}")
        else:
            pending.extend(reversed(element))


def _preferred(alternatives: etree._Element) -> list[etree._Element]:
    """The children of the first choice, or of the fallback when there is no choice."""
    for name in ("mc:Choice", "mc:Fallback"):
        found = child(alternatives, name)
        if found is not None and len(found):
            return list(found)
    return []


def _add_box(content: etree._Element, state: State) -> None:
    """The paragraphs and tables of a text box; it is on the page of the paragraph that holds it."""
    floats, paging, fields, carry = state.floats, state.paging, state.fields.stack, state.carry
    state.floats, state.paging, state.fields.stack, state.carry = [], False, [], None
    blocks = state.read_blocks(content, state)
    state.floats, state.paging, state.fields.stack, state.carry = floats, paging, fields, carry
    floats.extend(blocks)


def _add_picture(drawing: etree._Element, picture: etree._Element, inline: Inline, state: State) -> bool:
    """An image by its alternative text, if it has one; an image elsewhere is never fetched."""
    state.count("images")
    text = _alternative(drawing, picture)
    if not text:
        return False
    identifier = attribute(picture, "embed") or attribute(picture, "link") or attribute(picture, "id")
    found = state.relationships.get(identifier or "")
    target = posixpath.basename(found.target.replace("\\", "/")) if found else ""
    inline.markdown(image(text, target))
    return True


def _alternative(drawing: etree._Element, picture: etree._Element) -> str:
    for element in drawing.iter():
        name = SHORT[element.tag]
        if name in _PROPERTIES:
            text = element.get("descr") or element.get("title")
        elif name in {"v:shape", "v:rect"}:
            text = element.get("alt")
        else:
            continue
        if text and text.strip():
            return text
    return (attribute(picture, "title") or "") if SHORT[picture.tag] == "v:imagedata" else ""


_PARTS = {"c:chart": ("id", chart_blocks), "dgm:relIds": ("dm", diagram_blocks)}


def _add_part(element: etree._Element, name: str, state: State) -> None:
    """The data of a chart or diagram, which are in a part of their own."""
    key, read = _PARTS[name]
    found = state.relationships.get(attribute(element, key) or "")
    root = state.package.optional_xml(found.target) if found and not found.external else None
    if root is not None:
        state.floats.extend(read(root))
        state.count("charts" if name == "c:chart" else "diagrams")
