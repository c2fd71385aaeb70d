"""Paragraphs, lists and tables of a Word document, in reading order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import PAGE, Block, Inline
from chunk_assets.converters.docx.foreign import foreign_blocks
from chunk_assets.converters.docx.runs import add_children
from chunk_assets.converters.docx.tables import table_blocks
from chunk_assets.converters.markup import escape_inline
from chunk_assets.converters.ooxml import SHORT, attribute, child, children, leading, tags, value

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.docx.numbering import Label
    from chunk_assets.converters.docx.state import State
    from chunk_assets.converters.docx.styles import ParagraphStyle

Properties = Mapping[str, "etree._Element"]
# An outline level set by hand on a paragraph this long is a slip, not a heading.
_LONGEST_HEADING = 400
_PROPERTIES = tags(
    "w:pStyle", "w:numPr", "w:outlineLvl", "w:framePr", "w:rPr", "w:sectPr", "w:pageBreakBefore",
)  # fmt: skip
_BOX_BULLETS = "☐☑☒✓✔✗✘"


@dataclass(slots=True)
class Lists:
    """The open list items, outermost first: level, and the column where their text starts."""

    open: list[tuple[int, int]] = field(default_factory=list)

    def indent(self, level: int, marker: str) -> str:
        """Opens an item at ``level`` and returns the blanks before its marker."""
        while self.open and self.open[-1][0] >= level:
            self.open.pop()
        indent = self.open[-1][1] if self.open else 0
        if marker:
            self.open.append((level, indent + len(marker) + 1))
        return " " * indent


def read_blocks(parent: etree._Element, state: State) -> list[Block]:
    """The blocks of a body, cell, note, text box, header or footer."""
    blocks: list[Block] = []
    lists = Lists()
    state.depth += 1
    _read_children(parent, state, blocks, lists)
    state.depth -= 1
    if state.carry is not None:
        _emit(state.carry, state.styles.paragraph(None), {}, state, blocks, lists)
        state.carry = None
    return blocks


def _read_children(parent: etree._Element, state: State, blocks: list[Block], lists: Lists) -> None:
    for element in parent:
        handler = _BLOCK.get(SHORT[element.tag])
        if handler is None:
            continue
        before = len(blocks)
        handler(element, state, blocks, lists)
        if state.depth == 1 and len(blocks) > before and (state.pending_notes or state.held_notes):
            _place_notes(state, blocks, before)


def _content_control(element: etree._Element, state: State, blocks: list[Block], lists: Lists) -> None:
    content = child(element, "w:sdtContent")
    if content is not None:
        _read_children(content, state, blocks, lists)


def _alternatives(element: etree._Element, state: State, blocks: list[Block], lists: Lists) -> None:
    before = len(blocks)
    for alternative in element:
        _read_children(alternative, state, blocks, lists)
        if len(blocks) > before:
            return


def _table(element: etree._Element, state: State, blocks: list[Block], lists: Lists) -> None:
    lists.open.clear()
    blocks.extend(table_blocks(element, lambda cell: _read_cell(cell, state)))


def _read_cell(element: etree._Element, state: State) -> list[Block]:
    outer, state.in_cell = state.in_cell, True
    blocks = read_blocks(element, state)
    state.in_cell = outer
    return blocks


def _foreign(element: etree._Element, state: State, blocks: list[Block], lists: Lists) -> None:
    lists.open.clear()
    blocks.extend(foreign_blocks(element, state))


# -- paragraphs ----------------------------------------------------------------------------------


def _paragraph(element: etree._Element, state: State, blocks: list[Block], lists: Lists) -> None:
    properties = children(leading(element, "w:pPr"), _PROPERTIES)
    named = properties.get("w:pStyle")
    style = state.styles.paragraph(None if named is None else attribute(named, "val"))
    inline, state.carry = state.carry or Inline(), None
    if properties or state.new_page:
        state.start_paragraph(properties, inline)
    state.in_code, state.fonts = style.code, set()
    add_children(element, inline, state)
    state.in_code = False
    state.end_paragraph(inline)
    if properties and _goes_on(properties):
        state.carry = inline
        return
    _emit(inline, style, properties, state, blocks, lists)


def _goes_on(properties: Properties) -> bool:
    """Whether the next paragraph continues this one: its mark is deleted, or it is a dropped capital."""
    frame = properties.get("w:framePr")
    if frame is not None and attribute(frame, "dropCap") in {"drop", "margin"}:
        return True
    return child(properties.get("w:rPr"), "w:del") is not None


def _emit(
    inline: Inline,
    style: ParagraphStyle,
    properties: Properties,
    state: State,
    blocks: list[Block],
    lists: Lists,
) -> None:
    floats, state.floats = state.floats, []
    if inline.has_text():
        blocks.append(_block(inline, style, properties, state, lists))
    elif inline and style.code:
        blocks.append(Block("", "code"))
    elif inline:
        blocks.append(Block(inline.block()))
    blocks.extend(floats)
    if floats:
        lists.open.clear()


def _block(
    inline: Inline, style: ParagraphStyle, properties: Properties, state: State, lists: Lists
) -> Block:
    level = _heading_level(style, properties, inline)
    label, depth = _label(style, properties, state)
    if level:
        lists.open.clear()
        number = f"{escape_inline(label.text)} " if label and not label.bullet and label.text else ""
        return _led(inline.line(), f"{'#' * min(level, 6)} {number}", "heading")
    if style.code:
        lists.open.clear()
        return Block(inline.verbatim(), "code")
    if label is not None:
        return _item(inline, label, depth, lists)
    lists.open.clear()
    if state.fonts == {True} and not state.in_cell:
        return Block(inline.verbatim(), "mono")
    return Block(inline.block(starts=not state.in_cell), "quote" if style.quote else "paragraph")


def _led(text: str, prefix: str, kind: str) -> Block:
    """A block with ``prefix`` before its text, page marks before both."""
    body = text.lstrip(PAGE)
    return Block(text[: len(text) - len(body)] + prefix + body, kind)


def _heading_level(style: ParagraphStyle, properties: Properties, inline: Inline) -> int:
    found = properties.get("w:outlineLvl")
    own = None if found is None else attribute(found, "val")
    if own is None or not own.isdigit():
        return style.heading
    if int(own) > 8:
        return 0
    return int(own) + 1 if style.heading or len(inline.verbatim()) <= _LONGEST_HEADING else 0


def _label(style: ParagraphStyle, properties: Properties, state: State) -> tuple[Label | None, int]:
    """The list label of a paragraph and its level, by its own numbering or else its style's."""
    own = properties.get("w:numPr")
    number = value(own, "w:numId") or style.num_id
    if number is None or number == "0":
        return None, 0
    depth = value(own, "w:ilvl")
    if depth is not None and depth.isdigit():
        level = min(int(depth), 8)
    else:
        bound = state.numbering.level_of_style(number, style.style_id)
        level = bound if bound is not None else style.level or 0
    return state.numbering.label(number, level), level


