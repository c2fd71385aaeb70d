"""One page of a PDF as words with boxes, turned upright."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from bisect import bisect_left
from dataclasses import replace
from itertools import pairwise
from operator import sub
from typing import Any, NamedTuple

from chunk_assets.converters.pdf.covers import covered_words
from chunk_assets.converters.pdf.frame import prevailing_angle, relative, turned, turned_rules
from chunk_assets.converters.pdf.graphics import Drawing, read_drawing
from chunk_assets.converters.pdf.model import Box, PageText, Style, Word
from chunk_assets.converters.pdf.native import address, native, page_text
from chunk_assets.converters.pdf.styles import StyleReader

# A hyphen that PDFium takes for a word break ends its word: what follows is on the next line.
_WORD = re.compile(r"[^\s\x00-\x20\ufffe]+[\x02\ufffe]?")
_BREAK = re.compile(r"\r\n?|[\n\x02\ufffe]")
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_JUNK = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFEFF, 0xAD, 0x200B], None)
_UNCLEAN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\ufb00-\ufb06\ufeff\ufffe]")
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_UNMAPPED = re.compile("[\x00\x01\x03-\x08\x0e-\x1f\ue000-\uf8ff\ufffd]")
_NO_LETTER = re.compile("[^A-Za-z]+")
_SAMPLE = 1_500
# Share of the page under pictures from which on text may stand on a picture, or be a scan's layer.
_SOME_PICTURE = 0.02


class Spans(NamedTuple):
    """Where the words are in the page's text, which of PDFium's lines each stands on, where lines end."""

    starts: list[int]
    ends: list[int]
    lines: list[int]
    line_ends: list[int]


def read_page(page: Any, number: int) -> PageText:
    """Words, rules and pictures of one page; hidden words are left out and counted by reason.

    ``page`` is a ``pypdfium2.PdfPage``. Costs are linear in characters and drawing objects.
    """
    text_page = page.get_textpage()
    try:
        text = page_text(text_page.raw)
        spans = _spans(text)
        at = address(text_page.raw)
        flat = _corners(at, spans)
        heights = [round(top - bottom, 2) for top, bottom in zip(flat[1::8], flat[3::8], strict=True)]
        reader = StyleReader(at)
        styles = reader.of_each(spans.starts, heights)
        drawing = read_drawing(address(page.raw))
        covered = covered_words(address(page.raw), drawing.solids, reader.object_at, spans.starts, flat)
    finally:
        text_page.close()
    vertical = bool(_EAST_ASIAN.search(text)) and _is_stacked(spans, flat, styles)
    if vertical:
        # Vertical writing runs down as text turned by a quarter does.
        styles = relative(styles, 90)
    for seq in covered:
        styles[seq] = replace(styles[seq], flaw="covered")
    result = _page(number, text, spans, flat, styles, drawing, page.get_bbox())
    result.vertical = vertical
    return result


def _page(
    number: int,
    text: str,
    spans: Spans,
    flat: list[float],
    styles: list[Style],
    drawing: Drawing,
    bounds: tuple[float, float, float, float],
) -> PageText:
    """The page turned so that most of its text runs to the right, without what can't be seen."""
    angle = prevailing_angle(styles, map(sub, spans.ends, spans.starts))
    left, bottom, right, top = bounds
    page = PageText(number, turned(left, top, right, bottom, angle), [])
    page.picture_share = drawing.picture_share(bounds)
    page.drawn = drawing.objects
    page.across, page.down = turned_rules(drawing.across, drawing.down, angle)
    if angle:
        styles = relative(styles, angle)
    words = _words(text, spans, _boxes(flat, angle), styles)
    page.words = _mended(_visible(words, page, drawing, angle), _spaced_lines(text, spans.line_ends))
    page.letters = len(text)
    page.doubtful = len(_UNMAPPED.findall(text))
    page.garbled = _is_garbled(text)
    return page


def _spans(text: str) -> Spans:
    """The words of a page; a hyphen at a line's end starts a new line too."""
    found = [match.span() for match in _WORD.finditer(text)]
    starts = [start for start, _ in found]
    lines: list[int] = []
    line_ends = [match.end() for match in _BREAK.finditer(text)] + [len(text)]
    for line, end in enumerate(line_ends):
        passed = len(lines)
        lines += [line] * (bisect_left(starts, end, passed) - passed)
    return Spans(starts, [end for _, end in found], lines, line_ends)


def _corners(text_page: int, spans: Spans) -> list[float]:
    """Left, top, right, bottom of the first and of the last character of every word, in a row."""
    boxes = (ctypes.c_float * (8 * len(spans.starts)))()
    cursor = ctypes.addressof(boxes)
    loose = native().loose_box
    for start, end in zip(spans.starts, spans.ends, strict=True):
        loose(text_page, start, cursor)
        loose(text_page, end - 1, cursor + 16)
        cursor += 32
    return boxes[:]


def _boxes(flat: list[float], angle: int) -> list[tuple[float, float, float, float]]:
    """The words' boxes in the reading frame."""
    corners = zip(*[iter(flat)] * 8, strict=True)
    if angle == 0:
        # Conditions instead of min and max, which take three times as long.
        return [
            (
                l1 if l1 < l2 else l2,  # noqa: FURB136 - see above
                -t1 if t1 > t2 else -t2,
                r1 if r1 > r2 else r2,  # noqa: FURB136 - see above
                -b1 if b1 < b2 else -b2,
            )
            for l1, t1, r1, b1, l2, t2, r2, b2 in corners
        ]
    return [
        turned(min(l1, l2), max(t1, t2), max(r1, r2), min(b1, b2), angle)
        for l1, t1, r1, b1, l2, t2, r2, b2 in corners
    ]


