"""Words to line fragments: what stands side by side without a gap wider than a word space."""

from __future__ import annotations

from collections.abc import Iterable

from chunk_assets.converters.pdf.model import Line, Word, line_of

# In type sizes: a wider gap parts two fragments of a line.
WIDE_GAP = 1.15


def fragments(words: Iterable[Word]) -> list[Line]:
    """Fragments in PDFium's order. Words of one fragment are neighbours in order and place."""
    found: list[Line] = []
    current: list[Word] = []
    for word in words:
        if current and not _continues(current[-1], word):
            found.append(line_of(current))
            current = []
        current.append(word)
    if current:
        found.append(line_of(current))
    return found


def _continues(last: Word, word: Word) -> bool:
    if word.line != last.line or word.style.angle != last.style.angle:
        return False
    if word.style.angle != 0:
        return True
    reach = WIDE_GAP * max(last.style.size, word.style.size, 4.0)
    gap = word.x0 - last.x1
    if gap > reach or last.x0 - word.x1 > reach:
        return False
    middle = (word.top + word.bottom) / 2
    return (
        last.top - 1 <= middle <= last.bottom + 1 or word.top <= (last.top + last.bottom) / 2 <= word.bottom
    )


def rows_of(words: Iterable[Word]) -> list[list[Word]]:
    """Words grouped into visual rows, top to bottom, each row from left to right.

    A word belongs to a row when its middle lies within the row's first word, or the other way round.
    """
    rows: list[list[Word]] = []
    middle = bottom = float("-inf")
    for word in sorted(words, key=_middle):
        here = (word.top + word.bottom) / 2
        if rows and (
            here <= middle + 0.3 * (word.bottom - word.top) or here < bottom - 0.55 * (word.bottom - word.top)
        ):
            rows[-1].append(word)
        else:
            rows.append([word])
            bottom = word.bottom
            middle = here
    for row in rows:
        row.sort(key=_left)
    return rows


def _middle(word: Word) -> tuple[float, float]:
    return (word.top + word.bottom) / 2, word.x0


def _left(word: Word) -> tuple[float, int]:
    return word.x0, word.seq
