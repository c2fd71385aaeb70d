"""Office equations (OMML) as readable linear text: ``x=(-b±√(b²-4ac))/(2a)``.

Unicode rather than LaTeX, because the text is read by embedders and people, not by a typesetter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from chunk_assets.converters.markup import subscript, superscript
from chunk_assets.converters.ooxml import SHORT, attribute, child

if TYPE_CHECKING:
    from lxml import etree

_SCRIPT_END = re.compile(r"[\^_]\w+$")
_SIMPLE = re.compile(r"[^\W_]+|.", re.DOTALL)


def linear(element: etree._Element) -> str:
    """The text of an equation element (``m:oMath``, ``m:oMathPara`` or any part of one)."""
    name = SHORT[element.tag]
    special = _RULES.get(name)
    if special is not None:
        return special(element)
    if name in {"m:t", "w:t"}:
        return (element.text or "").replace("\u200b", "")
    if name.endswith("Pr") or name in {"w:del", "w:moveFrom"}:
        return ""
    if name == "w:br":
        return "\n"
    separator = "\n" if name == "m:oMathPara" else ""
    return _joined(filter(None, map(linear, element)), separator)


def _joined(pieces: Iterable[str], separator: str) -> str:
    """Pieces side by side, with a blank where a script of letters would run into the next piece."""
    text = ""
    for piece in pieces:
        apart = " " if _SCRIPT_END.search(text) and piece[0].isalnum() else separator if text else ""
        text = f"{text}{apart}{piece}"
    return text


def _part(element: etree._Element, name: str) -> str:
    found = child(element, name)
    return "" if found is None else linear(found).strip()


def _grouped(text: str) -> str:
    """``text`` in parentheses unless it is one symbol, one number or one word."""
    return text if not text or _SIMPLE.fullmatch(text) else f"({text})"


def _property(element: etree._Element, group: str, name: str) -> str | None:
    """A property's value; ``""`` where it is there without one, ``None`` where it is absent."""
    found = child(child(element, group), name)
    if found is None:
        return None
    return attribute(found, "val") or ""


def _raised(text: str) -> str:
    high = superscript(text)
    return high if high != text or not text else f"^{_grouped(text)}"


def _lowered(text: str) -> str:
    low = subscript(text)
    return low if low != text or not text else f"_{_grouped(text)}"


def _fraction(element: etree._Element) -> str:
    top, bottom = _part(element, "m:num"), _part(element, "m:den")
    if _property(element, "m:fPr", "m:type") == "noBar":
        return f"{top} over {bottom}"
    return f"{_grouped(top)}/{_grouped(bottom)}"


def _scripts(element: etree._Element) -> str:
    base = _part(element, "m:e")
    low, high = _lowered(_part(element, "m:sub")), _raised(_part(element, "m:sup"))
    if SHORT[element.tag] == "m:sPre":
        return f"{low}{high}{base}"
    return f"{base}{low}{high}"


def _root(element: etree._Element) -> str:
    degree = _part(element, "m:deg")
    return f"{superscript(degree) if degree else ''}√{_grouped(_part(element, 'm:e'))}"


def _nary(element: etree._Element) -> str:
    sign = _property(element, "m:naryPr", "m:chr")
    low, high = _lowered(_part(element, "m:sub")), _raised(_part(element, "m:sup"))
    return f"{sign or '∫'}{low}{high} {_part(element, 'm:e')}"


def _delimited(element: etree._Element) -> str:
    start = _property(element, "m:dPr", "m:begChr")
    end = _property(element, "m:dPr", "m:endChr")
    middle = _property(element, "m:dPr", "m:sepChr") or "|"
    inner = middle.join(linear(e).strip() for e in element if SHORT[e.tag] == "m:e")
    return f"{'(' if start is None else start}{inner}{')' if end is None else end}"


def _function(element: etree._Element) -> str:
    name, argument = _part(element, "m:fName"), _part(element, "m:e")
    return f"{name}{argument}" if argument.startswith("(") else f"{name} {argument}"


def _limit(element: etree._Element) -> str:
    mark = "_" if SHORT[element.tag] == "m:limLow" else "^"
    return f"{_part(element, 'm:e')}{mark}{_grouped(_part(element, 'm:lim'))}"


def _accent(element: etree._Element) -> str:
    sign = _property(element, "m:accPr", "m:chr") or "\u0302"
    return f"{_part(element, 'm:e')}{sign}"


def _bar(element: etree._Element) -> str:
    low = _property(element, "m:barPr", "m:pos") != "top"
    base = _part(element, "m:e")
    return f"{base}{chr(0x332) if low else chr(0x305)}" if len(base) == 1 else base


def _matrix(element: etree._Element) -> str:
    rows = [
        ", ".join(linear(cell).strip() for cell in row if SHORT[cell.tag] == "m:e")
        for row in element
        if SHORT[row.tag] == "m:mr"
    ]
    return "[" + "; ".join(rows) + "]"


def _array(element: etree._Element) -> str:
    return "; ".join(linear(e).strip() for e in element if SHORT[e.tag] == "m:e")


_RULES: dict[str, Callable[[etree._Element], str]] = {
    "m:f": _fraction,
    "m:sSup": _scripts,
    "m:sSub": _scripts,
    "m:sSubSup": _scripts,
    "m:sPre": _scripts,
    "m:rad": _root,
    "m:nary": _nary,
    "m:d": _delimited,
    "m:func": _function,
    "m:limLow": _limit,
    "m:limUpp": _limit,
    "m:acc": _accent,
    "m:bar": _bar,
    "m:m": _matrix,
    "m:eqArr": _array,
}
