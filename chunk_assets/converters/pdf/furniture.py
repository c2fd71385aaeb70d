"""Running heads, running feet and page numbers: found by repetition, taken out of the flow."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from chunk_assets.converters.pdf.model import Line, PageText, Table

_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"^[-–—\[(|\s]*(?:(?:page|p\.|seite|página|pagina|sayfa|стр\.?)\s*)?(?:\d{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:/|of|de|von|sur|di|из)\s*\d{1,4})?[-–—\])|\s]*$",
    re.IGNORECASE,
)
# Share of the page height at top and bottom where furniture stands.
_ZONE = 0.13


@dataclass(slots=True)
class Furniture:
    """What repeats: ``drop[page]`` holds the ``seq`` of its lines; ``heads`` the texts for the facts."""

    drop: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    heads: list[str] = field(default_factory=list)


def find_furniture(pages: list[tuple[PageText, list[Line | Table]]], body_size: float) -> Furniture:
    """Lines that repeat in the margins of a document of two or more pages.

    The first occurrence of a running head stays in the text; page numbers go from every page.
    Lines much larger than the body are headings, not furniture.
    """
    found = Furniture()
    groups: dict[tuple[str, str], list[tuple[int, Line]]] = defaultdict(list)
    alone = set()
    for page, pieces in pages:
        margins = _margin_lines(page, pieces)
        if len(margins) == len(pieces):
            alone.add(page.number)
        for zone, line in margins:
            groups[zone, _DIGITS.sub("#", line.text).strip().lower()].append((page.number, line))
    _drop_numbers(found, [place for places in groups.values() for place in places])
    for (_, key), places in groups.items():
        _judge(found, key, places, len(pages), body_size, alone)
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


def _judge(
    found: Furniture,
    key: str,
    places: list[tuple[int, Line]],
    count: int,
    body_size: float,
    alone: set[int],
) -> None:
    """Add the lines to what is dropped if they are page numbers or running heads.

    Pages in ``alone`` have nothing but such lines; there only page numbers go.
    """
    pages = {page for page, _ in places}
    if not _repeats(key, places, len(pages), count):
        return
    if _PAGE_NUMBER.match(places[0][1].text) or places[0][1].size > 1.25 * body_size:
        return
    levels = sorted(line.top for _, line in places)
    if levels[len(levels) * 3 // 4] - levels[len(levels) // 4] > 6:
        return
    found.heads.append(places[0][1].text)
    for page, line in places[1:]:
        if page not in alone:
            found.drop[page].add(line.seq)


def _drop_numbers(found: Furniture, places: list[tuple[int, Line]]) -> None:
    """Page numbers go when two pages or more have one."""
    numbers = [(page, line) for page, line in places if _PAGE_NUMBER.match(line.text)]
    if len({page for page, _ in numbers}) >= 2:
        for page, line in numbers:
            found.drop[page].add(line.seq)


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
