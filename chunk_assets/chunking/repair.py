"""What the engine does to pieces that break a promise, whoever made them.

Strategies that pack units need none of it; it makes the promises hold for any other one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.strategies.base import Piece
from chunk_assets.text import graphemes, ladder, reasons
from chunk_assets.text.spans import is_white

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.contexts import Context
    from chunk_assets.text.document import TextDocument
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
    found = pieces if _is_tidy(layout.document, pieces) else _rising(layout.document.markdown, pieces)
    measured = _measured(layout, found)
    over = _over(layout, measured)
    if not over.any():
        return measured
    cut = over.tolist()
    parts = [part for at, piece in enumerate(found) for part in (_cut(layout, piece) if cut[at] else [piece])]
    return _measured(layout, parts)


def _is_tidy(document: TextDocument, pieces: list[Piece]) -> bool:
    """Whether the pieces are as ``_rising`` would leave them."""
    starts, ends = _spans(pieces)
    if not len(starts) or not (starts < ends).all():
        return False
    if not ((starts[1:] > starts[:-1]) & (ends[1:] > ends[:-1])).all():
        return False
    points, text = document.points, document.markdown
    blank = starts[is_white(points[starts])].tolist()
    if any(graphemes.visible(text, at, len(text)) != at for at in blank) or is_white(points[ends - 1]).any():
        return False
    begins, stops = np.append(0, ends), np.append(starts, len(text))
    apart = stops > begins
    return all(
        text[a:b].isspace() for a, b in zip(begins[apart].tolist(), stops[apart].tolist(), strict=True)
    )


def _spans(pieces: list[Piece]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    starts = np.array([piece.start for piece in pieces], dtype=np.int64)
    return starts, np.array([piece.end for piece in pieces], dtype=np.int64)


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
        end = start + len(text[start:end].rstrip())
        start = graphemes.visible(text, start, max(start, end))
    return start, end


def _gap(text: str, start: int, end: int) -> list[Piece]:
    between = text[start:end]
    if not between or between.isspace():
        return []
    return [Piece(*_trimmed(text, Piece(start, end)))]


def _measured(layout: Layout, pieces: list[Piece]) -> Measured:
    starts, ends = _spans(pieces)
    return Measured(
        starts,
        ends,
        [piece.reason for piece in pieces],
        _contexts(layout, starts),
        [vocabulary.index.counts(starts, ends) for vocabulary in layout.vocabularies],
    )


def _contexts(layout: Layout, starts: NDArray[np.int64]) -> list[Context]:
    contexts, columns = layout.contexts, layout.columns
    if columns:
        return [contexts.at(start, columns.get(start)) for start in starts.tolist()]
    firsts = contexts.runs(starts)
    lengths = np.diff(np.append(firsts, len(starts))).tolist()
    found: list[Context] = []
    for context, length in zip(contexts.many(starts[firsts]), lengths, strict=True):
        found.extend([context] * length)
    return found


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