def _words(
    text: str, spans: Spans, boxes: list[tuple[float, float, float, float]], styles: list[Style]
) -> list[Word]:
    """The words with clean text, some perhaps empty."""
    text = text.replace("\x02", "-").replace("\ufffe", "-")
    if _UNCLEAN.search(text) or not unicodedata.is_normalized("NFC", text):
        texts = [_clean(text[start:end]) for start, end in zip(spans.starts, spans.ends, strict=True)]
    else:
        texts = [text[start:end] for start, end in zip(spans.starts, spans.ends, strict=True)]
    # A page has hundreds of words: this makes the named tuples in half the time of their own call.
    make = tuple.__new__
    rows = zip(texts, boxes, styles, spans.lines, range(len(texts)), strict=True)
    return [make(Word, (word, *box, style, line, seq)) for word, box, style, line, seq in rows]


def _clean(text: str) -> str:
    """Word text in NFC: ligatures spelled out, no control characters."""
    text = _LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    return unicodedata.normalize("NFC", text.translate(_JUNK))


def _is_stacked(spans: Spans, flat: list[float], styles: list[Style]) -> bool:
    """Whether most letters stand under each other: vertical writing."""
    total = down = 0
    lengths = map(sub, spans.ends, spans.starts)
    for length, corner, style in zip(lengths, range(0, len(flat), 8), styles, strict=True):
        total += length
        height = flat[corner + 1] - flat[corner + 7]
        if length > 1 and style.angle == 0 and height > 1.8 * abs(flat[corner + 6] - flat[corner]):
            down += length
    return down * 2 > total


def _is_garbled(text: str) -> bool:
    """Whether Latin text has a share of vowels that no language has: a sign of a wrong character map."""
    letters = _NO_LETTER.sub("", text[:_SAMPLE]).lower()
    if len(letters) < 200:
        return False
    return not 0.22 <= sum(map(letters.count, "aeiouy")) / len(letters) <= 0.68


def _visible(words: list[Word], page: PageText, drawing: Drawing, angle: int) -> list[Word]:
    """The words a reader sees; the others are counted in ``page.hidden`` by reason."""
    if not any(style.flaw for style in {word.style for word in words}) and _all_inside(words, page.box):
        return [word for word in words if word.text]
    fills = [turned(*fill, angle) for fill in drawing.fills]
    seen = []
    for word in words:
        reason = _unseen(word, page, fills, drawing.shaded)
        if reason:
            page.hidden[reason] = page.hidden.get(reason, 0) + 1
        elif word.text:
            seen.append(word)
    return seen


def _all_inside(words: list[Word], box: Box) -> bool:
    left, top, right, bottom = box
    return all(
        left <= word.x0 and word.x1 <= right and top <= word.top and word.bottom <= bottom for word in words
    )


def _unseen(word: Word, page: PageText, fills: list[Box], shaded: bool) -> str:
    """Why no reader sees the word, or ""."""
    left, top, right, bottom = page.box
    x, y = (word.x0 + word.x1) / 2, (word.top + word.bottom) / 2
    if not (left - 2 <= x <= right + 2 and top - 2 <= y <= bottom + 2):
        return "off the page"
    flaw = word.style.flaw
    if flaw == "invisible":
        # The text layer of a scan is drawn invisibly over its picture: that is the text to keep.
        return "" if page.picture_share > _SOME_PICTURE else flaw
    if flaw == "white":
        backed = any(f.x0 <= x <= f.x1 and f.top <= y <= f.bottom for f in fills)
        return "" if backed or shaded or page.picture_share > _SOME_PICTURE else flaw
    return flaw


def _spaced_lines(text: str, line_ends: list[int]) -> set[int]:
    """Numbers of the lines with five words or more that are of three letters or fewer on average."""
    found = set()
    start = 0
    for line, end in enumerate(line_ends):
        gaps = text.count(" ", start, end)
        if gaps >= 4 and end - start < 4.2 * (gaps + 1):
            found.add(line)
        start = end
    return found


def _mended(words: list[Word], spaced: set[int]) -> list[Word]:
    """Words that letter-spacing has cut to pieces are put together again.

    A line of short pieces is held for letter-spaced when its gaps are of two clearly different
    kinds; only the narrow ones, under a usual word space, are closed.
    """
    if not spaced:
        return words
    lines: dict[int, list[Word]] = {line: [] for line in spaced}
    for word in words:
        if word.line in spaced:
            lines[word.line].append(word)
    result = [word for word in words if word.line not in spaced]
    for line in lines.values():
        result.extend(_mended_line(line) if len(line) >= 5 else line)
    return sorted(result, key=lambda word: word.seq)


def _mended_line(line: list[Word]) -> list[Word]:
    gaps = [(right.x0 - left.x1) / max(left.style.size, 1.0) for left, right in pairwise(line)]
    near = sorted(gap for gap in gaps if -0.5 < gap < 1.2)
    narrow = [gap for gap in near if gap < 0.18]
    wide = [gap for gap in near if gap >= 0.18]
    if not narrow or not wide or wide[0] < 2 * narrow[-1] or len(narrow) * 4 < len(near):
        return line
    result = [line[0]]
    for gap, word in zip(gaps, line[1:], strict=True):
        last = result[-1]
        if -0.5 < gap < 0.18:
            box = (
                min(last.x0, word.x0),
                min(last.top, word.top),
                max(last.x1, word.x1),
                max(last.bottom, word.bottom),
            )
            result[-1] = Word(last.text + word.text, *box, last.style, last.line, last.seq)
        else:
            result.append(word)
    return result
