"""Fields of Word documents: what they show, not what they compute."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunk_assets.converters.ooxml import SHORT, attribute, child, is_on, value
from chunk_assets.converters.symbols import symbol

if TYPE_CHECKING:
    from lxml import etree

    from chunk_assets.converters.blocks import Inline

# The address may be missing: then the link leads to the place in the document that follows ``\\l``.
_HYPERLINK = re.compile(
    r'^\s*HYPERLINK\s+(?:\\[mnt]\s+)*(?:"([^"]+)"|([^\s"\\]\S*))(?:.*\\l\s+"([^"]+)")?', re.IGNORECASE
)
_FIELD_SYMBOL = re.compile(
    r'^\s*SYMBOL\s+(0x[0-9A-Fa-f]{1,6}|\d{1,7})(?:.*\\f\s+"?([^"\\]+)"?)?', re.IGNORECASE
)
_CHECKBOX = {True: "☒", False: "☐"}


@dataclass(slots=True)
class OpenField:
    """A field being read: its instruction so far, and where its result starts."""

    instruction: str = ""
    in_result: bool = False
    inline: Inline | None = None
    mark: tuple[int, int] = (0, 0)
    form: str = ""


@dataclass(slots=True)
class Fields:
    """The open fields, outermost first; they may span paragraphs."""

    stack: list[OpenField] = field(default_factory=list)

    @property
    def visible(self) -> bool:
        """Whether text here is a result that the reader sees."""
        return not self.stack or all(opened.in_result for opened in self.stack)


def field_target(instruction: str) -> str:
    """The address that a HYPERLINK field leads to, empty for other fields and for places inside."""
    match = _HYPERLINK.match(instruction)
    if match is None:
        return ""
    target = str(match[1] or match[2])
    return f"{target}#{match[3]}" if match[3] and "#" not in target else target


def field_symbol(instruction: str) -> str:
    """The sign that a SYMBOL field stands for, empty for other fields: it has no result of its own."""
    match = _FIELD_SYMBOL.match(instruction)
    if match is None:
        return ""
    code = int(match[1], 16) if match[1].lower().startswith("0x") else int(match[1])
    return symbol(code, (match[2] or "").strip())


def form_value(part: etree._Element) -> str:
    """What a legacy form field shows: its check box, or the chosen entry of its list."""
    data = child(part, "w:ffData")
    box = child(data, "w:checkBox")
    if box is not None:
        name = "w:checked" if child(box, "w:checked") is not None else "w:default"
        return _CHECKBOX[is_on(box, name)]
    choices = child(data, "w:ddList")
    if choices is None:
        return ""
    entries = [attribute(e, "val") or "" for e in choices if SHORT[e.tag] == "w:listEntry"]
    chosen = value(choices, "w:result") or value(choices, "w:default") or "0"
    return entries[int(chosen)] if chosen.isdigit() and int(chosen) < len(entries) else ""
