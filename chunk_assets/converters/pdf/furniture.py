"""Running heads, running feet and page numbers: found by repetition, taken out of the flow."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
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


def _zone(page: PageText, line: Line) -> str:
    height = page.box.bottom - page.box.top
    if line.bottom < page.box.top + _ZONE * height:
        return "head"
    return "foot" if line.top > page.box.bottom - _ZONE * height else ""


def find_furniture(pages: list[tuple[PageText, list[Line | Table]]], body_size: float) -> Furniture:
    """Lines that repeat in the margins of a document of two or more pages.

    The first occurrence of a running head stays in the text; page numbers go from every page.
    Lines much larger than the body are headings, not furniture.
    """
    found = Furniture()
    groups: dict[tuple[str, str], list[tuple[int, Line]]] = defaultdict(list)
    for page, lines in pages:
        for line in _margin_lines(page, lines):
            key = _DIGITS.sub("#", line.text).strip().lower()
            groups[_zone(page, line), key].append((page.number, line))
    count = len(pages)
    for (_, key), places in groups.items():
        _judge(found, key, places, count, body_size)
    found.heads = list(dict.fromkeys(found.heads))
    return found


def _margin_lines(page: PageText, lines: list[Line | Table]) -> list[Line]:
    margin = [
        line for line in lines if isinstance(line, Line) and _zone(page, line) and len(line.text) <= 160
    ]
    top = sorted((line for line in margin if _zone(page, line) == "head"), key=lambda line: line.top)[:4]
    bottom = sorted((line for line in margin if _zone(page, line) == "foot"), key=lambda line: -line.bottom)[
        :4
    ]
    return top + bottom


def _judge(found: Furniture, key: str, places: list[tuple[int, Line]], count: int, body_size: float) -> None:
    numbers = [(page, line) for page, line in places if _PAGE_NUMBER.match(line.text)]
    pages = Counter(page for page, _ in places)
    if numbers and count >= 2 and len(pages) >= 2:
        for page, line in numbers:
            found.drop[page].add(line.seq)
        return
    if len(pages) < 4 or len(pages) * 10 < count * 3:
        return
    if not any(char.isalpha() for char in key) or places[0][1].size > 1.25 * body_size:
        return
    levels = sorted(line.top for _, line in places)
    if levels[len(levels) * 3 // 4] - levels[len(levels) // 4] > 6:
        return
    found.heads.append(places[0][1].text)
    for page, line in places[1:]:
        found.drop[page].add(line.seq)
