"""Automatic numbers of paragraphs, counted and written as the reader sees them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chunk_assets.converters.markup import clean_text
from chunk_assets.converters.numerals import numeral
from chunk_assets.converters.ooxml import SHORT, attribute, child, is_on, value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml import etree

    from chunk_assets.converters.docx.styles import Styles

_PLACEHOLDER = re.compile(r"%([1-9])")
LEVELS = 9


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a numbering: ``text`` has placeholders ``%1`` … ``%9`` for the counters."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    legal: bool = False
    restart: int | None = None
    style: str | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before a numbered paragraph: a bullet, or a number written out (may be empty)."""

    text: str
    bullet: bool


class Numbering:
    """Counters of all lists of a document; ``label`` must be called in reading order."""

    def __init__(self, root: etree._Element | None, styles: Styles) -> None:
        children = [] if root is None else list(root)
        abstract = {
            attribute(e, "abstractNumId") or "": e for e in children if SHORT[e.tag] == "w:abstractNum"
        }
        numbers = {attribute(e, "numId") or "": e for e in children if SHORT[e.tag] == "w:num"}
        self._abstract_of = {
            number: _abstract_id(value(element, "w:abstractNumId") or "", abstract, numbers, styles)
            for number, element in numbers.items()
        }
        self._elements = abstract, numbers
        self._levels: dict[str, Mapping[int, Level]] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        self._counters: dict[str, list[int | None]] = {}
        self._used: set[tuple[str, int]] = set()

    def level_of_style(self, number: str, style_id: str) -> int | None:
        """The level that a paragraph style is bound to in numbering ``number``."""
        for index, level in self._levels_of(number).items():
            if level.style == style_id:
                return index
        return None

    def label(self, number: str, index: int) -> Label | None:
        """Counts one paragraph of numbering ``number`` at level ``index``; ``None``: not numbered."""
        levels = self._levels_of(number)
        if index not in levels:
            return None
        counters = self._count(number, index, levels)
        level = levels[index]
        if level.form == "bullet":
            return Label(level.text, bullet=True)
        return Label(_written(level, levels, counters), bullet=False)

    def _levels_of(self, number: str) -> Mapping[int, Level]:
        """The levels of a numbering, read at its first use: templates define dozens that no text uses."""
        found = self._levels.get(number)
        if found is None:
            abstract, numbers = self._elements
            base = _levels(abstract[self._abstract_of[number]]) if self._defined(number) else {}
            found, restarts = _overridden(numbers[number], base) if number in numbers else (base, {})
            self._levels[number], self._restarts[number] = found, restarts
        return found

    def _defined(self, number: str) -> bool:
        return self._abstract_of.get(number) in self._elements[0]

    def _count(self, number: str, index: int, levels: Mapping[int, Level]) -> list[int | None]:
        counters = self._counters.setdefault(self._abstract_of[number], [None] * LEVELS)
        for at, start in self._restarts[number].items():
            if at <= index and (number, at) not in self._used:
                self._used.add((number, at))
                counters[at] = start - 1 if at == index else start
        for above in range(index):
            if counters[above] is None:
                counters[above] = levels.get(above, Level()).start
        current = counters[index]
        counters[index] = levels[index].start if current is None else current + 1
        for below in range(index + 1, LEVELS):
            restart = levels.get(below, Level()).restart
            if restart is None or (restart != 0 and index < restart):
                counters[below] = None
        return counters


def _abstract_id(
    identifier: str,
    abstract: Mapping[str, etree._Element],
    numbers: Mapping[str, etree._Element],
    styles: Styles,
) -> str:
    """The abstract numbering with the levels: one may stand for a numbering style defined elsewhere."""
    linked = value(abstract.get(identifier), "w:numStyleLink")
    number = styles.num_id(linked) if linked else None
    if number is not None and number in numbers:
        return value(numbers[number], "w:abstractNumId") or identifier
    return identifier


def _levels(element: etree._Element) -> dict[int, Level]:
    found: dict[int, Level] = {}
    for entry in element:
        if SHORT[entry.tag] == "w:lvl":
            index = attribute(entry, "ilvl") or ""
            if index.isdigit() and int(index) < LEVELS:
                found[int(index)] = _level(entry)
    return found


def _level(entry: etree._Element) -> Level:
    form = child(entry, "w:numFmt")
    if form is None:
        # Newer number forms hide in a choice beside a fallback that every reader knows.
        choice = child(entry, "mc:AlternateContent")
        form = child(child(choice, "mc:Fallback"), "w:numFmt")
    restart = value(entry, "w:lvlRestart")
    return Level(
        start=_number(value(entry, "w:start"), 1),
        form=(attribute(form, "val") if form is not None else None) or "decimal",
        text=clean_text(value(entry, "w:lvlText") or ""),
        legal=is_on(entry, "w:isLgl"),
        restart=_number(restart, 0) if restart is not None else None,
        style=value(entry, "w:pStyle"),
    )


def _overridden(
    element: etree._Element, base: Mapping[int, Level]
) -> tuple[dict[int, Level], dict[int, int]]:
    """Levels of a numbering with its own overrides, and the levels at which it starts anew."""
    levels, restarts = dict(base), {}
    for override in element:
        if SHORT[override.tag] != "w:lvlOverride":
            continue
        index = _number(attribute(override, "ilvl"), 0)
        entry = child(override, "w:lvl")
        if entry is not None and index < LEVELS:
            levels[index] = _level(entry)
        start = value(override, "w:startOverride")
        if start is not None and index < LEVELS:
            restarts[index] = _number(start, 1)
            levels[index] = replace(levels.get(index, Level()), start=restarts[index])
    return levels, restarts


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else default


def _written(level: Level, levels: Mapping[int, Level], counters: list[int | None]) -> str:
    """The label with each placeholder as its counter in the form of the counter's own level."""

    def written(match: re.Match[str]) -> str:
        index = int(match[1]) - 1
        form = levels.get(index, Level()).form
        if level.legal and form != "none":
            form = "decimal"
        return numeral(counters[index] or 0, form)

    return _PLACEHOLDER.sub(written, level.text).strip()
