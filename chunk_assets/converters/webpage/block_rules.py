"""What the tags of blocks do to the walker: lists, headings, quotes, preformatted text, tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import Inline
from chunk_assets.converters.numerals import numeral
from chunk_assets.converters.textual import plain_markdown
from chunk_assets.converters.webpage.sinks import ListItem, OpenList, Sink
from chunk_assets.converters.webpage.style import HEADINGS
from chunk_assets.converters.webpage.tables import Cell, TableBuilder

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.webpage.walker import Walker

Ends = list[Callable[[], None]]
_LIST_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_CODE_CLASS = re.compile(r"(?:language|lang|highlight|brush|prettyprint|code|source)", re.IGNORECASE)
_LONGEST_UNMARKED_CODE = 3_000


# -- lists ---------------------------------------------------------------------------------------


def _list(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    ordered = element.tag == "ol"
    start, step = _integer(element.get("start"), 1), 1
    if ordered and "reversed" in element.attrib:
        step = -1
        if element.get("start") is None:
            start = sum(1 for item in element if item.tag == "li")
    form = _LIST_FORMS.get(element.get("type") or "", "decimal")
    sink = walker.sink
    sink.lists.append(OpenList(ordered, form, start, step))

    def close() -> None:
        walker.flush()
        if sink.lists:
            sink.lists.pop()

    ends.append(close)
    return True


def _item(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    sink = walker.sink
    marker = _marker(sink.lists[-1], element) if sink.lists else "-"
    outer = sink.items[-1] if sink.items else None
    indent = 0 if outer is None else outer.indent + outer.width
    known = marker == "-" or marker[:-1].isdigit()
    sink.items.append(ListItem(marker, indent, len(marker) + 1 if known else 0))

    def close() -> None:
        walker.flush()
        if sink.items:
            sink.items.pop()

    ends.append(close)
    return True


def _marker(current: OpenList, element: etree._Element) -> str:
    """``-``, or the item's number in the form of its list."""
    if not current.ordered:
        return "-"
    number = _integer(element.get("value"), current.next)
    current.next = number + current.step
    form = _LIST_FORMS.get(element.get("type") or "", current.form)
    return f"{number if form == 'decimal' else numeral(number, form)}."


def _integer(text: str | None, default: int) -> int:
    try:
        return int(text) if text and len(text) < 9 else default
    except ValueError:
        return default


# -- headings, quotes, preformatted text ---------------------------------------------------------


def _heading(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    outer, walker.heading = walker.heading, HEADINGS[str(element.tag)]

    def close() -> None:
        walker.flush()
        walker.heading = outer

    ends.append(close)
    return True


def _quote(walker: Walker, _: etree._Element, ends: Ends) -> bool:
    sink = walker.sink
    sink.quotes += 1

    def close() -> None:
        walker.flush()
        sink.quotes -= 1

    ends.append(close)
    return True


def _pre(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    walker.pre += 1
    is_code = _is_code(element)

    def close() -> None:
        if is_code:
            walker.flush("code")
        else:
            _end_text(walker.sink)
        walker.pre -= 1

    ends.append(close)
    return True


def _is_code(element: etree._Element) -> bool:
    """Whether preformatted text is code: it says so, or is too short to be a page of text."""
    if element.find(".//code") is not None or _CODE_CLASS.search(element.get("class") or ""):
        return True
    text = "".join(map(str, element.itertext()))
    return len(text) < _LONGEST_UNMARKED_CODE and "\n\n" not in text.strip()


def _end_text(sink: Sink) -> None:
    """Ends preformatted text that is no code: paragraphs as in a text file."""
    text, sink.inline = sink.inline.verbatim(), Inline()
    if text.strip():
        sink.blocks.append(sink.in_item(plain_markdown(text), "paragraph"))


# -- tables --------------------------------------------------------------------------------------


def _table(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    builder = TableBuilder(element.get("role") or "")
    walker.tables.append(builder)
    depth = len(walker.sinks)

    def close() -> None:
        while len(walker.sinks) > depth:
            walker.close_sink()
        walker.flush()
        walker.tables.remove(builder)
        sink = walker.sink
        for block in builder.blocks():
            sink.blocks.append(sink.in_item(block.text, block.kind) if block.kind != "table" else block)

    ends.append(close)
    return True


def _row(walker: Walker, element: etree._Element, _: Ends) -> bool:
    if walker.tables:
        parent = element.getparent()
        walker.tables[-1].add_row(header=parent is not None and parent.tag == "thead")
    return True


def _cell(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    if walker.tables:
        columns, rows = _integer(element.get("colspan"), 1), _integer(element.get("rowspan"), 1)
        _open(walker, walker.tables[-1].add_cell(columns, rows, header=element.tag == "th"), ends)
    return True


def _caption(walker: Walker, _: etree._Element, ends: Ends) -> bool:
    if walker.tables:
        _open(walker, walker.tables[-1].add_caption(), ends)
    return True


def _open(walker: Walker, cell: Cell, ends: Ends) -> None:
    walker.sinks.append(Sink(cell=cell))

    def close() -> None:
        while any(sink.cell is cell for sink in walker.sinks):
            walker.close_sink()

    ends.append(close)


BLOCK_RULES: dict[str, Callable[[Walker, etree._Element, Ends], bool]] = {
    **dict.fromkeys(("ul", "ol", "menu", "dir"), _list),
    **dict.fromkeys(("pre", "listing", "xmp"), _pre),
    **dict.fromkeys(HEADINGS, _heading),
    **dict.fromkeys(("td", "th"), _cell),
    "li": _item,
    "blockquote": _quote,
    "table": _table,
    "tr": _row,
    "caption": _caption,
}