def _item(inline: Inline, label: Label, depth: int, lists: Lists) -> Block:
    """A list item: in markdown's own form where it has one, else with its label written out."""
    marker = _marker(label)
    indent = lists.indent(depth, marker)
    if not marker:
        written = f"{escape_inline(label.text)} " if label.text else ""
        return _led(_indented(inline.block(), indent), f"{indent}{written}", "paragraph")
    box = f"{label.text} " if label.bullet and label.text and label.text in _BOX_BULLETS else ""
    text = _indented(inline.block(), " " * (len(indent) + len(marker) + 1))
    return _led(text, f"{indent}{marker} {box}", "item")


def _indented(text: str, indent: str) -> str:
    return text.replace("\n", f"\n{indent}") if indent else text


def _marker(label: Label) -> str:
    """``-`` for bullets, the number itself where markdown knows its form, else empty."""
    if label.bullet:
        return "-"
    digits = label.text[:-1]
    plain = label.text[-1:] in {".", ")"} and digits.isascii() and digits.isdigit() and len(digits) < 10
    return label.text if plain else ""


# -- notes ---------------------------------------------------------------------------------------


def _place_notes(state: State, blocks: list[Block], before: int) -> None:
    """Puts footnotes after the block that refers to them, or after the list that the block is in."""
    if state.held_notes and blocks[before].kind != "item":
        blocks[before:before] = state.held_notes
        state.held_notes = []
    waiting = [key for key in state.pending_notes if key[0] == "footnote"]
    if waiting:
        state.pending_notes = [key for key in state.pending_notes if key[0] != "footnote"]
        state.held_notes += [note_block(key, state) for key in waiting]
    if blocks[-1].kind != "item":
        blocks.extend(state.held_notes)
        state.held_notes = []


def rest_of_notes(state: State) -> list[Block]:
    """Notes that have no place yet: those of a last list, and all endnotes."""
    blocks, state.held_notes = state.held_notes, []
    while state.pending_notes:
        waiting, state.pending_notes = state.pending_notes, []
        blocks += [note_block(key, state) for key in waiting]
    return blocks


def note_block(key: tuple[str, str], state: State) -> Block:
    """One note as a markdown footnote definition, further paragraphs indented under the first."""
    note = state.notes[key]
    kept = state.paging, state.relationships, state.fields.stack, state.floats
    state.paging, state.relationships, state.fields.stack, state.floats = False, note.relationships, [], []
    blocks = state.read_blocks(note.element, state)
    state.paging, state.relationships, state.fields.stack, state.floats = kept
    first, _, rest = "\n\n".join(block.text for block in blocks).partition("\n")
    lines = [f"    {line}" if line.strip() else "" for line in rest.split("\n")] if rest else []
    return Block("\n".join([f"[^{state.labels[key]}]: {first}", *lines]), "note")


_BLOCK: dict[str, Callable[[etree._Element, State, list[Block], Lists], None]] = {
    "w:p": _paragraph,
    "w:tbl": _table,
    "w:sdt": _content_control,
    "w:customXml": _read_children,
    "w:ins": _read_children,
    "w:moveTo": _read_children,
    "mc:AlternateContent": _alternatives,
    "w:altChunk": _foreign,
}
