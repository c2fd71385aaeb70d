"""The first and last forced border around many offsets at once.

Each offset gets a small window of characters, and one array operation looks at thousands of them;
the few offsets without a border in their window are looked at one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.text.tokens.borders import code_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.tokens.index import Rules

_WIDTH = 20
_BATCH = 8192
# How far the scalar search goes before it says that no border is known.
_FAR = 4096

Found = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def heads(text: str, offsets: NDArray[np.int64], rules: Rules) -> Found:
    """The first forced border at or after each offset, and the tokens between.

    Where none is known the border is ``len(text) + 1`` and the count 0.
    """
    first = np.full(len(offsets), -1, dtype=np.int64)
    first[offsets == 0] = 0
    inside = np.flatnonzero((offsets > 0) & (offsets + _WIDTH < len(text)))
    for batch in _batches(inside):
        at = offsets[batch]
        masks = _masks(text, (at - 1).tolist(), rules)
        first[batch] = np.where(masks.any(axis=1), at + masks.argmax(axis=1), -1)
    for slow in np.flatnonzero(first < 0).tolist():
        first[slow] = _first(text, int(offsets[slow]), rules)
    return first, _between(text, offsets, first, (first > offsets) & (first <= len(text)), rules)


def tails(text: str, offsets: NDArray[np.int64], rules: Rules, runs: NDArray[np.int64]) -> Found:
    """The last known token border at or before each offset, and the tokens between.

    A cut between two pieces of a long run counts as well. Where none is known the border is -1 and
    the count 0.
    """
    last = np.full(len(offsets), -2, dtype=np.int64)
    last[offsets >= len(text)] = len(text)
    inside = np.flatnonzero((offsets >= _WIDTH) & (offsets < len(text)))
    for batch in _batches(inside):
        at = offsets[batch]
        masks = _masks(text, (at - _WIDTH).tolist(), rules)[:, ::-1]
        last[batch] = np.where(masks.any(axis=1), at - masks.argmax(axis=1), -2)
    for slow in np.flatnonzero(last == -2).tolist():
        last[slow] = _last(text, int(offsets[slow]), rules, runs)
    return last, _between(text, last, offsets, (last >= 0) & (last < offsets), rules)


def _between(
    text: str, starts: NDArray[np.int64], ends: NDArray[np.int64], where: NDArray[np.bool_], rules: Rules
) -> NDArray[np.int64]:
    """Tokens of the short texts between ``starts`` and ``ends`` where asked for, else 0."""
    counts = np.zeros(len(starts), dtype=np.int64)
    rows = np.flatnonzero(where)
    spans = zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)
    counts[rows] = rules.part.many([text[a:b] for a, b in spans])
    return counts


def _batches(where: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    return [where[at : at + _BATCH] for at in range(0, len(where), _BATCH)]


def _masks(text: str, froms: list[int], rules: Rules) -> NDArray[np.bool_]:
    """Border before each of the ``_WIDTH`` characters that follow each of ``froms``: ``bool[n, width]``."""
    joined = "".join([text[a : a + _WIDTH + 1] for a in froms])
    if joined.isascii():
        narrow = np.frombuffer(joined.encode("ascii"), dtype=np.uint8)
        return rules.borders.between(narrow.reshape(-1, _WIDTH + 1))
    return rules.borders.between(code_points(joined).reshape(-1, _WIDTH + 1))


def _first(text: str, offset: int, rules: Rules) -> int:
    stop = min(offset + min(rules.limit, _FAR), len(text))
    border = rules.borders.first(text, offset, stop)
    return border if border >= 0 else len(text) + 1


def _last(text: str, offset: int, rules: Rules, runs: NDArray[np.int64]) -> int:
    far = min(rules.limit, _FAR)
    border = rules.borders.last(text, offset - far, offset)
    if border >= 0:
        return border
    if offset <= far:
        return 0
    run = int(np.searchsorted(runs, offset, side="right")) - 1
    return int(runs[run]) + (offset - int(runs[run])) // rules.limit * rules.limit if run >= 0 else -1
