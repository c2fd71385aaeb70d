"""Fixed: windows of one size whatever they cut, as a baseline to compare with. Deprecated."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chunk_assets.strategies.base import Parameters, Piece, Size, Strategy
from chunk_assets.text import graphemes, ladder, reasons

if TYPE_CHECKING:
    from chunk_assets.text.layout import Layout

_WORD = re.compile(r"(?<!\S)\S")
# An overlap in tokens is looked for this many characters a token back.
_CHARS_PER_TOKEN = 4


class Fixed(Parameters):
    """2,000 characters with an overlap of 200, or tokens where they are given."""

    max_chars: Size = 2000
    overlap_chars: Size = 200


def split(layout: Layout, parameters: Fixed) -> list[Piece]:  # noqa: ARG001 - its sizes are in the layout
    """Windows cut between words, or between graphemes where there are none."""
    text = layout.document.markdown
    pieces: list[Piece] = []
    start, size = _skip(text, 0), len(text)
    while start < size:
        room = _room(layout, start)
        end, rank = (size, reasons.WORD) if room.fits(start, size) else _cut(room, start)
        end = start + len(text[start:end].rstrip())
        if pieces and end <= pieces[-1].end:
            # The overlap leaves no room for anything new: this window has none.
            start = _skip(text, pieces[-1].end)
            continue
        pieces.append(Piece(start, end, reasons.SIZE if rank == reasons.WORD else reasons.OF_RANK[rank]))
        start = _next_start(layout, start, end)
    return pieces


def _room(layout: Layout, start: int) -> ladder.Room:
    costs = layout.contexts.at(start).costs
    bounds = [(v.index, max(1, v.bound - cost)) for v, cost in zip(layout.vocabularies, costs, strict=True)]
    target = layout.sizes.target_tokens
    if target:
        bounds[0] = (bounds[0][0], min(target, bounds[0][1]))
    hard = 1 if len(bounds) > 1 else -1
    return ladder.Room(layout.document.markdown, tuple(bounds), layout.sizes.max_chars, hard=hard)


def _cut(room: ladder.Room, start: int) -> tuple[int, int]:
    return next(ladder.cuts(room, start, len(room.text), kind=-1), (len(room.text), reasons.WORD))


def _skip(text: str, start: int) -> int:
    return graphemes.visible(text, start, len(text))


def _next_start(layout: Layout, start: int, end: int) -> int:
    """The first word of the next window: as far back as the overlap goes."""
    text, sizes = layout.document.markdown, layout.sizes
    if _skip(text, end) == len(text):
        return len(text)
    chars = sizes.overlap_chars or sizes.overlap_tokens * _CHARS_PER_TOKEN
    index = layout.vocabularies[0].index
    for word in _WORD.finditer(text, max(start + 1, end - chars), end):
        if not sizes.overlap_tokens or index.count(word.start(), end) <= sizes.overlap_tokens:
            return word.start()
    return _skip(text, end)


FIXED = Strategy(
    "fixed", 1, Fixed, split, "Windows of one size, cut between words: the baseline to compare with."
)
