"""One page of a PDF as words with boxes, turned upright."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import partial
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any

from chunk_assets.converters.pdf.covers import covered_words
from chunk_assets.converters.pdf.filled import in_places
from chunk_assets.converters.pdf.frame import prevailing_angle, relative, turned, turned_corners, turned_rules
from chunk_assets.converters.pdf.graphics import Drawing, read_drawing
from chunk_assets.converters.pdf.model import Box, PageText, Style, Word
from chunk_assets.converters.pdf.native import address, native, page_text, run
from chunk_assets.converters.pdf.raised import Raised, RaisedReader, closed_up, with_raised
from chunk_assets.converters.pdf.spans import Spans, spans_of
from chunk_assets.converters.pdf.styles import StyleReader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LIGATURES = re.compile("[\ufb00-\ufb06]")
_JUNK = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFEFF, 0xAD, 0x200B], None)
_UNCLEAN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\ufb00-\ufb06\ufeff\ufffe]")
_NO_LETTERS = bytes(code for code in range(256) if not chr(code).isalpha() or code > 0x7F)
_SAMPLE = 1_500
OFF_PAGE = "off the page"
# Share of the page under pictures from which on text may stand on a picture, or be a scan's layer.
_SOME_PICTURE = 0.02


def read_page(page: Any, number: int, own: int | None = None) -> PageText:
    """Words, rules and pictures of one page; hidden words are left out and counted by reason.

    Characters from number ``own`` on are values of form fields. ``page`` is a ``pypdfium2.PdfPage``. Costs
    are linear in characters and drawing objects.
    """
    import numpy as np
    from pypdfium2 import raw

    text_page = raw.FPDFText_LoadPage(page.raw)
    if not text_page:
        raise RuntimeError(f"PDFium can't load the text of page {number}")
    try:
        text = page_text(text_page)
        spans = spans_of(text)
        at = address(text_page)
        corners = _corners(at, spans)
        reader = StyleReader(at)
        heights = np.round(corners[:, 1] - corners[:, 3], 2).tolist()
        styles = reader.of_each(spans.starts.tolist(), heights)
        drawing = read_drawing(address(page.raw))
        covered = covered_words(address(page.raw), drawing, corners, reader.objects)
        vertical = spans.east_asian and _is_stacked(spans, corners, styles)
        if vertical:
            # Vertical writing runs down as text turned by a quarter does.
            styles = relative(styles, 90)
        for seq in covered:
            styles[seq] = replace(styles[seq], flaw="covered")
        angle = prevailing_angle(styles, (spans.ends - spans.starts).tolist())
        corners = turned_corners(corners, angle)
        raised = {} if vertical else RaisedReader(at, text, spans, corners, angle).find()
    finally:
        raw.FPDFText_ClosePage(text_page)
    result = _page(number, drawing, page.get_bbox(), angle)
    if angle:
        styles = relative(styles, angle)
    boxes = _boxes(corners)
    words = _words(text, spans, boxes, styles, raised)
    if any(style.flaw for style in set(styles)) or not _all_inside(boxes, result.box):
        words = _visible(words, result, drawing, angle)
    words = closed_up([word for word in words if word.text], raised)
    words = _mended(words, _spaced_lines(text, spans.line_ends))
    result.words = words if own is None else in_places(words, int(np.searchsorted(spans.starts, own)))
    result.letters = len(text)
    result.doubtful = spans.unmapped
    result.garbled = _is_garbled(text)
    result.vertical, result.leftward = vertical, spans.leftward
    return result


def _page(number: int, drawing: Drawing, bounds: tuple[float, float, float, float], angle: int) -> PageText:
    """The page without its text, turned so that most of its text runs to the right."""
    left, bottom, right, top = bounds
    page = PageText(number, turned(left, top, right, bottom, angle), [])
    page.picture_share = drawing.picture_share(bounds)
    page.drawn = drawing.objects
    page.across, page.down = turned_rules(drawing.across, drawing.down, angle)
    return page


def _corners(text_page: int, spans: Spans) -> NDArray[np.float64]:
    """Left, top, right, bottom of the first and of the last character of every word: shape (words, 8)."""
    import numpy as np

    count = len(spans.starts)
    boxes = np.zeros((count, 8), np.float32)
    at = boxes.ctypes.data
    loose = native().loose_box
    run(map(loose, repeat(text_page), spans.starts.tolist(), range(at, at + 32 * count, 32)))
    longer = spans.ends - spans.starts > 1
    several = np.flatnonzero(longer)
    lasts = spans.ends[several] - 1
    run(map(loose, repeat(text_page), lasts.tolist(), (at + 16 + 32 * several).tolist()))
    boxes[~longer, 4:] = boxes[~longer, :4]
    return boxes.astype(np.float64)


def _boxes(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """The words' left, top, right and bottom sides: shape (4, words)."""
    import numpy as np

    first, last = corners[:, :4].T, corners[:, 4:].T
    return np.concatenate((np.minimum(first[:2], last[:2]), np.maximum(first[2:], last[2:])))


