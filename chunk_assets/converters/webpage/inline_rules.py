"""What the tags inside a paragraph do to the walker: breaks, links, code, scripts, images, equations."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from chunk_assets.converters.markup import code_span, image, link, subscript, superscript

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.blocks import Inline
    from chunk_assets.converters.webpage.walker import Walker

Ends = list[Callable[[], None]]
_ABSOLUTE = ("http://", "https://", "mailto:", "tel:", "ftp://")
_SHOWN_INPUTS = {"text", "number", "date", "email", "tel", "url"}


def _line_break(walker: Walker, _: etree._Element, __: Ends) -> bool:
    """Two breaks in a row are how many pages write a paragraph."""
    inline = walker.sink.inline
    if not walker.pre and not walker.heading and inline.ends_with_break():
        walker.flush()
    else:
        inline.text("\n")
    return True


def _link(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    target = (element.get("href") or "").strip()
    if target.lower().startswith(_ABSOLUTE) and not walker.pre and not walker.in_link:
        inline = walker.sink.inline
        mark = inline.mark()
        walker.in_link = True
        ends.append(lambda: _end_link(walker, inline, mark, target))
    return True


def _end_link(walker: Walker, inline: Inline, mark: tuple[int, int], target: str) -> None:
    """Links what was added since; not across blocks, where markdown has no links."""
    walker.in_link = False
    if walker.sink.inline is not inline:
        return
    label = inline.cut(mark)
    if not label.has_text():
        inline.add(label)
        return
    before, text, after = label.label()
    inline.text(before)
    inline.markdown(text if _says(text, target) else link(text, target))
    inline.text(after)


def _says(label: str, target: str) -> bool:
    """Whether the label is the address itself, so that a link would say it twice."""
    shown = label.replace("\\", "").strip().rstrip("/").lower()
    plain = target.rstrip("/").lower()
    return shown in {plain, plain.split("://", 1)[-1], plain.removeprefix("mailto:").split("?")[0]}


def _code(walker: Walker, _: etree._Element, ends: Ends) -> bool:
    if walker.pre:
        return True
    inline = walker.sink.inline
    mark = inline.mark()

    def close() -> None:
        if walker.sink.inline is inline:
            inline.markdown(code_span(" ".join(inline.cut(mark).verbatim().split())))

    ends.append(close)
    return True


def _script(walker: Walker, element: etree._Element, ends: Ends) -> bool:
    inline = walker.sink.inline
    mark, last = inline.mark(), inline.last_character()
    shift = superscript if element.tag == "sup" else subscript

    def close() -> None:
        if walker.sink.inline is not inline:
            return
        piece = inline.cut(mark)
        text = piece.verbatim().strip()
        if last.strip() and shift(text) != text:
            inline.text(shift(text))
        else:
            inline.add(piece)

    ends.append(close)
    return True


def _image(walker: Walker, element: etree._Element, _: Ends) -> bool:
    name = _file_name(element.get("src") or "")
    walker.sink.inline.markdown(image(element.get("alt") or "", name))
    return True


def _file_name(source: str) -> str:
    if not source or source.startswith("data:"):
        return "image"
    try:
        return posixpath.basename(unquote(urlsplit(source).path)) or "image"
    except ValueError:
        return "image"


def _equation(walker: Walker, element: etree._Element, _: Ends) -> bool:
    """An equation by its own text form where it has one, else by its symbols."""
    text = element.get("alttext")
    if not text:
        notes = [e for e in element.iter() if str(e.tag).startswith("annotation")]
        text = next((str(e.text) for e in notes if e.text and "tex" in (e.get("encoding") or "")), None)
    walker.text(f" {text or ' '.join(map(str, element.itertext()))} ")
    return False


def _input(walker: Walker, element: etree._Element, _: Ends) -> bool:
    kind = (element.get("type") or "text").lower()
    if kind in {"checkbox", "radio"}:
        walker.text("☒ " if "checked" in element.attrib else "☐ ")
    elif kind in _SHOWN_INPUTS:
        walker.text(element.get("value") or "")
    return True


def _nothing(_: Walker, __: etree._Element, ___: Ends) -> bool:
    """Phonetic readings would say the text twice."""
    return False


INLINE_RULES: dict[str, Callable[[Walker, etree._Element, Ends], bool]] = {
    **dict.fromkeys(("code", "tt", "kbd", "samp"), _code),
    **dict.fromkeys(("sup", "sub"), _script),
    **dict.fromkeys(("rt", "rp"), _nothing),
    "br": _line_break,
    "a": _link,
    "img": _image,
    "math": _equation,
    "input": _input,
}
