"""What of a page is its content: without navigation, but never without text that may be content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

_CHROME_TAGS = {"header", "footer", "aside"}
_CHROME_ROLES = {"banner", "contentinfo", "complementary", "menubar", "toolbar", "tablist"}
_CHROME_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|breadcrumbs?|sidebar|skip-?link|pagination|pager|toc"
    r"|share-(?:buttons?|links?|bar|tools?)|social-(?:links?|media|share|icons?)"
    r"|cookie-(?:banner|consent|notice))(?:$|[\s_-])",
    re.IGNORECASE,
)
_CANDIDATES = {"div", "ul", "ol", "section", "table", "p", "span", *_CHROME_TAGS}
# Above this share of its text in links an element is a list of ways elsewhere.
_LINK_SHARE = 0.6
_MAIN_SHARE = 0.5


def navigation(root: etree._Element) -> set[etree._Element]:
    """Elements to leave out: ``nav``, and page furniture whose text is mostly links."""
    found = set()
    for element in root.iter():
        if isinstance(element.tag, str) and _is_navigation(element):
            found.add(element)
    return found


def _is_navigation(element: etree._Element) -> bool:
    role = (element.get("role") or "").lower()
    if element.tag == "nav" or role in {"navigation", "search"}:
        return True
    if element.tag not in _CANDIDATES:
        return False
    named = f"{element.get('class') or ''} {element.get('id') or ''}"
    if element.find(".//h1") is not None:
        return False
    chrome = element.tag in _CHROME_TAGS or role in _CHROME_ROLES or _CHROME_NAMES.search(named)
    return bool(chrome) and _link_share(element) >= _LINK_SHARE


def _link_share(element: etree._Element) -> float:
    total = _length(element)
    linked = sum(_length(link) for link in element.iter("a", "button"))
    return linked / total if total else 0.0


def _length(element: etree._Element) -> int:
    return sum(len(text.strip()) for text in element.itertext())


def content_root(body: etree._Element, left_out: set[etree._Element]) -> etree._Element:
    """The ``main`` element where most of the text and the page's title are in it, else all of ``body``."""
    mains = [e for e in body.iter("main") if e.get("hidden") is None]
    mains = mains or [e for e in body.iter() if isinstance(e.tag, str) and e.get("role") == "main"]
    if len(mains) != 1 or (mains[0].find(".//h1") is None and body.find(".//h1") is not None):
        return body
    rest = _length(body) - sum(_length(e) for e in _outermost(body, left_out))
    return mains[0] if _length(mains[0]) >= _MAIN_SHARE * max(rest, 1) else body


def _outermost(body: etree._Element, elements: set[etree._Element]) -> list[etree._Element]:
    return [e for e in body.iter() if e in elements and not any(a in elements for a in e.iterancestors())]