def _words(
    text: str, spans: Spans, boxes: NDArray[np.float64], styles: list[Style], raised: Raised
) -> list[Word]:
    """The words with clean text, some perhaps empty."""
    text = text.replace("\x02", "-").replace("\ufffe", "-")
    texts = [text[start:end] for start, end in zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)]
    for seq, span in raised.items():
        texts[seq] = with_raised(texts[seq], span)
    if _UNCLEAN.search(text) or not unicodedata.is_normalized("NFC", text):
        texts = list(map(_clean, texts))
    # A page has hundreds of words: this makes the named tuples in a third of the time of their own call.
    rows = zip(texts, *boxes.tolist(), styles, spans.lines.tolist(), range(len(texts)), strict=True)
    return list(map(partial(tuple.__new__, Word), rows))


def _clean(text: str) -> str:
    """Word text in NFC: ligatures spelled out, no control characters."""
    text = _LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    return unicodedata.normalize("NFC", text.translate(_JUNK))


def _is_stacked(spans: Spans, corners: NDArray[np.float64], styles: list[Style]) -> bool:
    """Whether most letters stand under each other: vertical writing."""
    import numpy as np

    lengths = spans.ends - spans.starts
    upright = np.array([style.angle == 0 for style in styles], bool)
    tall = corners[:, 1] - corners[:, 7] > 1.8 * np.abs(corners[:, 6] - corners[:, 0])
    return bool(lengths[(lengths > 1) & upright & tall].sum() * 2 > lengths.sum())


def _is_garbled(text: str) -> bool:
    """Whether Latin text has a share of vowels that no language has: a sign of a wrong character map."""
    letters = text[:_SAMPLE].encode("ascii", "ignore").translate(None, _NO_LETTERS).lower()
    if len(letters) < 200:
        return False
    return not 0.22 <= sum(map(letters.count, b"aeiouy")) / len(letters) <= 0.68


def _visible(words: list[Word], page: PageText, drawing: Drawing, angle: int) -> list[Word]:
    """The words a reader sees; the others are counted in ``page.hidden`` by reason."""
    fills = [turned(*fill, angle) for fill in drawing.fills]
    seen: list[Word] = []
    left, top, right, bottom = page.box
    for word in words:
        on_page = left <= word.x0 and word.x1 <= right and top <= word.top and word.bottom <= bottom
        if on_page and not word.style.flaw:
            seen.append(word)
            continue
        reason = _unseen(word, page, fills, drawing.shaded)
        if reason == OFF_PAGE and seen and _runs_on(seen[-1], word):
            reason = ""
        if reason:
            page.hidden[reason] = page.hidden.get(reason, 0) + 1
        else:
            seen.append(word)
    return seen


def _runs_on(last: Word, word: Word) -> bool:
    """Whether ``word`` goes on with the line of ``last``: a line too long for its page, not hidden text."""
    return word.line == last.line and -1 < word.x0 - last.x1 < 2 * word.style.size


def _all_inside(boxes: NDArray[np.float64], box: Box) -> bool:
    if not boxes.size:
        return True
    (left, top), (right, bottom) = boxes[:2].min(axis=1).tolist(), boxes[2:].max(axis=1).tolist()
    return bool(box.x0 <= left and right <= box.x1 and box.top <= top and bottom <= box.bottom)


def _unseen(word: Word, page: PageText, fills: list[Box], shaded: bool) -> str:
    """Why no reader sees the word, or ""."""
    left, top, right, bottom = page.box
    x, y = (word.x0 + word.x1) / 2, (word.top + word.bottom) / 2
    if not (left - 2 <= x <= right + 2 and top - 2 <= y <= bottom + 2):
        return OFF_PAGE
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
