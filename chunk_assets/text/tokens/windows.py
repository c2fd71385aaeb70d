"""The first and last forced border around many offsets at once.

Each offset gets a small window of characters, and one array operation looks at thousands of them;
the few offsets without a border in their window are looked at one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text.tokens.table import LONGEST, keys_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.tokens.index import Rules
    from chunk_assets.text.tokens.search import BorderSearch

# Characters looked at after (or before) an offset: first this many, then as many as a long word has.
_NEAR, _WIDE = LONGEST, 64
_BATCH = 8192
# How far the search one by one goes before it says that no border is known.
_FAR = 4096

Found = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def heads(
    text: str, points: NDArray[Any], offsets: NDArray[np.int64], rules: Rules, search: BorderSearch
) -> Found:
    """The first forced border at or after each offset, and the tokens between.

    Where none is known the border is ``len(text) + 1`` and the count 0.
    """
    first, tokens = np.full(len(offsets), -1, dtype=np.int64), np.zeros(len(offsets), dtype=np.int64)
    first[offsets == 0] = 0
    _settle(points, offsets, first, rules)
    for batch in _open(first, (offsets > 0) & (offsets + _NEAR < len(text))):
        _near_heads(text, points, offsets, batch, first, tokens, rules)
    counted = first > offsets
    for batch in _open(first, (offsets > 0) & (offsets + _WIDE < len(text))):
        at = offsets[batch]
        masks = rules.borders.between(_windows(points, at, _WIDE + 1))
        first[batch] = np.where(masks.any(axis=1), at + 1 + masks.argmax(axis=1), -1)
    for slow in np.flatnonzero(first < 0).tolist():
        first[slow] = _first(len(text), int(offsets[slow]), rules.limit, search)
    _count(text, offsets, first, (first > offsets) & (first <= len(text)) & ~counted, tokens, rules)
    return first, tokens


def tails(
    text: str,
    points: NDArray[Any],
    offsets: NDArray[np.int64],
    rules: Rules,
    search: BorderSearch,
    runs: NDArray[np.int64],
) -> Found:
    """The last known token border at or before each offset, and the tokens between.

    A cut between two pieces of a long run counts as well. Where none is known the border is -1 and
    the count 0.
    """
    last, tokens = np.full(len(offsets), -1, dtype=np.int64), np.zeros(len(offsets), dtype=np.int64)
    last[offsets >= len(text)] = len(text)
    _settle(points, offsets, last, rules)
    for width in (_NEAR, _WIDE):
        for batch in _open(last, (offsets > width) & (offsets < len(text))):
            at = offsets[batch]
            masks = rules.borders.between(_windows(points, at - width - 1, width + 1))[:, ::-1]
            last[batch] = np.where(masks.any(axis=1), at - 1 - masks.argmax(axis=1), -1)
    for slow in np.flatnonzero(last < 0).tolist():
        last[slow] = _last(int(offsets[slow]), rules.limit, search, runs)
    _count(text, last, offsets, (last >= 0) & (last < offsets), tokens, rules)
    return last, tokens


def _open(borders: NDArray[np.int64], where: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """The places that have no border yet and may be looked at, in batches."""
    left = np.flatnonzero((borders < 0) & where)
    return [left[at : at + _BATCH] for at in range(0, len(left), _BATCH)]


def _settle(
    points: NDArray[Any], offsets: NDArray[np.int64], borders: NDArray[np.int64], rules: Rules
) -> None:
    """Notes the offsets that are forced borders themselves: most ends of sentences are."""
    for batch in _open(borders, (offsets > 0) & (offsets < len(points))):
        at = offsets[batch]
        is_border = rules.borders.sure(points[at - 1], points[at])
        borders[batch[is_border]] = at[is_border]


def _near_heads(
    text: str,
    points: NDArray[Any],
    offsets: NDArray[np.int64],
    batch: NDArray[np.int64],
    first: NDArray[np.int64],
    tokens: NDArray[np.int64],
    rules: Rules,
) -> None:
    """Notes borders at the end of a short word, and what the word counts."""
    windows = _windows(points, offsets[batch], _NEAR + 1)
    masks = rules.borders.between(windows)
    found = masks.any(axis=1)
    batch, words = batch[found], windows[found, :_NEAR]
    lengths = 1 + masks.argmax(axis=1)[found]
    starts, ends = offsets[batch], offsets[batch] + lengths
    foreign = (words == 0) | (words > 127)
    exact = ~foreign.any(axis=1) | (foreign.argmax(axis=1) >= lengths)

    def counted(which: NDArray[np.int64]) -> list[int]:
        spans = zip(starts[which].tolist(), ends[which].tolist(), strict=True)
        return rules.part.many([text[a:b] for a, b in spans])

    first[batch] = ends
    tokens[batch] = rules.words.counts(keys_of(words.astype(np.uint8), lengths), exact, counted)


def _count(
    text: str,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    where: NDArray[np.bool_],
    tokens: NDArray[np.int64],
    rules: Rules,
) -> None:
    """Notes the tokens of the short texts between ``starts`` and ``ends`` where asked for."""
    rows = np.flatnonzero(where)
    spans = zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
    tokens[rows] = rules.part.many([text[a:b] for a, b in spans])


def _windows(points: NDArray[Any], starts: NDArray[np.int64], width: int) -> NDArray[Any]:
    """``points[start:start + width]`` for each start: ``[n, width]``."""
    windows: NDArray[Any] = np.lib.stride_tricks.sliding_window_view(points, width)[starts]
    return windows


def _first(length: int, offset: int, limit: int, search: BorderSearch) -> int:
    border = search.first(offset, min(offset + min(limit, _FAR), length))
    return border if border >= 0 else length + 1


def _last(offset: int, limit: int, search: BorderSearch, runs: NDArray[np.int64]) -> int:
    far = min(limit, _FAR)
    border = search.last(offset - far, offset)
    if border >= 0:
        return border
    if offset <= far:
        return 0
    run = int(np.searchsorted(runs, offset, side="right")) - 1
    return int(runs[run]) + (offset - int(runs[run])) // limit * limit if run >= 0 else -1
