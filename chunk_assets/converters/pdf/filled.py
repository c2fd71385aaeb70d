"""Values of form fields in their places: PDFium tells them after all other text of the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from chunk_assets.converters.pdf.model import Word

# Each value looks at all other words, so their number is bounded.
MAX_VALUES = 1_000


def in_places(words: Sequence[Word], first: int) -> list[Word]:
    """The words with those from number ``first`` on (by ``seq``) put beside or below their labels."""
    own = [word for word in words if word.seq < first]
    values = _values([word for word in words if word.seq >= first])
    if not own or not values or len(values) > MAX_VALUES:
        return list(words)
    after: dict[int, list[Word]] = defaultdict(list)
    for value in sorted(values, key=lambda value: (value[0].top, value[0].x0)):
        after[_label(value[0], own)] += value
    ordered = after.pop(-1, [])
    for word in own:
        ordered.append(word)
        ordered += after.get(word.seq, [])
    return [word._replace(seq=seq) for seq, word in enumerate(ordered)]


def _values(words: Sequence[Word]) -> list[list[Word]]:
    """The words of each value on one row."""
    values = [[word] for word in words[:1]]
    for last, word in pairwise(words):
        near = 0 <= word.x0 - last.x1 < 2 * word.style.size and abs(word.top - last.top) < word.style.size / 2
        if near:
            values[-1].append(word)
        else:
            values.append([word])
    return values


def _label(value: Word, own: Sequence[Word]) -> int:
    """The ``seq`` of the last word at the left on the same row, or of the nearest line above; -1 without."""
    middle = (value.top + value.bottom) / 2
    beside = [w for w in own if w.x1 <= value.x0 + 2 and w.top - 2 <= middle <= w.bottom + 2]
    if beside:
        return max(beside, key=lambda w: (w.x1, w.seq)).seq
    above = [w for w in own if w.bottom <= middle and w.x0 < value.x1 + 40 and w.x1 > value.x0 - 40]
    above = above or [w for w in own if w.bottom <= middle]
    return max(above, key=lambda w: (w.bottom, w.seq)).seq if above else -1
