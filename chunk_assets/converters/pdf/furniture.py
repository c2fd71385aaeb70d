"""Running heads, running feet and page numbers: found by repetition, taken out of the flow."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chunk_assets.converters.pdf.model import Line, PageText, Table

# What differs from page to page in lines that are otherwise alike.
_COUNTING = re.compile(r"\d+|^[ivxlc]{1,7}\b|\b[ivxlc]{1,7}$")
_PAGE_NUMBER = re.compile(
    r"^[-–—\[(|\s]*(?:(?:page|p\.|seite|página|pagina|sayfa|стр\.?)\s*)?(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:/|of|de|von|sur|di|из)\s*\d{1,4})?[-–—\])|\s]*$",
    re.IGNORECASE,
)
# A number that begins or ends a line, such as the page number beside the title of a chapter.
_EDGE_NUMBER = re.compile(r"^(\d{1,4})\s+\S|\s(\d{1,4})(?:\s*/\s*\d{1,4})?$")
# Share of the page height at top and bottom where furniture stands.
_ZONE = 0.13


@dataclass(slots=True)
class Furniture:
    """What repeats: ``drop[page]`` holds the ``seq`` of its lines that go.

    ``aside[page]`` holds those of lines that are said once, apart from the flow of the text.
    ``heads`` and ``numbers`` (by page, as printed) are the texts, for the document's facts.
    """

    drop: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    aside: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    heads: list[str] = field(default_factory=list)
    numbers: dict[int, str] = field(default_factory=dict)


def find_furniture(pages: list[tuple[PageText, list[Line | Table]]], body_size: float) -> Furniture:
    """Lines that repeat in the margins of a document of two or more pages.

    Each text is said once: a running head that is on the first page stays where it is, as it may be the
    title, others stand apart. Page numbers go from every page. Lines much larger than the body are
    headings, not furniture.
    """
    found = Furniture()
    groups: dict[tuple[str, str], list[tuple[int, Line]]] = defaultdict(list)
    alone = set()
    for page, pieces in pages:
        margins = _margin_lines(page, pieces)
        if len(margins) == len(pieces):
            alone.add(page.number)
        for zone, line in margins:
            groups[zone, _COUNTING.sub("#", line.text.strip().lower())].append((page.number, line))
    everywhere = [place for places in groups.values() for place in places]
    _drop_numbers(found, everywhere)
    counted = _counted(found, everywhere, len(pages), body_size)
    usual = _usual_levels(groups, len(pages))
    first = pages[0][0].number if pages else 0
    for (zone, key), places in groups.items():
        running = _is_furniture(key, places, len(pages), body_size, usual[zone])
        # Pages with nothing but such lines keep them; there only page numbers go.
        taken = [
            (page, line)
            for page, line in places
            if (running or line.seq in counted[page]) and page not in alone
        ]
        if taken:
            _take_out(found, key, taken, stays=zone == "head" and taken[0][0] == first)
    found.heads = list(dict.fromkeys(found.heads))
    return found


def _take_out(found: Furniture, key: str, places: list[tuple[int, Line]], stays: bool) -> None:
    """All of these lines but the first go; that one stays in its place, or stands apart."""
    found.heads.append(places[0][1].text)
    for number, line in places[1:]:
        found.drop[number].add(line.seq)
    number, line = places[0]
    if "page # of #" in key:
        found.drop[number].add(line.seq)
    elif not stays and line.seq not in found.drop[number]:
        found.aside[number].add(line.seq)


def _margin_lines(page: PageText, pieces: list[Line | Table]) -> list[tuple[str, Line]]:
    """The outermost lines at the top and bottom, up to three heights, that a gap parts from the text."""
    height = page.box.bottom - page.box.top
    top, bottom = page.box.top + _ZONE * height, page.box.bottom - _ZONE * height
    lines = [
        piece for piece in pieces if isinstance(piece, Line) and piece.angle == 0 and len(piece.text) <= 160
    ]
    heads = sorted((line for line in lines if line.bottom < top), key=lambda line: line.top)
    feet = sorted((line for line in lines if line.top > bottom), key=lambda line: -line.bottom)
    return [("head", line) for line in _outer(heads, pieces, 1)] + [
        ("foot", line) for line in _outer(feet, pieces, -1)
    ]


def _outer(margin: list[Line], pieces: list[Line | Table], way: int) -> list[Line]:
    """The lines before the first gap of more than half a line; none when that is over three rows."""
    if not margin:
        return []
    spans = sorted((p.top, p.bottom) if way > 0 else (-p.bottom, -p.top) for p in pieces)
    edge, rows = spans[0][1], 1
    for start, end in spans:
        if start > edge + 0.55 * margin[0].size:
            break
        if start > edge - 0.4 * margin[0].size:
            rows += 1
        edge = max(edge, end)
    if rows > 3:
        return []
    return [line for line in margin if (line.bottom if way > 0 else -line.top) <= edge]


def _usual_levels(
    groups: Mapping[tuple[str, str], Sequence[tuple[int, Line]]], count: int
) -> dict[str, set[int]]:
    """By zone, the levels (in points) where half of the pages or more have a line apart from the text."""
    pages: dict[str, dict[int, set[int]]] = {"head": defaultdict(set), "foot": defaultdict(set)}
    for (zone, _), places in groups.items():
        for page, line in places:
            pages[zone][round(line.top)].add(page)
    return {
        zone: {level for level, where in levels.items() if len(where) * 2 >= count}
        for zone, levels in pages.items()
    }


def _is_furniture(
    key: str, places: list[tuple[int, Line]], count: int, body_size: float, usual: set[int]
) -> bool:
    """Whether lines that are alike but for figures are a running head or foot, and not page numbers."""
    on_pages = len({page for page, _ in places})
    # The title of a chapter runs over its own pages only, but where the other chapters have theirs.
    of_chapter = on_pages >= 4 and round(places[0][1].top) in usual
    if not of_chapter and not _repeats(key, places, on_pages, count):
        return False
    if _PAGE_NUMBER.match(places[0][1].text) or places[0][1].size > 1.25 * body_size:
        return False
    levels = sorted(line.top for _, line in places)
    return levels[len(levels) * 3 // 4] - levels[len(levels) // 4] <= 6


def _drop_numbers(found: Furniture, places: list[tuple[int, Line]]) -> None:
    """Page numbers go when two pages or more have one."""
    numbers = [(page, line) for page, line in places if _PAGE_NUMBER.match(line.text)]
    if len({page for page, _ in numbers}) >= 2:
        for page, line in numbers:
            found.drop[page].add(line.seq)
            found.numbers.setdefault(page, line.text)


def _counted(
    found: Furniture, places: list[tuple[int, Line]], count: int, body_size: float
) -> dict[int, set[int]]:
    """By page, the lines of any text that begin or end with the number of their page, if many pages have one.

    Such are the titles of chapters and sections beside the page number.
    """
    lines: dict[int, set[int]] = defaultdict(set)
    by_distance: dict[int, list[tuple[int, Line, str]]] = defaultdict(list)
    for page, line in places:
        match = _EDGE_NUMBER.search(line.text)
        if match and line.size <= 1.25 * body_size:
            number = match.group(1) or match.group(2)
            by_distance[int(number) - page].append((page, line, number))
    for counted in by_distance.values():
        levels = Counter(round(line.top) for _, line, _ in counted)
        level, _ = levels.most_common(1)[0]
        there = [entry for entry in counted if abs(entry[1].top - level) <= 3]
        on_pages = len({page for page, _, _ in there})
        if on_pages >= 4 and on_pages * 10 >= count * 3:
            for page, line, number in there:
                lines[page].add(line.seq)
                found.numbers.setdefault(page, number)
    return lines


def _repeats(key: str, places: list[tuple[int, Line]], pages: int, count: int) -> bool:
    """Whether a line is on pages enough: four and a third of all, or the very same line on every page.

    Two are enough for a line with "page 2 of 4" in it.
    """
    if pages >= 2 and "page # of #" in key:
        return True
    if pages >= 4 and pages * 10 >= count * 3:
        return True
    same = len({line.text for _, line in places}) == 1
    return pages == count >= 2 and same and len(places) == count
