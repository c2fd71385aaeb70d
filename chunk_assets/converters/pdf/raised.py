"""Raised figures, as marks of notes and exponents: $23.81² is not $23.812, and 10⁶ not 106."""

from __future__ import annotations

import ctypes
import re
from itertools import repeat
from typing import TYPE_CHECKING

from chunk_assets.converters.markup import superscript
from chunk_assets.converters.pdf.frame import turned, turned_corners
from chunk_assets.converters.pdf.model import Box, Word
from chunk_assets.converters.pdf.native import native, run
from chunk_assets.converters.pdf.spans import FIGURE, Spans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
# A raised figure is at most this much of its neighbour's height, and stands this much of it higher.
_SMALL = 0.82
_LIFT = 0.15
# Nor is it farther from its neighbour than this share of the height.
_NEAR = 0.35
_MAX_LENGTH = 5
# Where the boxes of a word's first and last characters start among its corners.
_START, _END = 0, 4
_FIGURES = frozenset("0123456789+-−–")
# A figure that something closes, which hides from a look at a word's last character that it is raised.
_CLOSED = re.compile(r"(?<=\S)\d(?=[.,;:!?)\]”’\"']{1,3}(?!\S))")
_CLOSING = re.compile(r"[.,;:!?)\]”’]{1,3}$")

# By the word's place: where in the word raised figures start and end.
Raised = dict[int, tuple[int, int]]


class RaisedReader:
    """Finds raised figures on one page; ``corners`` are the words' (n, 8) in the reading frame."""

    def __init__(
        self, text_page: int, text: str, spans: Spans, corners: NDArray[np.float64], angle: int
    ) -> None:
        self._page = text_page
        self._text = text
        self._spans = spans
        self._corners = corners
        self._angle = angle
        self._box = (ctypes.c_float * 4)()
        self._box_at = ctypes.addressof(self._box)

    def find(self) -> Raised:
        """The raised figures in words, and words that are raised as a whole."""
        found: Raised = {}
        kinds, starts, ends = self._spans.kinds, self._spans.starts, self._spans.ends
        first, last = (kinds[starts + 1] & FIGURE) > 0, (kinds[ends] & FIGURE) > 0
        self._in_words(found, first, last)
        self._closed(found)
        self._whole(found, first & last)
        return found

    def _in_words(self, found: Raised, first: NDArray[np.bool_], last: NDArray[np.bool_]) -> None:
        """Words that end or start with raised figures, of those whose ``first`` or ``last`` are figures."""
        corners, starts, ends = self._corners, self._spans.starts, self._spans.ends
        for seq in _lifted(corners, last.nonzero()[0], _END, _START).tolist():
            start, end = int(starts[seq]), int(ends[seq])
            at = self._walk(end - 1, start, -1, Box(*corners[seq, :4].tolist()))
            self._add(found, seq, at + 1 - start, end - start)
        for seq in _lifted(corners, first.nonzero()[0], _START, _END).tolist():
            start, end = int(starts[seq]), int(ends[seq])
            at = self._walk(start, end - 1, 1, Box(*corners[seq, 4:].tolist()))
            self._add(found, seq, 0, at - start)

    def _closed(self, found: Raised) -> None:
        """Words in which a full stop or the like follows raised figures."""
        places = [match.start() for match in _CLOSED.finditer(self._text)]
        if not places:
            return
        starts = self._spans.starts
        seqs = starts.searchsorted(places, side="right") - 1
        for nth in self._higher(places, self._corners[seqs]):
            at, seq = places[nth], int(seqs[nth])
            start = int(starts[seq])
            stop = self._walk(at, start, -1, Box(*self._corners[seq, :4].tolist()))
            self._add(found, seq, stop + 1 - start, at + 1 - start)

    def _higher(self, places: list[int], bases: NDArray[np.float64]) -> list[int]:
        """Which of the characters at ``places`` end above their ``bases`` (n, 8): few, of many looked at."""
        import numpy as np

        boxes = np.zeros((len(places), 8), np.float32)
        at = boxes.ctypes.data
        run(map(native().loose_box, repeat(self._page), places, range(at, at + boxes.nbytes, 32)))
        own = turned_corners(boxes.astype(np.float64), self._angle)
        higher = own[:, 3] < bases[:, 3] - _LIFT * (bases[:, 3] - bases[:, 1])
        return [int(nth) for nth in np.flatnonzero(higher)]

    def _whole(self, found: Raised, figures: NDArray[np.bool_]) -> None:
        """Words of ``figures`` only, raised close beside the word before or after them."""
        corners = self._corners
        for seq in _lifted(corners, figures[1:].nonzero()[0] + 1, _START, _END, -1).tolist():
            before, word = Box(*corners[seq - 1, 4:].tolist()), corners[seq].tolist()
            if _is_near(before, Box(*word[:4]), _NEAR) and _is_lifted(Box(*word[4:]), before):
                self._add_whole(found, seq)
        for seq in _lifted(corners, figures[:-1].nonzero()[0], _END, _START, 1).tolist():
            after, word = Box(*corners[seq + 1, :4].tolist()), corners[seq].tolist()
            if _is_near(Box(*word[4:]), after, 2 * _NEAR) and _is_lifted(Box(*word[:4]), after):
                self._add_whole(found, seq)

    def _add_whole(self, found: Raised, seq: int) -> None:
        self._add(found, seq, 0, int(self._spans.ends[seq] - self._spans.starts[seq]))

    def _add(self, found: Raised, seq: int, start: int, end: int) -> None:
        at = int(self._spans.starts[seq])
        piece = self._text[at + start : at + end]
        fits = 0 < len(piece) <= _MAX_LENGTH and _FIGURES.issuperset(piece) and piece[-1].isdigit()
        if fits and self._stands_out(seq, start, end):
            found[seq] = (start, end)

    def _stands_out(self, seq: int, start: int, end: int) -> bool:
        """Whether a part of a word is raised beside its neighbour too, and not only beside a tall bracket."""
        first, last = int(self._spans.starts[seq]), int(self._spans.ends[seq])
        if start > 0:
            return _is_lifted(self._character(first + start), self._character(first + start - 1))
        if first + end < last:
            return _is_lifted(self._character(first + end - 1), self._character(first + end))
        return True

    def _walk(self, at: int, limit: int, step: int, base: Box) -> int:
        """The first place from ``at`` on whose character isn't raised above ``base``."""
        for _ in range(_MAX_LENGTH + 1):
            if at == limit or self._text[at] not in _FIGURES or not _is_lifted(self._character(at), base):
                break
            at += step
        return at

    def _character(self, index: int) -> Box:
        native().loose_box(self._page, index, self._box_at)
        left, top, right, bottom = self._box
        return turned(left, top, right, bottom, self._angle)


