"""What the engine does to pieces that break a promise, whoever made them.

Strategies that pack units need none of it; it makes the promises hold for any other one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.strategies.base import Piece
from chunk_assets.text import ladder, reasons

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.contexts import Context
    from chunk_assets.text.layout import Layout


@dataclass(frozen=True, slots=True)
class Measured:
    """Pieces without outer white space, with their contexts and exact counts by each vocabulary."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    reasons: list[str]
    contexts: list[Context]
    counts: list[NDArray[np.int64]]


def complete(layout: Layout, pieces: list[Piece]) -> Measured:
    """The pieces of a strategy, made to cover the text, to rise, and to be within every bound."""
    found = _rising(layout.document.markdown, pieces)
    measured = _measured(layout, found)
    over = _over(layout, measured)
    if not over.any():
        return measured
    cut = over.tolist()
    parts = [part for at, piece in enumerate(found) for part in (_cut(layout, piece) if cut[at] else [piece])]
    return _measured(layout, parts)


def _rising(text: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces in order, none within its neighbours, and what is visible between them."""
    found: list[Piece] = []
    covered = 0
    for piece in pieces:
        start, end = _trimmed(text, piece)
        if end <= max(start, covered) or (found and start <= found[-1].start):
            continue
        if start > covered:
            found.extend(_gap(text, covered, start))
        found.append(Piece(start, end, piece.reason))
        covered = end
    found.extend(_gap(text, covered, len(text)))
    return found


def _trimmed(text: str, piece: Piece) -> tuple[int, int]:
    start, end = piece.start, piece.end
    if start < end and (text[start].isspace() or text[end - 1].isspace()):
        whole = text[start:end]
        end = start + len(whole.rstrip())
        start = min(end, start + len(whole) - len(whole.lstrip()))
    return start, end


def _gap(text: str, start: int, end: int) -> list[Piece]:
    between = text[start:end]
    if not between or between.isspace():
        return []
    return [Piece(*_trimmed(text, Piece(start, end)))]


def _measured(layout: Layout, pieces: list[Piece]) -> Measured:
    starts = np.array([piece.start for piece in pieces], dtype=np.int64)
    ends = np.array([piece.end for piece in pieces], dtype=np.int64)
    columns = layout.columns
    return Measured(
        starts,
        ends,
        [piece.reason for piece in pieces],
        [layout.contexts.at(piece.start, columns.get(piece.start)) for piece in pieces],
        [vocabulary.index.counts(starts, ends) for vocabulary in layout.vocabularies],
    )


def _over(layout: Layout, measured: Measured) -> NDArray[np.bool_]:
    over = np.zeros(len(measured.starts), dtype=bool)
    for which, vocabulary in enumerate(layout.vocabularies):
        costs = np.array([context.costs[which] for context in measured.contexts], dtype=np.int64)
        over |= measured.counts[which] > vocabulary.bound - costs
    return over


def _cut(layout: Layout, piece: Piece) -> list[Piece]:
    bounds = tuple(
        (vocabulary.index, max(1, vocabulary.bound - 2 * budget))
        for vocabulary, budget in zip(layout.vocabularies, layout.contexts.budgets, strict=True)
    )
    room = ladder.Room(layout.document.markdown, bounds, hard=1 if len(bounds) > 1 else -1)
    parts: list[Piece] = []
    begin = piece.start
    for at, rank in ladder.cuts(room, piece.start, piece.end, -1):
        parts.append(Piece(*_trimmed(room.text, Piece(begin, at)), reasons.OF_RANK[rank]))
        begin = at
    return [*parts, Piece(*_trimmed(room.text, Piece(begin, piece.end)), piece.reason)]
