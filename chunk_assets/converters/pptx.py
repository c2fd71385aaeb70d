"""Presentations (.pptx, .ppsx, .pptm): each slide a page, its title a heading, then its shapes in order.

Text boxes, tables, charts' data, diagrams, pictures by alternative text and speaker notes are read;
slide numbers and dates of the master are not, footers become facts.
"""

from __future__ import annotations

from chunk_assets.converters.base import Converter, Options
from chunk_assets.converters.blocks import PAGE, Block, render
from chunk_assets.converters.ooxml import SHORT, Package, Relationship, attribute
from chunk_assets.converters.slides.shapes import Slide, slide_blocks
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import OK, Converted


def convert(data: bytes, options: Options) -> Converted:
    """Markdown of a presentation with one page for each slide that has text.

    Raises:
        DocumentFailure: ``encrypted``, ``broken``, ``unsafe``, ``too_large``, ``needs_ocr`` or ``empty``.
    """
    package = Package(data, options.limits)
    names = _slide_parts(package)
    if len(names) > options.limits.max_pages:
        raise DocumentFailure("too_large", f"{len(names)} slides; the limit is {options.limits.max_pages}")
    counts: dict[str, int] = {}
    warnings: list[str] = []
    blocks: list[Block] = []
    footers: dict[str, None] = {}
    faults: list[str] = []
    for number, name in enumerate(names, 1):
        slide = Slide(package, name, package.relationships(name), counts)
        blocks.append(Block(PAGE))
        blocks += slide_blocks(slide)
        blocks += _notes(slide)
        footers |= dict.fromkeys(slide.footers)
        if not slide.readable:
            faults.append(f"slide {number} can't be read")
        if slide.hidden:
            counts["hidden_slides"] = counts.get("hidden_slides", 0) + 1
            warnings.append(f"slide {number} is hidden in the show; its text is included")
    markdown, pages = render(blocks, first_page=0)
    if not markdown:
        raise DocumentFailure("broken", "; ".join(faults)) if faults else _no_text(len(names), counts)
    facts = {**package.facts(), "slides": str(len(names)), **_comments(package)}
    facts |= {name: str(count) for name, count in sorted(counts.items())}
    if footers:
        facts["footer"] = " | ".join(footers)
    status = "partial" if faults else OK
    return Converted(markdown, pages, facts, tuple(warnings), status, "; ".join(faults))


def _no_text(slides: int, counts: dict[str, int]) -> DocumentFailure:
    if counts.get("images"):
        return DocumentFailure("needs_ocr", f"no text on {slides} slides, but {counts['images']} pictures")
    return DocumentFailure("empty", f"no text on {slides} slides")


def _slide_parts(package: Package) -> list[str]:
    """Names of the slide parts in the order of the show."""
    name = package.main_part("ppt/presentation.xml")
    root = package.xml(name)
    if root is None or SHORT[root.tag] != "p:presentation":
        raise DocumentFailure("broken", f"the main part {name!r} is no presentation")
    relationships = package.relationships(name)
    found = []
    for element in root.iter("{*}sldId"):
        target = relationships.get(_relationship_id(element) or "")
        if target is not None and package.has(target.target):
            found.append(target.target)
    return found or _orphans(package, relationships)


def _relationship_id(element: object) -> str | None:
    """The id in the relationships' namespace; the plain ``id`` beside it is the slide's own number."""
    attributes: dict[str, str] = getattr(element, "attrib", {})
    return next((str(value) for name, value in attributes.items() if str(name).endswith("}id")), None)


def _orphans(package: Package, relationships: dict[str, Relationship]) -> list[str]:
    """Slides that no list names, in the order of their part names: a damaged list must not lose them."""
    linked = [r.target for r in relationships.values() if r.kind == "slide" and package.has(r.target)]
    return sorted(set(linked), key=lambda name: (len(name), name))


def _notes(slide: Slide) -> list[Block]:
    """Speaker notes under a heading of their own."""
    for relationship in slide.relationships.values():
        if relationship.kind == "notesSlide" and not relationship.external:
            name = relationship.target
            notes = Slide(slide.package, name, slide.package.relationships(name), {}, is_notes=True)
            blocks = slide_blocks(notes)
            if blocks:
                return [Block("### Notes", "heading"), *blocks]
    return []


def _comments(package: Package) -> dict[str, str]:
    """How many comments there are; their text is left out."""
    count = 0
    for name in package.names():
        if "/comments/" in name.lower() and name.lower().endswith(".xml"):
            root = package.optional_xml(name)
            count += 0 if root is None else sum(1 for e in root if attribute(e, "authorId"))
    return {"comments": str(count)} if count else {}


PPTX = Converter(
    "pptx",
    version=1,
    media_types=("application/vnd.openxmlformats-officedocument.presentationml.presentation",),
    convert=convert,
)
