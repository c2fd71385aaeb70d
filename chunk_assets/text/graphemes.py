r"""Grapheme clusters: what a reader takes for one character must never be cut in two.

Borders follow UAX 29 through ``regex``'s ``\X``. Offsets are characters (code points).
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How far back a cluster may begin. Longer ones (hundreds of stacked accents) are not text that a
# reader meets, and an unbounded look-back would make hostile input quadratic.
LOOK_BACK = 128
# Flags are pairs counted from where their run begins, so such runs are followed further.
_FLAG_LOOK_BACK = 4_096
_BLANKS = re.compile(r"\s*")
# No character before it joins the one before.
_FIRST_MARK = "\u0300"
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_NO_FLAG = re.compile("[^\U0001f1e6-\U0001f1ff]")

# Between two of these there is always a border, so most offsets are decided without the slow look.
_PLAIN_CHAR = (
    "\t\n -~\xa1-\xac\xae-\u02af\u0391-\u03c9\u0410-\u044f\u05d0-\u05ea\u0621-\u064a\u0e01-\u0e2e"
    "\u2010-\u2027\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d"
    "\U0001f300-\U0001f3fa\U0001f400-\U0001f64f\U0001f680-\U0001f6ff\U0001f900-\U0001f9ff"
)
_PLAIN = re.compile(f"[{_PLAIN_CHAR}]{{2}}")


@functools.cache
def _clusters() -> Any:
    import regex  # type: ignore[import-untyped, unused-ignore]  # ships no types

    return regex.compile(r"\X")


def is_boundary(text: str, offset: int) -> bool:
    """Whether a cut at ``offset`` (0 to ``len(text)``) leaves all grapheme clusters whole."""
    return safe_cut(text, offset) == offset


def safe_cut(text: str, offset: int) -> int:
    """The largest grapheme border that is at most ``offset``.

    A cluster of more than ``LOOK_BACK`` characters counts as begun there, so that the answer costs
    the same at every offset of every text.
    """
    if offset <= 0:
        return 0
    if offset >= len(text):
        return len(text)
    if _PLAIN.match(text, offset - 1):
        return offset
    if _FLAGS.match(text, offset - 1):
        border = _before_flags(text, offset)
        # What stands before the first flag of a run may belong to it.
        if border == offset or _FLAG.match(text, border - 1):
            return border
    first = _known_border(text, offset)
    border = 0
    # A slice, since the engine looks back over all flag letters that it can see.
    for found in _clusters().finditer(text[first : offset + LOOK_BACK]):
        if first + found.end() > offset:
            return first + int(found.start())
        border = int(found.end())
    return first + border


def without_cuts(text: str, points: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ascending ``offsets`` without those that would cut a cluster; ``points`` are ``spans.codes``.

    Where the cluster is a blank with a mark on it, its own offset takes the place.
    """
    if points.dtype == np.uint8:
        return offsets
    asked = np.flatnonzero(points[offsets] >= ord(_FIRST_MARK))
    inside = [at for at in asked.tolist() if not is_boundary(text, offsets.item(at))]
    if not inside:
        return offsets
    borders = [safe_cut(text, offsets.item(at)) for at in inside]
    blanks = [border for border in borders if text[border].isspace()]
    kept: NDArray[np.int64] = np.union1d(np.delete(offsets, inside), np.array(blanks, dtype=np.int64))
    return kept


def visible(text: str, start: int, end: int) -> int:
    """The first character of ``text[start:end]`` that is no white space, or ``end``.

    A blank with a mark on it (a blank before U+0301) is a cluster that a reader sees.
    """
    found = _BLANKS.match(text, start, end)
    at = found.end() if found else start
    if start < at < end and text[at] >= _FIRST_MARK and not is_boundary(text, at):
        return at - 1
    return at


def next_cut(text: str, offset: int) -> int:
    """The first grapheme border after ``offset``, which is itself taken for one."""
    found = _clusters().match(text[offset : offset + LOOK_BACK])
    return offset + int(found.end()) if found else len(text)


def _known_border(text: str, offset: int) -> int:
    """A place before ``offset`` where a cluster surely begins, or else ``LOOK_BACK`` before it."""
    stop = max(0, offset - LOOK_BACK)
    found = _PLAIN.search(text[stop:offset][::-1])  # backwards, since the last pair is wanted
    if found:
        return offset - 1 - found.start()
    return _before_flags(text, stop) if stop and _FLAG.match(text, stop) else stop


def _before_flags(text: str, offset: int) -> int:
    """``offset`` within a run of flag letters, moved back by one where it would part a pair."""
    low = max(0, offset - _FLAG_LOOK_BACK)
    before = _NO_FLAG.split(text[low:offset])[-1]
    return offset - len(before) % 2
