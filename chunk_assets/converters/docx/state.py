"""What is known and counted while one Word document is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunk_assets.converters.numerals import roman
from chunk_assets.converters.ooxml import toggled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lxml import etree

    from chunk_assets.converters.blocks import Block, Inline
    from chunk_assets.converters.docx.fields import Fields
    from chunk_assets.converters.docx.numbering import Numbering
    from chunk_assets.converters.docx.styles import Styles
    from chunk_assets.converters.ooxml import Package, Relationship


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote or endnote, with the relationships of its part."""

    element: etree._Element
    relationships: Mapping[str, Relationship]


@dataclass(slots=True)
class State:
    """The readers' common state; ``floats`` are blocks that belong after the paragraph being read."""

    package: Package
    styles: Styles
    numbering: Numbering
    fields: Fields
    relationships: Mapping[str, Relationship]
    notes: Mapping[tuple[str, str], Note]
    read_blocks: Callable[[etree._Element, State], list[Block]]
    read_package: Callable[[bytes], list[Block] | None]
    floats: list[Block] = field(default_factory=list)
    pending_notes: list[tuple[str, str]] = field(default_factory=list)
    labels: dict[tuple[str, str], str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    carry: Inline | None = None
    in_code: bool = False
    in_cell: bool = False
    fonts: set[bool] = field(default_factory=set)  # whether the paragraph's runs are in monospaced fonts
    paging: bool = True
    explicit_break: Inline | None = None
    break_mark: tuple[int, int] = (0, 0)
    held_notes: list[Block] = field(default_factory=list)
    depth: int = 0
    fault: str = ""
    find_sections: Callable[[], Sequence[str]] = tuple
    sections: Sequence[str] | None = None
    section: int = 0
    new_page: bool = False

    def count(self, what: str) -> None:
        """One more of ``what``, for the document's facts."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def warn(self, message: str) -> None:
        """Keeps a warning once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def link_target(self, identifier: str | None, anchor: str | None) -> str:
        """The address of a hyperlink, empty for places in the document itself."""
        found = self.relationships.get(identifier or "")
        if found is None or not found.external:
            return ""
        return f"{found.target}#{anchor}" if anchor and "#" not in found.target else found.target

    def note_label(self, kind: str, identifier: str) -> str:
        """The label of a note at its reference, empty when there is no such note."""
        key = (kind, identifier)
        if key not in self.notes:
            self.warn(f"a {kind} reference without its note")
            return ""
        if key not in self.labels:
            number = 1 + sum(1 for other in self.labels if other[0] == kind)
            self.labels[key] = str(number) if kind == "footnote" else roman(number)
            self.pending_notes.append(key)
        return self.labels[key]

    def start_paragraph(self, properties: Mapping[str, etree._Element], inline: Inline) -> None:
        """Page breaks that a paragraph's properties ask for."""
        if self.new_page or toggled(properties.get("w:pageBreakBefore")):
            self.new_page = False
            self.page_break(inline)
        if self.paging and "w:sectPr" in properties:
            if self.sections is None:
                self.sections = self.find_sections()
            self.section += 1
            kind = self.sections[self.section] if self.section < len(self.sections) else "continuous"
            self.new_page = kind != "continuous"

    def end_paragraph(self, inline: Inline) -> None:
        """Forgets an author's break once there is text after it."""
        if self.explicit_break is None:
            return
        if self.explicit_break is inline:
            if inline.mark() != self.break_mark:
                self.explicit_break = None
        elif inline.has_text():
            self.explicit_break = None

    def page_break(self, inline: Inline) -> None:
        """A page break that the author set."""
        if self.paging:
            inline.page()
            self.explicit_break = inline
            self.break_mark = inline.mark()

    def rendered_break(self, inline: Inline) -> None:
        """A page break where Word last laid out the page; an author's break just before it is the same."""
        if not self.paging:
            return
        same = self.explicit_break is not None and (
            inline.mark() == self.break_mark if self.explicit_break is inline else not inline.has_text()
        )
        self.explicit_break = None
        if not same:
            inline.page()
