"""Where to cut what alone is over the limit: the best place that fits, one rung at a time.

Code is cut between lines, a table row between cells, a cell between sentences, a sentence between
words, a word between graphemes, and a grapheme only where the model's own limit leaves no choice.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunk_assets.text import graphemes, reasons, sentences
from chunk_assets.text.markdown import kinds, patterns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chunk_assets.text.tokens import TokenIndex

_CODE = (kinds.FENCE, kinds.HTML, kinds.FRONT_MATTER, kinds.INDENTED)
_TABLES = (kinds.TABLE, kinds.HTML_TABLE)
_CLOSERS = ",;:|/&?!)]}>=、，；：。！？"
# How far back a place after punctuation is looked for in text without spaces.
_LOOK_BACK = 160
# A token is at least one byte. One of many characters is so rare that longer spans are looked at last.
_TOKENS_PER_CHAR, _CHARS_PER_TOKEN = 4, 16
_LINE = re.compile(r"\r\n|[\n\r\f]")
_CELL = re.compile(r"<t[hd]\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Room:
    """What fits into one piece: tokens by each index, characters, words; ``0`` is no bound.

    ``hard`` is the number of the index whose bound holds even for a single grapheme (-1: none).
    """

    text: str
    bounds: tuple[tuple[TokenIndex, int], ...]
    max_chars: int = 0
    max_words: int = 0
    hard: int = -1

    def fits(self, start: int, end: int) -> bool:
        """Whether ``text[start:end]`` without its outer white space is within every bound."""
        start = graphemes.visible(self.text, start, end)
        piece = self.text[start:end]
        end -= len(piece) - len(piece.rstrip())
        if start >= end:
            return True
        if self.max_chars and end - start > self.max_chars:
            return False
        if self.max_words and len(piece.split(None, self.max_words)) > self.max_words:
            return False
        return all(index.count(start, end) <= most for index, most in self.bounds)

    def furthest(self, start: int, stop: int) -> int:
        """A grapheme border up to which about as much as fits; at least one grapheme away."""
        end = stop
        if self.max_chars and end - start > self.max_chars:
            end = graphemes.safe_cut(self.text, start + self.max_chars)
        end = self._within_tokens(start, end)
        if self.max_words:
            words = self.text[start:end].split(None, self.max_words)
            end -= len(words[-1]) if len(words) > self.max_words else 0
        return end if end > start else min(stop, graphemes.next_cut(self.text, start))

    def _within_tokens(self, start: int, stop: int) -> int:
        """About the last border that is within every count; what is looked at is not much more."""
        width = _CHARS_PER_TOKEN * min((most for _, most in self.bounds), default=stop)
        while True:
            end = near = graphemes.safe_cut(self.text, start + width) if start + width < stop else stop
            for index, most in self.bounds:
                if _is_over(index, start, end, most):
                    end = min(end, index.furthest(start, most, end))
            if end < near or near >= stop:
                return end
            width *= 2


def _is_over(index: TokenIndex, start: int, end: int, most: int) -> bool:
    """Whether the span has more than ``most`` tokens."""
    return _TOKENS_PER_CHAR * (end - start) > most and index.count(start, end) > most


def cuts(room: Room, start: int, end: int, kind: int) -> Iterator[tuple[int, int]]:
    """The offsets at which ``text[start:end]``, in a block of ``kind``, is cut, with their ranks."""
    start = graphemes.visible(room.text, start, end)
    rungs = list(_rungs(room.text, start, end, kind))
    while start < end:
        stop = room.furthest(start, end)
        if stop >= end and room.fits(start, end):
            return
        at, rank = _best(room, rungs, start, stop, end)
        start = graphemes.visible(room.text, at, end)
        if start >= end:
            return
        yield at, rank


def _rungs(text: str, start: int, end: int, kind: int) -> Iterator[tuple[int, Sequence[int]]]:
    if kind in _CODE:
        yield reasons.LINE, [found.end() for found in _LINE.finditer(text, start, end)]
    elif kind in _TABLES:
        yield reasons.CELL, cell_starts(text, start, end, kind)
        inner = sentences.sentence_starts(text[start:end])
        yield reasons.CELL_SENTENCE, [start + at for at in inner.tolist()]


def cell_starts(text: str, start: int, end: int, kind: int) -> list[int]:
    """Where the cells of the row ``text[start:end]`` begin, the pipe before the cell included."""
    if kind == kinds.HTML_TABLE:
        return [found.start() for found in _CELL.finditer(text, start, end)]
    bars = [start + at for at in patterns.bars(text[start:end])]
    return bars if bars[:1] == [start] else [start, *bars]


def _best(
    room: Room, rungs: list[tuple[int, Sequence[int]]], start: int, stop: int, end: int
) -> tuple[int, int]:
    for rank, places in rungs:
        at = bisect_right(places, stop) - 1
        while at >= 0 and places[at] > start:
            if places[at] < end and room.fits(start, places[at]) and room.text[start : places[at]].strip():
                return places[at], rank
            at -= 1
    at, rank = word_cut(room.text, start, stop)
    while at > start + 1 and not room.fits(start, at):
        at, rank = _shorter(room.text, start, at)
    return _hard_cut(room, start, at, rank)


def _shorter(text: str, start: int, at: int) -> tuple[int, int]:
    shorter = graphemes.safe_cut(text, at - 1)
    return word_cut(text, start, shorter) if shorter > start else (start, reasons.GRAPHEME)


def _hard_cut(room: Room, start: int, at: int, rank: int) -> tuple[int, int]:
    """A single grapheme over a bound stays whole, unless the bound is the model's."""
    if at <= start:
        at, rank = graphemes.next_cut(room.text, start), reasons.GRAPHEME
    if room.hard < 0:
        return at, rank
    index, most = room.bounds[room.hard]
    if index.count(start, at) <= most:
        return at, rank
    low, high = start + 1, at
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if index.count(start, middle) <= most else (low, middle - 1)
    return low, reasons.CODE_POINT


def word_cut(text: str, start: int, stop: int) -> tuple[int, int]:
    """The last place in ``(start, stop]`` that is in no word or number, with its rank.

    After white space where there is any, else after punctuation, else at ``stop`` itself.
    """
    if stop >= len(text) or text[stop].isspace() or text[stop - 1].isspace():
        return stop, reasons.WORD
    words = text[start:stop].rsplit(None, 1)
    if len(words) == 2:
        at = stop - len(words[1])
        # A blank with a mark on it belongs to the word after it.
        return (at if graphemes.is_boundary(text, at) else at - 1), reasons.WORD
    for at in range(stop, max(start, stop - _LOOK_BACK), -1):
        if text[at - 1] in _CLOSERS and not _in_number(text, at) and graphemes.safe_cut(text, at) == at:
            return at, reasons.WORD
    return stop, reasons.GRAPHEME


def _in_number(text: str, at: int) -> bool:
    return at >= 2 and at < len(text) and text[at - 2].isdigit() and text[at].isdigit()
