"""Inside a paragraph: runs, fields, links, notes, equations, tracked changes.

What the reader of the accepted document sees is taken; instructions of fields, deletions, hidden text
and phonetic readings are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chunk_assets.converters.blocks import Inline
from chunk_assets.converters.docx.drawing import add_drawing
from chunk_assets.converters.docx.fields import OpenField, field_symbol, field_target, form_value
from chunk_assets.converters.docx.styles import CharacterStyle
from chunk_assets.converters.markup import code_span, link, subscript, superscript
from chunk_assets.converters.omml import linear
from chunk_assets.converters.ooxml import (
    SHORT,
    attribute,
    child,
    children,
    leading,
    tags,
    toggled,
)
from chunk_assets.converters.symbols import symbol, translate

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.docx.state import State

_MONOSPACED = re.compile(r"courier|consolas|monaco|menlo|mono\b|lucida console|inconsolata", re.IGNORECASE)
_PLAIN = CharacterStyle()
_RUN_PROPERTIES = tags("w:rStyle", "w:vanish", "w:vertAlign", "w:rFonts")
_SHIFTS = {"superscript": superscript, "subscript": subscript}


def add_children(parent: etree._Element, inline: Inline, state: State) -> None:
    """Adds the text of all inline children of ``parent`` to ``inline``."""
    for element in parent:
        handler = _INLINE.get(SHORT[element.tag])
        if handler is not None:
            handler(element, inline, state)


def _deleted(_element: etree._Element, _inline: Inline, state: State) -> None:
    state.count("tracked_deletions")


def _inserted(element: etree._Element, inline: Inline, state: State) -> None:
    state.count("tracked_insertions")
    add_children(element, inline, state)


def _content_control(element: etree._Element, inline: Inline, state: State) -> None:
    content = child(element, "w:sdtContent")
    if content is not None:
        add_children(content, inline, state)


def _choice(element: etree._Element, inline: Inline, state: State) -> None:
    """Of alternative contents the first that yields anything: the newest form that can be read."""
    for alternative in element:
        before, floats = inline.mark(), len(state.floats)
        add_children(alternative, inline, state)
        for grandchild in alternative:
            _run_child(grandchild, inline, state, None)
        if inline.mark() != before or len(state.floats) != floats:
            return


def _ruby(element: etree._Element, inline: Inline, state: State) -> None:
    base = child(element, "w:rubyBase")
    if base is not None:
        add_children(base, inline, state)


def _equation(element: etree._Element, inline: Inline, state: State) -> None:
    if state.fields.visible:
        inline.text(linear(element))


def _simple_field(element: etree._Element, inline: Inline, state: State) -> None:
    mark = inline.mark()
    add_children(element, inline, state)
    _wrap_link(inline, mark, field_target(attribute(element, "instr") or ""))


def _hyperlink(element: etree._Element, inline: Inline, state: State) -> None:
    mark = inline.mark()
    add_children(element, inline, state)
    _wrap_link(inline, mark, state.link_target(attribute(element, "id"), attribute(element, "anchor")))


def _wrap_link(inline: Inline, mark: tuple[int, int], target: str) -> None:
    """Makes what was added since ``mark`` the label of a link, blanks at its ends left outside."""
    if not target:
        return
    label = inline.cut(mark)
    if not label.has_text():
        inline.add(label)
        return
    before, text, after = label.label()
    inline.text(before)
    inline.markdown(link(text, target))
    inline.text(after)


# -- runs ----------------------------------------------------------------------------------------


def _run(element: etree._Element, inline: Inline, state: State) -> None:
    first = leading(element, "w:rPr")
    properties = {} if first is None else children(first, _RUN_PROPERTIES)
    if not properties:
        for part in element:
            _run_child(part, inline, state, None)
        return
    fonts = properties.get("w:rFonts")
    style = properties.get("w:rStyle")
    look = _PLAIN if style is None else state.styles.character(attribute(style, "val") or "")
    if toggled(properties["w:vanish"]) if "w:vanish" in properties else look.hidden:
        state.count("hidden_runs")
        _fields_only(element, inline, state)
        return
    mark = inline.mark()
    for part in element:
        _run_child(part, inline, state, fonts)
    if look.code and inline.mark() != mark and not state.in_code:
        piece = inline.cut(mark)
        inline.markdown(code_span(piece.verbatim())) if piece.has_text() else inline.add(piece)
    elif "w:vertAlign" in properties:
        shift = _SHIFTS.get(attribute(properties["w:vertAlign"], "val") or "")
        if shift is not None:
            _shift(inline, mark, shift)


def _fields_only(element: etree._Element, inline: Inline, state: State) -> None:
    """Hidden runs may still open and close fields."""
    for part in element:
        if SHORT[part.tag] in {"w:fldChar", "w:instrText"}:
            _run_child(part, inline, state, None)


def _shift(inline: Inline, mark: tuple[int, int], shift: Callable[[str], str]) -> None:
    """Raises or lowers digits that follow something they belong to."""
    piece = inline.cut(mark)
    text = piece.verbatim()
    if shift(text) == text or not inline.last_character().strip():
        inline.add(piece)
    else:
        inline.text(shift(text))


def _run_child(part: etree._Element, inline: Inline, state: State, fonts: etree._Element | None) -> None:
    name = SHORT[part.tag]
    if name == "w:t":
        text = part.text
        if text and state.fields.visible:
            inline.text(_in_font(text, fonts, state))
        return
    handler = _RUN.get(name)
    if handler is not None:
        handler(part, inline, state)


def _in_font(text: str, fonts: etree._Element | None, state: State) -> str:
    """Characters of symbol fonts as the signs that they show; keeps whether the font is monospaced."""
    name = "" if fonts is None else attribute(fonts, "ascii") or ""
    if not name:
        if not text.isspace():
            state.fonts.add(False)
        return text
    if text.strip():
        state.fonts.add(_MONOSPACED.search(name) is not None)
    return translate(text, name)


def _literal(text: str) -> Callable[[Any, Inline, State], None]:
    def add(_: Any, inline: Inline, state: State) -> None:
        if state.fields.visible:
            inline.text(text)

    return add


def _symbol(part: etree._Element, inline: Inline, state: State) -> None:
    code = attribute(part, "char") or ""
    if state.fields.visible and re.fullmatch(r"[0-9A-Fa-f]{1,6}", code):
        inline.text(symbol(int(code, 16), attribute(part, "font") or ""))


def _break(part: etree._Element, inline: Inline, state: State) -> None:
    if attribute(part, "type") == "page":
        state.page_break(inline)
    elif state.fields.visible:
        inline.text("\n")


def _rendered_break(_: etree._Element, inline: Inline, state: State) -> None:
    state.rendered_break(inline)


def _note(part: etree._Element, inline: Inline, state: State) -> None:
    kind = "footnote" if SHORT[part.tag] == "w:footnoteReference" else "endnote"
    label = state.note_label(kind, attribute(part, "id") or "")
    if label:
        inline.markdown(f"[^{label}]")


def _comment(_: etree._Element, _inline: Inline, state: State) -> None:
    state.count("comments")


def _drawing(part: etree._Element, inline: Inline, state: State) -> None:
    if state.fields.visible:
        add_drawing(part, inline, state)


def _field_character(part: etree._Element, inline: Inline, state: State) -> None:
    kind, stack = attribute(part, "fldCharType"), state.fields.stack
    if kind == "begin":
        stack.append(OpenField(form=form_value(part)))
    elif kind == "separate" and stack:
        stack[-1].in_result, stack[-1].inline, stack[-1].mark = True, inline, inline.mark()
    elif kind == "end" and stack:
        _close(stack.pop(), inline, state)


def _close(opened: OpenField, inline: Inline, state: State) -> None:
    if not state.fields.visible:
        return
    if opened.form:
        inline.text(opened.form)
    elif opened.inline is inline:
        _wrap_link(inline, opened.mark, field_target(opened.instruction))
    elif not opened.in_result:
        inline.text(field_symbol(opened.instruction))


def _instruction(part: etree._Element, _inline: Inline, state: State) -> None:
    stack = state.fields.stack
    if stack and not stack[-1].in_result:
        stack[-1].instruction += part.text or ""


_INLINE: dict[str, Callable[[etree._Element, Inline, State], None]] = {
    "w:r": _run,
    "w:hyperlink": _hyperlink,
    "w:ins": _inserted,
    "w:moveTo": _inserted,
    "w:del": _deleted,
    "w:moveFrom": _deleted,
    "w:sdt": _content_control,
    "w:smartTag": add_children,
    "w:customXml": add_children,
    "w:bdo": add_children,
    "w:dir": add_children,
    "w:fldSimple": _simple_field,
    "w:ruby": _ruby,
    "mc:AlternateContent": _choice,
    "m:oMath": _equation,
    "m:oMathPara": _equation,
    "w:commentReference": _comment,
}
_RUN: dict[str, Callable[[etree._Element, Inline, State], None]] = {
    "w:tab": _literal("\t"),
    "w:ptab": _literal("\t"),
    "w:cr": _literal("\n"),
    "w:noBreakHyphen": _literal("-"),
    "w:sym": _symbol,
    "w:br": _break,
    "w:lastRenderedPageBreak": _rendered_break,
    "w:footnoteReference": _note,
    "w:endnoteReference": _note,
    "w:commentReference": _comment,
    "w:drawing": _drawing,
    "w:pict": _drawing,
    "w:object": _drawing,
    "w:fldChar": _field_character,
    "w:instrText": _instruction,
    "w:ruby": _ruby,
    "w:r": _run,
    "mc:AlternateContent": _choice,
    "m:oMath": _equation,
}
