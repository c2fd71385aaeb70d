"""Parts of a Word document that are documents of their own (``w:altChunk``)."""

from __future__ import annotations

from email import message_from_bytes
from email.errors import MessageError
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import PAGE, Block
from chunk_assets.converters.encoding import decode
from chunk_assets.converters.ooxml import attribute
from chunk_assets.converters.textual import plain_markdown
from chunk_assets.converters.webpage.content import page_blocks
from chunk_assets.converters.webpage.parse import decode_html

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.docx.state import State

_PAGES = frozenset({"html", "htm", "xhtml"})
_ARCHIVES = frozenset({"mht", "mhtml"})
_PACKAGES = frozenset({"docx", "docm", "dotx", "dotm"})


def foreign_blocks(element: etree._Element, state: State) -> list[Block]:
    """The blocks of the part that ``w:altChunk`` refers to; what can't be read is named in a warning."""
    found = state.relationships.get(attribute(element, "id") or "")
    data = state.package.read(found.target) if found and not found.external else None
    name = found.target if found else "no target"
    blocks = _blocks(data, name.lower().rsplit(".", 1)[-1], state) if data else None
    if blocks is None:
        state.warn(f"an embedded part in another format was left out: {name}")
    return blocks or []


def _blocks(data: bytes, kind: str, state: State) -> list[Block] | None:
    if kind in _PACKAGES:
        return state.read_package(data)
    if kind in _ARCHIVES:
        page = _page_of(data)
        return None if page is None else _html_blocks(page)
    if kind in _PAGES:
        return _html_blocks(data)
    return [Block(plain_markdown(decode(data)[0]).replace(PAGE, ""))] if kind == "txt" else None


def _html_blocks(data: bytes) -> list[Block]:
    return page_blocks(decode_html(data)[0], keep="all").blocks


def _page_of(data: bytes) -> bytes | None:
    """The first page of a web archive (MHTML, RFC 2557), or None."""
    try:
        parts = message_from_bytes(data.lstrip()).walk()
        pages = [part for part in parts if part.get_content_type() == "text/html"]
        payload = pages[0].get_payload(decode=True) if pages else None
    except (MessageError, ValueError, RecursionError):
        return None
    return payload if isinstance(payload, bytes) else None
