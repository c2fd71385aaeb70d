"""Running heads, running feet and page numbers: found by repetition, taken out of the flow."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from chunk_assets.converters.pdf.model import Line, PageText, Table

# What differs from page to page in lines that are otherwise alike.
_COUNTING = re.compile(r"\d+|^[ivxlc]{1,7}\b|\b[ivxlc]{1,7}$")
_PAGE_NUMBER = re.compile(
    r"^[-–—\[(|\s]*(?:(?:page|p\.|seite|página|pagina|sayfa|стр\.?)\s*)?(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:/|of|de|von|sur|di|из)\s*\d{1,4})?[-–—\])|\s]*$",
    re.IGNORECASE,
)
# Share of the page height at top and bottom where furniture stands.
_ZONE = 0.13


@dataclass(slots=True)
class Furniture:
    """What repeats: ``drop[page]`` holds the ``seq`` of its lines.

    ``heads`` and ``numbers`` (by page, as printed) are the texts, for the document's facts.
    """

    drop: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    heads: list[str] = field(default_factory=list)
    numbers: dict[int, str] = field(default_factory=dict)


def find_furniture(pages: list[tuple[PageText, list[Line | Table]]], body_size: float) -> Furniture:
    """Lines that repeat in the margins of a document of two or more pages.

    The first occurrence of a running head stays in the text if it is on the first page, which it may be
    the title of. Running feet and page numbers go from every page. Lines much larger than the body are
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
    _drop_numbers(found, [place for places in groups.values() for place in places])
    first = pages[0][0].number if pages else 0
    for (zone, key), places in groups.items():
        if _is_furniture(key, places, len(pages), body_size):
            found.heads.append(places[0][1].text)
            for number, line in places:
                # Pages with nothing but such lines keep them; there only page numbers go.
                if number not in alone and not (zone == "head" and number == first):
                    found.drop[number].add(line.seq)
    found.heads = list(dict.fromkeys(found.heads))
    return found


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


def _is_furniture(key: str, places: list[tuple[int, Line]], count: int, body_size: float) -> bool:
    """Whether lines that are alike but for figures are a running head or foot, and not page numbers."""
    if not _repeats(key, places, len({page for page, _ in places}), count):
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
