"""One call from HTML text to blocks and facts."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser

from chunk_assets.converters.blocks import Block, Inline
from chunk_assets.converters.webpage.main_content import content_root, navigation
from chunk_assets.converters.webpage.parse import head_facts, parse_html, wrapper_facts
from chunk_assets.converters.webpage.style import BLOCKS
from chunk_assets.converters.webpage.walker import Walker

_TOO_DEEP = "nested deeper than a tree may be; its text was taken without tables and lists"


@dataclass(frozen=True, slots=True)
class WebPage:
    """What was read of a page."""

    blocks: list[Block]
    facts: dict[str, str]
    warnings: tuple[str, ...] = ()


def page_blocks(text: str, *, keep: str = "main") -> WebPage:
    """The blocks of a page: all that is visible, for ``keep="main"`` without navigation.

    Raises:
        DocumentFailure: ``empty``, when there is no element in it.
    """
    root, whole = parse_html(text)
    facts = {**wrapper_facts(text), **head_facts(root)}
    if not whole:
        return WebPage(_flat(text), facts, (_TOO_DEEP,))
    body = root.find("body")
    body = root if body is None else body
    if keep == "all":
        return WebPage(Walker().read(body), facts)
    left_out = navigation(body)
    blocks = Walker(left_out).read(content_root(body, left_out))
    if not any(block.text.strip() for block in blocks):
        # A page of links only: then the links are its content.
        blocks = Walker().read(body)
    return WebPage(blocks, facts)


class _Flattener(HTMLParser):
    """Text by blocks, without a tree."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._inline = Inline()
        self._skipping = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "template", "noscript"}:
            self._skipping = tag
        elif tag in BLOCKS or tag == "br":
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        if tag == self._skipping:
            self._skipping = ""
        elif tag in BLOCKS:
            self.flush()

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._inline.text(" ".join(data.split()) if data.strip() else " ")

    def flush(self) -> None:
        if self._inline.has_text():
            self.blocks.append(Block(self._inline.block()))
        self._inline = Inline()


def _flat(text: str) -> list[Block]:
    reader = _Flattener()
    reader.feed(text)
    reader.close()
    reader.flush()
    return reader.blocks
