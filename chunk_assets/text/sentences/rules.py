"""The splitter of the house: rules over the raw text.

A fast look over whole blocks decides at most marks; the slow rules (``decisions``) are asked at the
others. Blank lines end sentences whatever stands before them; a single newline is a blank like any
other, so that hard-wrapped text has the same borders as flowing text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text.sentences import words
from chunk_assets.text.sentences.candidates import look
from chunk_assets.text.sentences.decisions import decide
from chunk_assets.text.sentences.places import Place
from chunk_assets.text.spans import codes, merged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Goes up whenever a boundary of any text can move.
VERSION = 1

_BLOCK = 131_072
# Characters shared by neighbouring blocks, so that the fast look sees both sides of every mark.
_MARGIN = 8
BLANK_LINE = re.compile(r"\n[ \t\r\x0b\x0c]*\n\s*")
_LIST_OPENERS = frozenset("0123456789abcdefgh•⁃‣ \t\n")
_LIST_HEAD = re.compile(r"\s*(?:([•⁃‣])\s*)?(?:(\d{1,2})|([a-h]))(\.\)|\.|\))\s")
_LAST_WORD = re.compile(r"([^\W_]+)\s*\Z")
_SAMPLE = 65_536
_NEWLINE, _SPACE = 10, 32
# "See Section 2. The rest" is no second item.
_NOT_BEFORE_ITEM = (words.LABELS | words.HEADINGS | words.PREPOSITIONS) - {"item", "items"}


def sentence_starts(
    text: str,
    hard_breaks: NDArray[np.int64] | None = None,
    atomic: NDArray[np.int64] | None = None,
    points: NDArray[Any] | None = None,
) -> NDArray[np.int64]:
    """Sorted character offsets at which sentences begin; the spans between them tile ``text``.

    Args:
        text: any text; blank lines always end a sentence, a single newline is white space.
        hard_breaks: offsets that must be starts (block borders), sorted.
        atomic: ``(n, 2)`` sorted, disjoint spans inside which no start may lie.
        points: ``spans.codes(text)`` where they are at hand.

    Returns:
        ``int64[k]``, beginning with 0, empty for an empty text.
    """
    if not text:
        return np.zeros(0, dtype=np.int64)
    points = codes(text) if points is None else points
    fixed = _paragraphs(text, points)
    if hard_breaks is not None and len(hard_breaks):
        fixed = merged(fixed, hard_breaks[(hard_breaks > 0) & (hard_breaks < len(text))])
    caseless = is_caseless(text)
    sure, unsure = _looked(points, caseless)
    if atomic is not None and len(atomic):
        unsure = unsure[~_inside(unsure + 1, atomic)]
    items = np.array(_listed(text, fixed.tolist()), dtype=np.int64)
    known = merged(fixed, items, sure)
    more = _decided(text, unsure.tolist(), known.tolist(), caseless)
    starts = merged(known, np.array(more, dtype=np.int64))
    return combined(starts[starts < len(text)], hard_breaks, atomic, len(text))


def combined(
    starts: NDArray[np.int64],
    hard_breaks: NDArray[np.int64] | None,
    atomic: NDArray[np.int64] | None,
    length: int,
) -> NDArray[np.int64]:
    """``starts`` without those strictly inside an atomic span, and with the hard breaks."""
    if atomic is not None and len(atomic):
        starts = starts[~_inside(starts, atomic)]
    if hard_breaks is not None and len(hard_breaks):
        starts = merged(starts, hard_breaks[(hard_breaks >= 0) & (hard_breaks < length)])
    return starts


def is_caseless(text: str) -> bool:
    """Whether the text (its first 65,536 characters) has small letters and practically no capitals."""
    sample = text[:_SAMPLE]
    small = sum(map(sample.count, "aeinorst"))
    if small < 20:
        return False
    capitals = len(re.findall("[A-Z]", sample)) if sample.lower() != sample else 0
    return capitals * 500 < small


def _inside(offsets: NDArray[np.int64], atomic: NDArray[np.int64]) -> NDArray[np.bool_]:
    within = np.maximum(np.searchsorted(atomic[:, 0], offsets, side="right") - 1, 0)
    found: NDArray[np.bool_] = (offsets > atomic[within, 0]) & (offsets < atomic[within, 1])
    return found


def _paragraphs(text: str, points: NDArray[Any]) -> NDArray[np.int64]:
    """0 and what follows each blank line."""
    newlines = np.flatnonzero(points[:-1] == _NEWLINE)
    following = points[newlines + 1]
    newlines = newlines[(following <= _SPACE) & (following != 0)]
    ends, end = [0], 0
    for newline in newlines.tolist():
        if newline >= end and (found := BLANK_LINE.match(text, newline)):
            end = found.end()
            ends.append(end)
    return np.array(ends, dtype=np.int64)


def _looked(points: NDArray[Any], caseless: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sure starts, and marks that are left to the slow rules."""
    sure: list[NDArray[np.int64]] = []
    unsure: list[NDArray[np.int64]] = []
    for begin in range(0, len(points), _BLOCK):
        low = max(0, begin - _MARGIN)
        ends, starts, left = look(points[low : begin + _BLOCK + _MARGIN], caseless)
        sure.append(starts[_own(ends + low, begin)] + low)
        unsure.append(left[_own(left + low, begin)] + low)
    return np.concatenate(sure), np.concatenate(unsure)


def _own(marks: NDArray[np.int64], begin: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (marks >= begin) & (marks < begin + _BLOCK)
    return found


def _decided(text: str, marks: list[int], known: list[int], caseless: bool) -> list[int]:
    """Starts after those marks at which the slow rules see an end; ``known`` are the sure starts."""
    found: list[int] = []
    latest = 0
    for mark in marks:
        start = max(latest, known[bisect_right(known, mark) - 1])
        begin = decide(Place(text, start, mark, caseless))
        if begin >= 0:
            found.append(begin)
            latest = begin
    return found


def _listed(text: str, paragraphs: list[int]) -> list[int]:
    """Starts of the items of lists that run on in one paragraph: ``1. Open it 2. Read it``."""
    found: list[int] = []
    for begin, end in zip(paragraphs, [*paragraphs[1:], len(text)], strict=True):
        if text[begin : begin + 1] in _LIST_OPENERS and (head := _LIST_HEAD.match(text, begin, end)):
            found.extend(_items(text, head, end))
    return found


def _items(text: str, head: re.Match[str], end: int) -> Iterator[int]:
    bullet, number, letter, delimiter = head.groups()
    at = head.end()
    while True:
        number = str(int(number) + 1) if number else None
        letter = chr(ord(letter) + 1) if letter else None
        lead = rf"{bullet}\s*" if bullet else ""
        marker = rf"(?<=\s){lead}{number or letter}{re.escape(delimiter)}\s+(?=[\"“(]*[A-Z])"
        item = re.compile(marker).search(text, at, end)
        if item is None:
            return
        before = _LAST_WORD.search(text[max(at, item.start() - 24) : item.start()])
        if before and before.group(1).lower() in _NOT_BEFORE_ITEM:
            return
        yield item.start()
        at = item.end()
