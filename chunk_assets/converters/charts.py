"""Data of charts and texts of diagrams in Office packages, as blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import Block, table_block
from chunk_assets.converters.markup import clean_text, escape_cell, escape_text
from chunk_assets.converters.ooxml import SHORT, attribute, child

if TYPE_CHECKING:
    from lxml import etree

_NUMBER = re.compile(r"-?\d+\.\d+(?:E[+-]?\d+)?")
_MAX_POINTS = 5_000
_TEXT_PARTS = {"a:t", "c:v"}


def chart_blocks(root: etree._Element) -> list[Block]:
    """A chart part's title, axis titles and cached data: one row for each category."""
    chart = child(root, "c:chart")
    if chart is None:
        return []
    blocks = []
    plot = child(chart, "c:plotArea")
    titles = [_title(chart), *(_title(axis) for axis in (() if plot is None else plot))]
    title = " – ".join(dict.fromkeys(filter(None, titles)))
    if title:
        blocks.append(Block(escape_text(title)))
    series = [] if plot is None else [e for kind in plot for e in kind if SHORT[e.tag] == "c:ser"]
    rows = _rows(series)
    return [*blocks, table_block(rows)] if rows else blocks


def _title(element: etree._Element) -> str:
    title = child(element, "c:title")
    if title is None:
        return ""
    texts = (e.text or "" for e in title.iter() if SHORT[e.tag] in _TEXT_PARTS)
    return " ".join(clean_text("".join(texts)).split())


def _rows(series: list[etree._Element]) -> list[list[str]]:
    names, columns, categories = [], [], dict[int, str]()
    for number, element in enumerate(series, 1):
        points = _points(_first(element, ("c:val", "c:yVal")))
        for index, label in _points(_first(element, ("c:cat", "c:xVal"))).items():
            categories.setdefault(index, label)
        if points:
            names.append(_points(child(element, "c:tx")).get(0, "") or _literal(element, number))
            columns.append(points)
    indexes = sorted({*categories, *(i for column in columns for i in column)})[:_MAX_POINTS]
    if not columns:
        return []
    head = ["", *map(escape_cell, names)]
    body = [
        [escape_cell(categories.get(i, "")), *(escape_cell(column.get(i, "")) for column in columns)]
        for i in indexes
    ]
    return [head, *body]


def _literal(element: etree._Element, number: int) -> str:
    name = child(child(element, "c:tx"), "c:v")
    return (name.text or "") if name is not None else f"Series {number}"


def _first(element: etree._Element, names: tuple[str, ...]) -> etree._Element | None:
    return next((found for name in names if (found := child(element, name)) is not None), None)


def _points(element: etree._Element | None) -> dict[int, str]:
    """Cached points by index; labels of several levels are joined, the outermost first."""
    found: dict[int, str] = {}
    for point in () if element is None else element.iter():
        if SHORT[point.tag] == "c:pt":
            index, value = attribute(point, "idx") or "", child(point, "c:v")
            if index.isdigit() and value is not None and value.text:
                text = _rounded(clean_text(value.text).strip())
                at = int(index)
                found[at] = f"{text} {found[at]}" if at in found else text
    return found


def _rounded(text: str) -> str:
    """Numbers with the 15 digits that Excel shows, without the dust of binary fractions."""
    if len(text) < 16 or not _NUMBER.fullmatch(text):
        return text
    return f"{float(text):.15g}"


def diagram_blocks(root: etree._Element) -> list[Block]:
    """The texts of a diagram's data part (SmartArt), one item for each shape, in the order of the data."""
    return [Block(f"- {escape_text(text)}", "item") for text in _diagram_texts(root)]


def _diagram_texts(root: etree._Element) -> Iterator[str]:
    for point in root.iter():
        if SHORT[point.tag] == "dgm:pt":
            body = child(point, "dgm:t")
            paragraphs = [] if body is None else [e for e in body if SHORT[e.tag] == "a:p"]
            lines = ("".join(t.text or "" for t in p.iter() if SHORT[t.tag] == "a:t") for p in paragraphs)
            text = " ".join(" ".join(map(clean_text, lines)).split())
            if text:
                yield text
