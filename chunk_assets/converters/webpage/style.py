"""What tags and inline styles say about blocks, pages and visibility."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
    "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "optgroup",
    "option", "p", "pre", "listing", "xmp", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
})  # fmt: skip
# Never text: programs, styles, drawings, embedded pages, and what a page has for machines only.
SKIPPED = frozenset({
    "script", "style", "head", "template", "noscript", "iframe", "object", "embed", "canvas", "audio",
    "video", "svg", "map", "area", "ix:header", "ix:hidden", "ix:references", "ix:resources", "xml",
    "datalist",
})  # fmt: skip
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_BREAK_BEFORE = re.compile(
    r"(?:page-)?break-before\s*:\s*(?:always|page|left|right|recto|verso)", re.IGNORECASE
)
_BREAK_AFTER = re.compile(
    r"(?:page-)?break-after\s*:\s*(?:always|page|left|right|recto|verso)", re.IGNORECASE
)
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|bolder|[6-9]00)|font\s*:[^;]*\bbold\b", re.IGNORECASE)
_INLINE = re.compile(r"display\s*:\s*inline", re.IGNORECASE)
_BLOCK = re.compile(r"display\s*:\s*(?:block|table|flex|grid|list-item)", re.IGNORECASE)


def is_hidden(element: etree._Element, style: str) -> bool:
    """Whether a reader of the rendered page does not see the element."""
    if "hidden" in element.attrib and element.get("hidden") != "until-found":
        return True
    if element.tag == "dialog" and "open" not in element.attrib:
        return True
    return bool(style) and _HIDDEN.search(style) is not None


def is_block(tag: str, style: str) -> bool:
    """Whether the element starts and ends a block."""
    if style and "display" in style:
        if tag in {"div", "p", "section"} and _INLINE.search(style):
            return False
        if _BLOCK.search(style):
            return True
    return tag in BLOCKS


def breaks_before(style: str) -> bool:
    """Whether a page starts before the element."""
    return "break-before" in style and _BREAK_BEFORE.search(style) is not None


def breaks_after(style: str) -> bool:
    """Whether a page starts after the element."""
    return "break-after" in style and _BREAK_AFTER.search(style) is not None


def is_bold(tag: str, style: str) -> bool:
    """Whether the element makes its text bold."""
    return tag in {"b", "strong", "th"} or ("font" in style and _BOLD.search(style) is not None)
