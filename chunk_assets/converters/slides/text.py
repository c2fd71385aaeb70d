"""Paragraphs of DrawingML text bodies: levels, bullets, numbers, links, fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from chunk_assets.converters.blocks import Block, Inline
from chunk_assets.converters.markup import link, subscript, superscript
from chunk_assets.converters.numerals import numeral
from chunk_assets.converters.omml import linear
from chunk_assets.converters.ooxml import SHORT, Relationship, attribute, child

if TYPE_CHECKING:
    from lxml import etree

_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f])_")
_NUMBER_FORMS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
}


def plain_line(body: etree._Element, links: Mapping[str, Relationship]) -> str:
    """All paragraphs of a text body in one line: for titles and footers."""
    lines = (_inline(p, links).line() for p in body if SHORT[p.tag] == "a:p")
    return " ".join(filter(None, lines))


def body_blocks(
    body: etree._Element, links: Mapping[str, Relationship], *, bulleted: bool, in_cell: bool = False
) -> list[Block]:
    """The paragraphs of a text body; ``bulleted``: they are list items unless they say otherwise."""
    paragraphs = [(p, _inline(p, links)) for p in body if SHORT[p.tag] == "a:p"]
    written = [(p, inline) for p, inline in paragraphs if inline.has_text()]
    # A single paragraph in a list placeholder is a sentence, not a list.
    listed = bulleted and len(written) > 1
    numbers: dict[int, int] = {}
    return [_block(p, inline, listed, numbers, in_cell) for p, inline in written]


def _block(
    paragraph: etree._Element, inline: Inline, listed: bool, numbers: dict[int, int], in_cell: bool
) -> Block:
    properties = child(paragraph, "a:pPr")
    level = _level(properties)
    marker = _marker(properties, level, listed, numbers)
    for deeper in [at for at in numbers if at > level]:
        del numbers[deeper]
    if not marker:
        return Block(inline.block(starts=not in_cell))
    indent = "  " * level
    text = inline.block(starts=not in_cell).replace("\n", f"\n{indent}  ")
    return Block(f"{indent}{marker} {text}", "item")


def _level(properties: etree._Element | None) -> int:
    text = "" if properties is None else properties.get("lvl") or ""
    return min(int(text), 8) if text.isdigit() else 0


def _marker(properties: etree._Element | None, level: int, listed: bool, numbers: dict[int, int]) -> str:
    """The list marker of a paragraph, empty for plain ones."""
    automatic = child(properties, "a:buAutoNum")
    if automatic is None:
        numbers.pop(level, None)
        if child(properties, "a:buNone") is not None:
            return ""
        return "-" if listed or child(properties, "a:buChar") is not None else ""
    start = automatic.get("startAt") or "1"
    numbers[level] = numbers[level] + 1 if level in numbers else int(start) if start.isdigit() else 1
    kind = automatic.get("type") or "arabicPeriod"
    form = next((form for name, form in _NUMBER_FORMS.items() if kind.startswith(name)), "decimal")
    number = numeral(numbers[level], form)
    if kind.endswith("ParenBoth"):
        return f"({number})"
    return f"{number}{')' if kind.endswith('ParenR') else '.'}"


def _inline(paragraph: etree._Element, links: Mapping[str, Relationship]) -> Inline:
    inline = Inline()
    pending = list(reversed(paragraph))
    while pending:
        element = pending.pop()
        name = SHORT[element.tag]
        if name in {"a:r", "a:fld"}:
            _run(element, inline, links)
        elif name == "a:br":
            inline.text("\n")
        elif name in {"m:oMath", "m:oMathPara"}:
            inline.text(linear(element))
        elif name == "mc:AlternateContent":
            choice = child(element, "mc:Choice")
            pending.extend(reversed(choice if choice is not None else []))
        elif name == "a14:m":
            # The wrapper that PowerPoint puts around equations.
            pending.extend(reversed(element))
    return inline


def _run(run: etree._Element, inline: Inline, links: Mapping[str, Relationship]) -> None:
    if SHORT[run.tag] == "a:fld" and (run.get("type") or "") == "slidenum":
        return
    found = child(run, "a:t")
    text = _ESCAPED.sub(_unescaped, (found.text or "") if found is not None else "")
    properties = child(run, "a:rPr")
    click = child(properties, "a:hlinkClick")
    target = links.get((attribute(click, "id") or "") if click is not None else "")
    if target is not None and target.external and text.strip():
        piece = Inline()
        piece.text(text)
        before, label, after = piece.label()
        inline.text(before)
        inline.markdown(link(label, target.target))
        inline.text(after)
        return
    inline.text(_shifted(text, properties, inline))


def _unescaped(match: re.Match[str]) -> str:
    """Characters that XML can't hold, as Office writes them: line breaks are kept, others dropped."""
    return "\n" if match[1].upper() in {"000A", "000B", "000D"} else ""


def _shifted(text: str, properties: etree._Element | None, inline: Inline) -> str:
    """Digits raised or lowered where the run's baseline is."""
    baseline = "" if properties is None else properties.get("baseline") or ""
    if baseline in {"", "0"} or not inline.last_character().strip():
        return text
    return subscript(text) if baseline.startswith("-") else superscript(text)
