r"""Grapheme clusters: what a reader takes for one character must never be cut in two.

Borders follow UAX 29 through ``regex``'s ``\X``. Offsets are characters (code points).
"""

from __future__ import annotations

import functools
import re
from typing import Any

# How far back a cluster may begin. Longer ones (hundreds of stacked accents) are not text that a
# reader meets, and an unbounded look-back would make hostile input quadratic.
LOOK_BACK = 128

# A cluster never begins after any of these, and between two printable ASCII characters there is
# always a border, so most offsets are decided without the slow look.
_PLAIN = re.compile(r"[\t\n -~][\n -~]")


@functools.cache
def _clusters() -> Any:
    import regex  # type: ignore[import-untyped, unused-ignore]  # ships no types

    return regex.compile(r"\X")


def is_boundary(text: str, offset: int) -> bool:
    """Whether a cut at ``offset`` (0 to ``len(text)``) leaves all grapheme clusters whole."""
    return safe_cut(text, offset) == offset


def safe_cut(text: str, offset: int) -> int:
    """The largest grapheme border that is at most ``offset``.

    A cluster of more than ``LOOK_BACK`` characters counts as ended there, so that the answer
    costs the same at every offset of every text.
    """
    if offset <= 0:
        return 0
    if offset >= len(text):
        return len(text)
    if _PLAIN.match(text, offset - 1):
        return offset
    start = _known_border(text, offset)
    border = start
    for found in _clusters().finditer(text, start, min(len(text), offset + LOOK_BACK)):
        if found.end() > offset:
            return int(found.start()) if found.start() > start or start == border else offset
        border = found.end()
    return border


def _known_border(text: str, offset: int) -> int:
    """A place at or before ``offset`` where a cluster surely begins, at most ``LOOK_BACK`` away."""
    for at in range(offset - 1, max(0, offset - LOOK_BACK), -1):
        if _PLAIN.match(text, at - 1):
            return at
    return max(0, offset - LOOK_BACK)


def next_cut(text: str, offset: int) -> int:
    """The first grapheme border after ``offset``, which is itself taken for one."""
    found = _clusters().match(text, offset, min(len(text), offset + LOOK_BACK))
    return int(found.end()) if found else len(text)
