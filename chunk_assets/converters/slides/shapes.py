"""The shapes of one slide as blocks: title first, the others in the order of the slide."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import Block
from chunk_assets.converters.cells import cell_text, grid_blocks, repeated
from chunk_assets.converters.charts import chart_blocks, diagram_blocks
from chunk_assets.converters.markup import image
from chunk_assets.converters.ooxml import SHORT, Package, Relationship, attribute, child
from chunk_assets.converters.slides.text import body_blocks, plain_line

if TYPE_CHECKING:
    from lxml import etree

_TITLES = {"title": 2, "ctrTitle": 1}
_FURNITURE = {"sldNum", "dt", "hdr", "sldImg"}
# Placeholders whose paragraphs have bullets unless they say otherwise.
_BULLETED = {"body", "obj", "", "half", "quarter"}
_MAX_SPAN = 1024


@dataclass(slots=True)
class Slide:
    """One slide (or notes page) being read."""

    package: Package
    name: str
    relationships: Mapping[str, Relationship]
    counts: dict[str, int]
    is_notes: bool = False
    hidden: bool = False
    readable: bool = True
    footers: list[str] = field(default_factory=list)

    def count(self, what: str) -> None:
        """One more of ``what``, for the document's facts."""
        self.counts[what] = self.counts.get(what, 0) + 1


def slide_blocks(slide: Slide) -> list[Block]:
    """The blocks of a slide; an unreadable slide part has none."""
    root = slide.package.optional_xml(slide.name)
    slide.readable = root is not None
    tree = child(child(root, "p:cSld"), "p:spTree")
    if root is None or tree is None:
        return []
    slide.hidden = root.get("show") in {"0", "false"}
    titles: list[Block] = []
    others: list[Block] = []
    for shape in _shapes(tree):
        for block in _shape_blocks(shape, slide):
            (titles if block.kind == "heading" else others).append(block)
    return [*titles, *others]


def _shapes(tree: etree._Element) -> Iterator[etree._Element]:
    """Shapes, tables and pictures, those inside groups in place of the group; no recursion."""
    pending = list(reversed(tree))
    while pending:
        element = pending.pop()
        name = SHORT[element.tag]
        if name in {"p:sp", "p:graphicFrame", "p:pic", "p:cxnSp"}:
            yield element
        elif name == "p:grpSp":
            pending.extend(reversed(element))
        elif name == "mc:AlternateContent":
            chosen = _chosen(element)
            pending.extend(reversed(chosen if chosen is not None else []))


def _chosen(alternatives: etree._Element) -> etree._Element | None:
    """The choice with content, else the fallback."""
    for name in ("mc:Choice", "mc:Fallback"):
        found = child(alternatives, name)
        if found is not None and len(found):
            return found
    return None


def _shape_blocks(shape: etree._Element, slide: Slide) -> list[Block]:
    name = SHORT[shape.tag]
    if _is_hidden(shape):
        return []
    if name == "p:graphicFrame":
        return _frame_blocks(shape, slide)
    if name == "p:pic":
        return _picture_blocks(shape, slide)
    body = child(shape, "p:txBody")
    return [] if body is None else _text_blocks(shape, body, slide)


def _own_properties(shape: etree._Element) -> etree._Element | None:
    """The ``p:cNvPr`` of a shape of any kind."""
    for element in shape:
        found = child(element, "p:cNvPr")
        if found is not None:
            return found
    return None


def _is_hidden(shape: etree._Element) -> bool:
    properties = _own_properties(shape)
    return properties is not None and properties.get("hidden") in {"1", "true"}


def _placeholder(shape: etree._Element) -> str | None:
    """The placeholder type (``""`` for the default one), ``None`` for a free shape."""
    found = child(child(child(shape, "p:nvSpPr"), "p:nvPr"), "p:ph")
    return None if found is None else found.get("type") or ""


def _text_blocks(shape: etree._Element, body: etree._Element, slide: Slide) -> list[Block]:
    kind = _placeholder(shape)
    if kind in _FURNITURE:
        return []
    if kind == "ftr":
        slide.footers += filter(None, [plain_line(body, slide.relationships)])
        return []
    if slide.is_notes:
        return body_blocks(body, slide.relationships, bulleted=False) if kind == "body" else []
    if kind in _TITLES:
        title = plain_line(body, slide.relationships)
        return [Block(f"{'#' * _TITLES[kind]} {title}", "heading")] if title else []
    return body_blocks(body, slide.relationships, bulleted=kind in _BULLETED)


def _picture_blocks(shape: etree._Element, slide: Slide) -> list[Block]:
    slide.count("images")
    properties = _own_properties(shape)
    text = "" if properties is None else properties.get("descr") or ""
    blip = child(child(shape, "p:blipFill"), "a:blip")
    found = slide.relationships.get((attribute(blip, "embed") or "") if blip is not None else "")
    written = image(text, posixpath.basename(found.target) if found else "image")
    return [Block(written)] if written else []


def _frame_blocks(frame: etree._Element, slide: Slide) -> list[Block]:
    """A graphic frame: table, chart or diagram."""
    data = child(child(frame, "a:graphic"), "a:graphicData")
    for element in () if data is None else data:
        name = SHORT[element.tag]
        if name == "a:tbl":
            return grid_blocks(_grid(element, slide))
        if name == "c:chart":
            slide.count("charts")
            return _part_blocks(element, "id", slide)
        if name == "dgm:relIds":
            slide.count("diagrams")
            return _part_blocks(element, "dm", slide)
    return []


def _part_blocks(element: etree._Element, key: str, slide: Slide) -> list[Block]:
    found = slide.relationships.get(attribute(element, key) or "")
    root = slide.package.optional_xml(found.target) if found and not found.external else None
    if root is None:
        return []
    return chart_blocks(root) if key == "id" else diagram_blocks(root)


def _grid(table: etree._Element, slide: Slide) -> list[list[str]]:
    """Texts by row and column; values merged over rows stand in each row, once in a row."""
    above: dict[int, str] = {}
    grid = []
    for row in table:
        if SHORT[row.tag] != "a:tr":
            continue
        line: list[str] = []
        for cell in row:
            if SHORT[cell.tag] == "a:tc":
                line.append(_cell(cell, len(line), above, slide))
        grid.append(line)
    return grid


def _cell(cell: etree._Element, column: int, above: dict[int, str], slide: Slide) -> str:
    if cell.get("hMerge") in {"1", "true"}:
        return ""
    if cell.get("vMerge") in {"1", "true"}:
        return above.get(column, "")
    body = child(cell, "a:txBody")
    blocks = [] if body is None else body_blocks(body, slide.relationships, bulleted=False, in_cell=True)
    text = cell_text(blocks)
    above[column] = repeated(text) if (cell.get("rowSpan") or "1") != "1" else ""
    return text
