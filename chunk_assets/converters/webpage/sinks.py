"""Where the text of a page goes while it is read: blocks, open lists, the paragraph being collected."""

from __future__ import annotations

from dataclasses import dataclass, field

from chunk_assets.converters.blocks import PAGE, Block, Inline
from chunk_assets.converters.markup import fence
from chunk_assets.converters.webpage.tables import Cell


@dataclass(slots=True)
class ListItem:
    """An open list item: its marker, until it is written, and the column where its text starts."""

    marker: str
    indent: int
    width: int
    written: bool = False


@dataclass(slots=True)
class OpenList:
    """An open list: ordered with a number form and a counter, or not."""

    ordered: bool
    form: str = "decimal"
    next: int = 1
    step: int = 1


@dataclass(slots=True)
class Sink:
    """Where text goes: the page, or one table cell. Bold characters are counted for headings."""

    blocks: list[Block] = field(default_factory=list)
    inline: Inline = field(default_factory=Inline)
    lists: list[OpenList] = field(default_factory=list)
    items: list[ListItem] = field(default_factory=list)
    quotes: int = 0
    bold: int = 0
    plain: int = 0
    cell: Cell | None = None

    def in_item(self, text: str, kind: str) -> Block:
        """The block as the next one of the list item that it is in, if any."""
        if not self.items:
            return Block(text, kind)
        item = self.items[-1]
        if kind == "code":
            text, kind = fence(text), "paragraph"
        inner = text.replace("\n", "\n" + " " * (item.indent + item.width))
        first, item.written = not item.written, True
        if not first:
            return led(inner, " " * (item.indent + item.width), kind)
        known = kind if kind == "quote" or not item.width else "item"
        return led(inner, f"{' ' * item.indent}{item.marker} ", known)


def led(text: str, prefix: str, kind: str) -> Block:
    """A block with ``prefix`` before its text, page marks before both."""
    body = text.lstrip(PAGE)
    return Block(text[: len(text) - len(body)] + prefix + body, kind)
