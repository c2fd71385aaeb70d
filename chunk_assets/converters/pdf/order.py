"""Reading order: PDFium's own unless it jumps about, then by the white space between columns."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeVar

from chunk_assets.converters.pdf.model import Line, Table

Piece = TypeVar("Piece", bound="Line | Table")
MAX_DEPTH = 12
# Characters of a label on average, at most.
_LABEL = 14


def in_order(pieces: list[Piece]) -> list[Piece]:
    """Pieces as a person reads them."""
    pieces = sorted(pieces, key=lambda piece: piece.seq)
    if len(pieces) < 2 or not (_jumps(pieces) or _interleaved(pieces)):
        return pieces
    return _cut(pieces, 0)


def _jumps(pieces: Sequence[Line | Table]) -> bool:
    """Whether the order goes back up often without going on to a column at the right."""
    backward = 0
    for last, piece in itertools.pairwise(pieces):
        height = max(piece.bottom - piece.top, 1.0)
        if piece.bottom < last.top + 0.3 * min(height, 20.0) and piece.x0 < last.x1 - 2:
            backward += 1
    return backward >= 2 and backward * 25 > len(pieces)


def _interleaved(pieces: Sequence[Line | Table]) -> bool:
    """Whether lines hop over a gap and back, three times or more in a row: columns read across."""
    hops = best = 0
    for last, piece in itertools.pairwise(pieces):
        beside = piece.x0 > last.x1 and piece.top < last.bottom and last.top < piece.bottom
        if beside:
            hops += 1
            best = max(best, hops)
        elif piece.x0 > last.x0 - 2:
            hops = 0
    return best >= 3


def _cut(pieces: list[Piece], depth: int) -> list[Piece]:
    """Order by recursive cuts: columns first, with what spans them dividing the page into bands."""
    if len(pieces) < 2:
        return pieces
    gutter = _gutter(pieces) if depth < MAX_DEPTH and len(pieces) >= 4 else None
    if gutter is None:
        return _by_rows(pieces)
    spanning = sorted((p for p in pieces if p.x0 < gutter < p.x1), key=lambda p: p.top)
    ordered: list[Piece] = []
    rest = [p for p in pieces if not p.x0 < gutter < p.x1]
    for spanner in [*spanning, None]:
        limit = float("inf") if spanner is None else (spanner.top + spanner.bottom) / 2
        band = [p for p in rest if (p.top + p.bottom) / 2 < limit]
        rest = [p for p in rest if (p.top + p.bottom) / 2 >= limit]
        ordered.extend(_cut([p for p in band if p.x1 <= gutter], depth + 1))
        ordered.extend(_cut([p for p in band if p.x0 >= gutter], depth + 1))
        if spanner is not None:
            ordered.append(spanner)
    return ordered


def _gutter(pieces: Sequence[Line | Table]) -> float | None:
    """The middle of the emptiest vertical strip with pieces enough on both sides, if there is one."""
    events = sorted([(p.x0, 1) for p in pieces] + [(p.x1, -1) for p in pieces])
    allowed = max(len(pieces) // 8, 0)
    strips: list[tuple[int, float, float]] = []
    depth = 0
    for (x, step), (following, _) in itertools.pairwise(events):
        depth += step
        if depth <= allowed and following - x >= 6:
            strips.append((depth, x - following, (x + following) / 2))
    for _, _, x in sorted(strips):
        if _parts(pieces, x):
            return x
    return None


def _parts(pieces: Sequence[Line | Table], x: float) -> bool:
    """Whether both sides of ``x`` have several pieces that stand beside each other."""
    left = [p for p in pieces if p.x1 <= x]
    right = [p for p in pieces if p.x0 >= x]
    if min(len(left), len(right)) < 2:
        return False
    top = max(min(p.top for p in left), min(p.top for p in right))
    bottom = min(max(p.bottom for p in left), max(p.bottom for p in right))
    return bottom - top > 12 and not _are_labels(left, right)


def _are_labels(left: Sequence[Line | Table], right: Sequence[Line | Table]) -> bool:
    """Whether short pieces at the left have each a longer one beside it: labels, read row by row."""
    labels = [p for p in left if isinstance(p, Line)]
    texts = [p for p in right if isinstance(p, Line)]
    if len(labels) < len(left) or not texts:
        return False
    length = sum(len(p.text) for p in labels) / len(labels)
    if length > _LABEL or sum(len(p.text) for p in texts) < 2 * length * len(texts):
        return False
    middles = sorted((p.top + p.bottom) / 2 for p in texts)
    mates = sum(bisect_left(middles, p.top) < bisect_right(middles, p.bottom) for p in labels)
    return mates * 10 >= 8 * len(labels)


def _by_rows(pieces: list[Piece]) -> list[Piece]:
    """Top to bottom, pieces on one line from left to right."""
    ordered: list[Piece] = []
    row: list[Piece] = []
    limit = float("-inf")
    for piece in sorted(pieces, key=lambda p: ((p.top + p.bottom) / 2, p.x0)):
        if row and (piece.top + piece.bottom) / 2 > limit:
            ordered.extend(sorted(row, key=lambda p: p.x0))
            row = []
        if not row:
            limit = piece.bottom - 0.3 * (piece.bottom - piece.top)
        row.append(piece)
    ordered.extend(sorted(row, key=lambda p: p.x0))
    return ordered
