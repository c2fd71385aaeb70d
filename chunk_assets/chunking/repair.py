"""What the engine does to pieces that break a promise, whoever made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chunk_assets.strategies.base import Piece
from chunk_assets.text import ladder, reasons

if TYPE_CHECKING:
    from chunk_assets.text.layout import Layout


def complete(layout: Layout, pieces: list[Piece]) -> list[Piece]:
    """The pieces of a strategy, made to cover the text, to rise, and to be within every bound.

    Strategies that pack units need none of this; it makes the promises hold for any other one.
    """
    text = layout.document.markdown
    found: list[Piece] = []
    covered = 0
    for piece in pieces:
        if piece.end <= covered or (found and piece.start <= found[-1].start):
            continue
        found.extend(_gap(text, covered, piece.start))
        found.append(piece)
        covered = piece.end
    found.extend(_gap(text, covered, len(text)))
    return [part for piece in found for part in _bounded(layout, piece)]


def _gap(text: str, start: int, end: int) -> list[Piece]:
    return [Piece(start, end)] if start < end and text[start:end].strip() else []


def _bounded(layout: Layout, piece: Piece) -> list[Piece]:
    text = layout.document.markdown
    start = piece.start + len(text[piece.start : piece.end]) - len(text[piece.start : piece.end].lstrip())
    end = start + len(text[start : piece.end].rstrip())
    if start >= end:
        return []
    costs = layout.contexts.at(start, layout.columns.get(start)).costs
    pairs = zip(layout.vocabularies, costs, strict=True)
    if all(v.index.count(start, end) <= v.bound - cost for v, cost in pairs):
        return [Piece(start, end, piece.reason)]
    inside = [most // 4 * 2 for most in (v.bound for v in layout.vocabularies)]
    bounds = tuple(
        (v.index, max(1, v.bound - most)) for v, most in zip(layout.vocabularies, inside, strict=True)
    )
    room = ladder.Room(text, bounds, hard=1 if len(bounds) > 1 else -1)
    parts, begin = [], start
    for at, rank in ladder.cuts(room, start, end, -1):
        parts.append(Piece(begin, at, reasons.OF_RANK[rank]))
        begin = at
    return [*parts, Piece(begin, end, piece.reason)]
