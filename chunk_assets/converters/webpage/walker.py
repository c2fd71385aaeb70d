"""From an HTML tree to blocks, by events: no recursion, so depth costs nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import PAGE, Block, Inline
from chunk_assets.converters.webpage.block_rules import BLOCK_RULES
from chunk_assets.converters.webpage.headings import promoted
from chunk_assets.converters.webpage.inline_rules import INLINE_RULES
from chunk_assets.converters.webpage.sinks import Sink, led
from chunk_assets.converters.webpage.style import (
    SKIPPED,
    breaks_after,
    breaks_before,
    is_block,
    is_bold,
    is_hidden,
)

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.webpage.tables import TableBuilder

_BLANKS = re.compile(r"[ \t\n\r\f]+")


class Walker:
    """Reads one tree. ``left_out`` are elements that are skipped with all that is in them.

    Rules for single tags are functions in ``block_rules`` and ``inline_rules``: they get the walker,
    the element and the list of what is to be done at its end, and say whether its content is read.
    """

    def __init__(self, left_out: Collection[etree._Element] = ()) -> None:
        self._left_out = left_out
        self._ends: list[list[Callable[[], None]]] = []
        self._bold = 0
        self.sinks = [Sink()]
        self.tables: list[TableBuilder] = []
        self.pre = 0
        self.heading = 0
        self.in_link = False

    @property
    def sink(self) -> Sink:
        """Where text goes now."""
        return self.sinks[-1]

    @property
    def in_cell(self) -> bool:
        """Whether text goes to a table cell."""
        return len(self.sinks) > 1

    def read(self, root: etree._Element) -> list[Block]:
        """The blocks of ``root`` and all in it."""
        from lxml import etree

        events = etree.iterwalk(root, events=("start", "end"))
        for event, element in events:
            if event == "end":
                for end in reversed(self._ends.pop()):
                    end()
                if element is not root and element.tail:
                    self.text(str(element.tail))
            elif self._enter(element):
                if element.text:
                    self.text(str(element.text))
            else:
                events.skip_subtree()
        while self.in_cell:
            self.close_sink()
        self.flush()
        return self.sinks[0].blocks

    def _enter(self, element: etree._Element) -> bool:
        """Opens an element; whether its content is to be read. What closes it is kept for its end."""
        ends: list[Callable[[], None]] = []
        self._ends.append(ends)
        tag, style = str(element.tag), element.get("style") or ""
        if tag in SKIPPED or element in self._left_out or is_hidden(element, style):
            return False
        if style and breaks_before(style):
            self._page()
        if style and breaks_after(style):
            ends.append(self._page)
        if is_block(tag, style):
            self.flush()
            ends.append(self.flush)
        if is_bold(tag, style):
            self._bold += 1
            ends.append(self._unbold)
        rule = _RULES.get(tag)
        return True if rule is None else rule(self, element, ends)

    def _unbold(self) -> None:
        self._bold -= 1

    def text(self, text: str) -> None:
        """Adds text of the source; outside ``pre`` runs of blanks and line ends are one space."""
        sink = self.sink
        if self.pre:
            sink.inline.text(text)
            return
        text = _BLANKS.sub(" ", text)
        if text == " " and not sink.inline:
            return
        if self._bold:
            sink.bold += len(text.strip())
        else:
            sink.plain += len(text.strip())
        sink.inline.text(text)

    def _page(self) -> None:
        """A page starts here; inside a table it starts with the row."""
        self.flush()
        if self.in_cell or self.tables:
            self.sink.inline.page()
        else:
            self.sink.blocks.append(Block(PAGE))

    def flush(self, kind: str = "paragraph") -> None:
        """Ends the block being collected, if there is any."""
        sink = self.sink
        inline, all_bold = sink.inline, sink.bold > 0 and sink.plain == 0
        if not inline:
            return
        sink.inline, sink.bold, sink.plain = Inline(), 0, 0
        if inline.has_text():
            sink.blocks.append(self._block(inline, kind, all_bold=all_bold))
        elif (text := inline.verbatim()).count(PAGE):
            sink.blocks.append(Block(PAGE * text.count(PAGE)))

    def _block(self, inline: Inline, kind: str, *, all_bold: bool) -> Block:
        sink = self.sink
        if kind == "code":
            return sink.in_item(inline.verbatim(), "code")
        if self.in_cell:
            return sink.in_item(inline.block(starts=False), "paragraph")
        if self.heading:
            return led(inline.line(), f"{'#' * self.heading} ", "heading")
        if all_bold and not sink.items and not sink.quotes and (level := promoted(inline.line())):
            return led(inline.line(), f"{'#' * level} ", "heading")
        return sink.in_item(inline.block(), "quote" if sink.quotes else "paragraph")

    def close_sink(self) -> None:
        """Gives the blocks collected for a cell to the cell."""
        self.flush()
        sink = self.sinks.pop()
        if sink.cell is not None:
            sink.cell.blocks = sink.blocks


_RULES = {**BLOCK_RULES, **INLINE_RULES}
