"""Word documents (.docx, .docm, .dotx; transitional and strict): an own walk over the XML by short names.

Emphasis is not written: it carries no structure, and its marks split words for search and embedders.
Macros are never looked at, linked files never fetched, comments counted but left out.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from chunk_assets.converters.archive import parse_xml
from chunk_assets.converters.base import Converter, Options
from chunk_assets.converters.blocks import Block, render
from chunk_assets.converters.docx.body import read_blocks, rest_of_notes
from chunk_assets.converters.docx.fields import Fields
from chunk_assets.converters.docx.flat import flat_blocks
from chunk_assets.converters.docx.numbering import Numbering
from chunk_assets.converters.docx.pruning import pruned
from chunk_assets.converters.docx.state import Note, State
from chunk_assets.converters.docx.styles import Styles
from chunk_assets.converters.ooxml import (
    CLARK,
    SHORT,
    Package,
    Relationship,
    attribute,
    child,
    transitional,
    value,
)
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import OK, Converted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lxml import etree

    from chunk_assets.converters.base import Limits

_NOTE_KINDS = {"footnotes": "w:footnote", "endnotes": "w:endnote"}
_RUNNING = {"header": "header", "footer": "footer"}
# More characters than a page of small print in two columns holds.
_FULLEST_PAGE = 10_000
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_FACT_CHARS = 2_000
# Documents within documents are read no deeper than this.
_DEEPEST = 3
_TOO_DEEP = "nested deeper than a document tree may be; its text was taken without tables and lists"


def convert(data: bytes, options: Options) -> Converted:
    """Markdown of a Word document; see the module for what is taken.

    Raises:
        DocumentFailure: ``encrypted``, ``broken``, ``unsafe`` or ``empty``.
    """
    package = Package(data, options.limits)
    name = package.main_part("word/document.xml")
    relationships = package.relationships(name)
    state = _state(package, relationships, partial(_embedded, limits=options.limits, depth=1))
    blocks = _read(package, name, state)
    facts = {**package.facts(), **_running(package, relationships, state)}
    facts |= {what: str(count) for what, count in sorted(state.counts.items())}
    markdown, pages = render(blocks)
    if not markdown:
        raise _no_text(state, facts)
    if any(page.end - page.start > _FULLEST_PAGE for page in pages):
        # Breaks that only the author set don't say where the pages between them end.
        pages = ()
    status = "partial" if state.fault else OK
    return Converted(markdown, pages, facts, tuple(state.warnings), status, state.fault)


def _no_text(state: State, facts: Mapping[str, str]) -> DocumentFailure:
    if images := state.counts.get("images"):
        return DocumentFailure("needs_ocr", f"no text, but {images} pictures without alternative text")
    if "header" in facts or "footer" in facts:
        return DocumentFailure("empty", "no text in the body; only headers and footers")
    return DocumentFailure("empty", "no text in the document")


def _embedded(data: bytes, limits: Limits, depth: int) -> list[Block] | None:
    """The blocks of a document that is a part of another one; None when it can't be read."""
    if depth > _DEEPEST:
        return None
    try:
        package = Package(data, limits)
        name = package.main_part("word/document.xml")
        inner = partial(_embedded, limits=limits, depth=depth + 1)
        state = _state(package, package.relationships(name), inner)
        state.paging = False
        return _read(package, name, state)
    except DocumentFailure as failure:
        if failure.status == "unsafe":
            raise
        return None


def _state(
    package: Package,
    relationships: Mapping[str, Relationship],
    read_package: Callable[[bytes], list[Block] | None],
) -> State:
    parts = {r.kind: r.target for r in relationships.values() if not r.external}
    styles = Styles(package.optional_xml(parts.get("styles", "word/styles.xml")))
    numbering = Numbering(package.optional_xml(parts.get("numbering", "word/numbering.xml")), styles)
    notes: dict[tuple[str, str], Note] = {}
    for kind, element_name in _NOTE_KINDS.items():
        part = parts.get(kind, f"word/{kind}.xml")
        root = package.optional_xml(part)
        if root is None:
            continue
        links = package.relationships(part)
        for element in root:
            if SHORT[element.tag] == element_name:
                notes[kind[:-1], attribute(element, "id") or ""] = Note(element, links)
    return State(package, styles, numbering, Fields(), relationships, notes, read_blocks, read_package)


def _read(package: Package, name: str, state: State) -> list[Block]:
    """The blocks of the main part; its bare text when it is nested too deeply for a tree."""
    try:
        return _blocks_of(_body(_main_part(package, name)), state)
    except DocumentFailure as failure:
        if failure.status != "broken":
            raise
        if "depth" not in failure.reason:
            return _salvaged(package, name, state, failure)
    except RecursionError:
        pass
    state.warn(_TOO_DEEP)
    return flat_blocks(package.read(name) or b"")


def _main_part(package: Package, name: str) -> etree._Element | None:
    data = package.read(name)
    return parse_xml(pruned(transitional(data)), what=name) if data and data.strip() else None


def _blocks_of(body: etree._Element, state: State) -> list[Block]:
    state.find_sections = partial(_section_kinds, body)
    return [*read_blocks(body, state), *rest_of_notes(state)]


def _salvaged(package: Package, name: str, state: State, failure: DocumentFailure) -> list[Block]:
    """What can be read of a main part that is not well formed; the failure itself when that is nothing."""
    data = package.read(name)
    if not data:
        raise failure
    try:
        blocks = _blocks_of(_body(parse_xml(transitional(data), what=name, recover=True)), state)
    except DocumentFailure:
        raise failure from None
    if not blocks:
        raise failure
    state.fault = f"{failure.reason}; what could be read is kept"
    return blocks


def _body(root: etree._Element | None) -> etree._Element:
    body = root if root is None else child(root, "w:body")
    if body is None:
        raise DocumentFailure("broken", "the main part is no Word document: it has no body")
    return body


def _section_kinds(body: etree._Element) -> list[str]:
    """How each section starts, in order."""
    return [value(element, "w:type") or "nextPage" for element in body.iter(CLARK["w:sectPr"])]


def _running(package: Package, relationships: Mapping[str, Relationship], state: State) -> dict[str, str]:
    """Texts of headers and footers, each once, in the order of their part names."""
    found: dict[str, dict[str, None]] = {}
    counts, labels = dict(state.counts), dict(state.labels)
    state.paging = False
    parts = sorted((r.target, r.kind) for r in relationships.values() if r.kind in _RUNNING)
    for part, kind in parts:
        if sum(map(len, found.get(kind, {}))) > _FACT_CHARS:
            continue
        root = package.optional_xml(part)
        if root is None:
            continue
        state.relationships, state.fields.stack, state.floats = package.relationships(part), [], []
        lines = (" ".join(_ESCAPE.sub(r"\1", b.text).split()) for b in read_blocks(root, state))
        text = " ".join(filter(None, lines))
        if text:
            found.setdefault(kind, {})[text] = None
    state.counts, state.labels = counts, labels
    return {kind: " | ".join(texts)[:_FACT_CHARS] for kind, texts in found.items()}


DOCX = Converter(
    "docx",
    version=1,
    media_types=(
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
    ),
    convert=convert,
)
