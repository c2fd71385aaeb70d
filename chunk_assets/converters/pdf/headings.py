"""Which blocks are headings, and of what level: by type size, weight and the document's outline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from chunk_assets.converters.pdf.model import Block, Line

MAX_LEVEL = 6
MAX_SIZES = 4
_NUMBERED = re.compile(
    r"^(?:\d{1,2}\.?){1,5}\s|^(?:chapter|section|part|appendix|annex|item|article)\s+\S", re.IGNORECASE
)
_CAPTION = re.compile(r"(?:table|figure|fig\.|exhibit|chart|graph|box)\s*\d", re.IGNORECASE)
_SECTION = re.compile(r"^\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+[^\W\d_]")
_WORDS = re.compile(r"\w+")


def body_size(lines: Sequence[Line]) -> float:
    """The type size of most letters outside tables, in points; 0 without lines."""
    letters: Counter[float] = Counter()
    for line in lines:
        letters[round(line.size * 2) / 2] += len(line.text)
    return max(letters, key=lambda size: (letters[size], -size)) if letters else 0.0


def title_key(text: str) -> str:
    """Letters and digits of a title, for comparing with the outline."""
    return "".join(_WORDS.findall(text.lower()))


def mark_headings(blocks: Sequence[Block], body: float, outline: Mapping[str, int]) -> None:
    """Turn text blocks that are headings into blocks of kind ``heading`` with a level of 1 to 6.

    ``body`` is the body's type size, ``outline`` gives levels by ``title_key``. Sizes above the body
    rank the levels; bold lines of body size stand one level below the smallest of them.
    """
    bold_body = _mostly_bold(blocks, body)
    large: Counter[float] = Counter()
    chosen: list[Block] = []
    for index, block in enumerate(blocks):
        if block.kind not in {"text", "item"} or not _may_be_heading(block):
            continue
        below = blocks[index + 1] if index + 1 < len(blocks) else None
        if block.size >= 1.12 * body + 0.3 and _is_title(block, body):
            large[_rank_size(block.size)] += 1
            chosen.append(block)
        elif title_key(block.text) in outline or (not bold_body and _is_bold_heading(block, below, body)):
            chosen.append(block)
    ranks = _ranks(large)
    for block in chosen:
        size = _rank_size(block.size)
        level = outline.get(title_key(block.text)) or _level(size, ranks)
        block.kind, block.level = "heading", min(level, MAX_LEVEL)


def _rank_size(size: float) -> float:
    return round(size * 2) / 2


def _ranks(sizes: Counter[float]) -> dict[float, int]:
    """Levels from 1 by size; neighbours within a tenth are one level, and there are at most four.

    The least used level gives way first, to the next smaller one.
    """
    groups: list[list[float]] = []
    for size in sorted(sizes, reverse=True):
        if groups and groups[-1][0] <= size * 1.1:
            groups[-1].append(size)
        else:
            groups.append([size])
    while len(groups) > MAX_SIZES:
        rare = min(
            range(len(groups) - 1), key=lambda index: (sum(sizes[size] for size in groups[index]), index)
        )
        groups[rare : rare + 2] = [groups[rare] + groups[rare + 1]]
    return {size: rank for rank, group in enumerate(groups, start=1) for size in group}


def _level(size: float, ranks: Mapping[float, int]) -> int:
    return ranks.get(size, max(ranks.values(), default=0) + 1)


def _mostly_bold(blocks: Sequence[Block], body: float) -> bool:
    bold = total = 0
    for block in blocks:
        for line in block.lines:
            if abs(line.size - body) < 0.6:
                total += len(line.text)
                bold += len(line.text) if line.bold else 0
    return bold * 5 > total * 2


def _may_be_heading(block: Block) -> bool:
    text = block.text
    if len(block.lines) > 4 or len(text) > 220 or block.lines[0].angle != 0:
        return False
    if _CAPTION.match(text):
        return False
    letters = sum(char.isalpha() for char in text)
    return letters >= 2 and letters * 2 >= len(text.replace(" ", ""))


def _is_title(block: Block, body: float) -> bool:
    """Large type that is a title rather than large prose."""
    text = block.text
    sentence = text.endswith((".", ";", ",")) and len(text.split()) > 8
    return not sentence and (block.size >= 1.3 * body or len(text) <= 150)


def _is_bold_heading(block: Block, below: Block | None, body: float) -> bool:
    """A bold line of body size that stands alone above text."""
    text = block.text
    if (
        _SECTION.match(text)
        and len(text) <= 80
        and len(block.lines) == 1
        and not text.endswith((".", ";", ",", ":"))
    ):
        return below is not None and below.kind != "leader" and not _SECTION.match(below.text)
    if not block.bold or len(block.lines) > 2 or block.size < body - 0.6 or len(text) > 120:
        return False
    if text.endswith((".", ",", ";")) and not _NUMBERED.match(text):
        return False
    if below is None or below.kind == "leader":
        return False
    return not (below.kind == "text" and below.bold and below.size == block.size and len(below.lines) == 1)