def _lifted(
    corners: NDArray[np.float64], seqs: NDArray[np.int64], own: int, base: int, shift: int = 0
) -> NDArray[np.int64]:
    """Those of ``seqs`` whose first or last character (``own``) is raised beside that of word + ``shift``."""
    if not len(seqs):
        return seqs
    bottom, low, high = (
        corners[seqs, own + 3],
        corners[seqs + shift, base + 3],
        corners[seqs + shift, base + 1],
    )
    height, tall = low - high, bottom - corners[seqs, own + 1]
    hit = (tall < _SMALL * height) & (tall > 0) & (bottom < low - _LIFT * height) & (bottom > high)
    found: NDArray[np.int64] = seqs[hit]
    return found


def _is_near(left: Box, right: Box, share: float) -> bool:
    height = max(left.bottom - left.top, right.bottom - right.top)
    return -0.2 * height < right.x0 - left.x1 < share * height


def _is_lifted(small: Box, large: Box) -> bool:
    height, own = large.bottom - large.top, small.bottom - small.top
    return 0 < own < _SMALL * height and large.top < small.bottom < large.bottom - _LIFT * height


def with_raised(text: str, span: tuple[int, int]) -> str:
    """A word with its raised figures written so."""
    start, end = span
    piece = text[start:end].replace("−", "-").replace("–", "-")
    return text[:start] + superscript(piece) + text[end:]


def closed_up(words: list[Word], raised: Raised) -> list[Word]:
    """Words without the gap, and lines without the break, that PDFium sees at raised figures."""
    if not raised:
        return words
    result: list[Word] = []
    lines: dict[int, int] = {}
    for word in words:
        last = result[-1] if result else None
        if last is not None and _belongs(last, word, raised):
            if word.line != last.line:
                lines[word.line] = last.line
            box = last.x0, last.top, max(last.x1, word.x1), last.bottom
            result[-1] = Word(last.text + word.text, *box, last.style, last.line, last.seq)
        else:
            result.append(word._replace(line=lines[word.line]) if word.line in lines else word)
    return result


def _belongs(last: Word, word: Word, raised: Raised) -> bool:
    """Whether ``word`` is a raised figure that follows ``last``, or what closes a sentence after one."""
    if not -0.3 < (word.x0 - last.x1) / max(last.style.size, 1.0) < 0.12:
        return False
    if word.bottom <= last.top or last.bottom <= word.top:
        return False
    if word.seq in raised and raised[word.seq][0] == 0:
        return last.text[-1] not in RAISED
    return last.text[-1] in RAISED and bool(_CLOSING.match(word.text))
