"""From HTML text to a tree: declared charset, parsing without network, facts of the head."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chunk_assets.converters.encoding import decode
from chunk_assets.converters.markup import clean_text
from chunk_assets.errors import DocumentFailure

if TYPE_CHECKING:
    from lxml import etree

_DECLARED = re.compile(
    rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE
)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
# The lines that an archive of filings puts before each document.
_WRAPPER = re.compile(
    r"\A\s*<DOCUMENT>\s*((?:<(?:TYPE|SEQUENCE|FILENAME|DESCRIPTION)>[^\n<]*\n\s*)*)<TEXT>\s*(?:<XBRL>)?"
)
_WRAPPER_FACT = re.compile(r"<(TYPE|FILENAME|DESCRIPTION)>([^\n<]*)")
_META_FACTS = {
    "author": "author",
    "dc.creator": "author",
    "article:author": "author",
    "description": "description",
    "og:description": "description",
    "keywords": "keywords",
    "date": "created",
    "dc.date": "created",
    "article:published_time": "created",
    "article:modified_time": "modified",
    "last-modified": "modified",
    "og:site_name": "publisher",
    "generator": "application",
}
_FACT_CHARS = 2_000


def decode_html(data: bytes) -> tuple[str, str]:
    """Text of an HTML file and its encoding, the charset of its meta tag or XML declaration heeded."""
    match = _DECLARED.search(data[:4096])
    label = (match[1] or match[2]).decode("ascii", "replace") if match else None
    return decode(data, label)


def parse_html(text: str) -> tuple[etree._Element, bool]:
    """The tree of ``text``, and whether it is whole (else it is nested too deeply for a tree).

    Raises:
        DocumentFailure: ``empty``, when there is no element in it.
    """
    from lxml import etree

    # Custom entities can't be declared in HTML, so the limits that guard against them are not needed;
    # without this flag the parser gives up at 256 levels.
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, no_network=True
    )
    source = _XML_DECLARATION.sub("", _WRAPPER.sub("", text.replace("\x00", ""), count=1), count=1)
    try:
        root = etree.fromstring(source.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        raise DocumentFailure("empty", "no element and no text in the HTML")
    return root, not any("depth" in entry.message for entry in parser.error_log)


def head_facts(root: etree._Element) -> dict[str, str]:
    """Title, language, author, dates and the like, as the head declares them."""
    facts: dict[str, str] = {}
    language = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang")
    _keep(facts, "language", language or "")
    for element in root.iter("title", "meta", "link"):
        if element.tag == "title":
            # Drawings have titles of their own.
            parent = element.getparent()
            if parent is not None and parent.tag in {"head", "html", "body"}:
                _keep(facts, "title", "".join(map(str, element.itertext())))
        elif element.tag == "meta":
            name = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
            _keep(facts, _META_FACTS.get(name, ""), element.get("content") or "")
        elif (element.get("rel") or "").lower() == "canonical":
            _keep(facts, "url", element.get("href") or "")
    return facts


def wrapper_facts(text: str) -> dict[str, str]:
    """Type, file name and description that an archive of filings wrote before the document."""
    match = _WRAPPER.match(text)
    facts: dict[str, str] = {}
    for name, value in _WRAPPER_FACT.findall(match[1]) if match else ():
        _keep(facts, f"filing_{name.lower()}", value)
    return facts


def _keep(facts: dict[str, str], name: str, text: str) -> None:
    cleaned = " ".join(clean_text(text).split())
    if name and cleaned:
        facts.setdefault(name, cleaned[:_FACT_CHARS])
