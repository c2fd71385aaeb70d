"""Words to line fragments: what stands side by side without a gap wider than a word space."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from chunk_assets.converters.pdf.model import Line, Word, line_of

# In type sizes: a wider gap parts two fragments of a line, which may be cells of a table.
CELL_GAP = 0.9


def fragments(words: Iterable[Word]) -> list[Line]:
    """Fragments in PDFium's order. Words of one fragment are neighbours in order and place."""
    groups: list[list[Word]] = []
    group: list[Word] = []
    last: Word | None = None
    line_before, top_before, x1_before, style_before = -1, 0.0, 0.0, None
    for word in words:
        # Most words stand straight beside the one before, drawn alike: that is seen without a call.
        _, x0, top, x1, _, style, line, _ = word
        if (
            line == line_before
            and last is not None
            and (
                (style is style_before and top == top_before and -3 < x0 - x1_before < 3 and style.angle == 0)
                or _beside(last, word)
            )
        ):
            group.append(word)
        else:
            group = [word]
            groups.append(group)
        last = word
        line_before, top_before, x1_before, style_before = line, top, x1, style
    return [line_of(group) for group in groups]


def _beside(last: Word, word: Word) -> bool:
    """Whether ``word`` goes on with the fragment of ``last``, a word of the same line."""
    style, other = last.style, word.style
    if style is not other and style.angle != other.angle:
        return False
    if style.angle != 0:
        return True
    reach = CELL_GAP * max(style.size, other.size, 4.0)
    if word.x0 - last.x1 > reach or last.x0 - word.x1 > reach:
        return False
    if word.top == last.top:
        return True
    middle = (word.top + word.bottom) / 2
    return (
        last.top - 1 <= middle <= last.bottom + 1 or word.top <= (last.top + last.bottom) / 2 <= word.bottom
    )


Item = TypeVar("Item", bound="Word | Line")


def rows_of(words: Iterable[Word]) -> list[list[Word]]:
    """Words grouped into visual rows, top to bottom, each row from left to right."""
    return _rows(words)


def line_rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Line fragments grouped into visual rows, top to bottom, each row from left to right."""
    return _rows(lines)


def _rows(items: Iterable[Item]) -> list[list[Item]]:
    """An item belongs to a row when its middle is near that of the row's first item, or well within it."""
    rows: list[list[Item]] = []
    middle = bottom = float("-inf")
    for item in sorted(items, key=_middle):
        height = item.bottom - item.top
        here = item.top + height / 2
        if rows and (here <= middle + 0.3 * height or here < bottom - 0.55 * height):
            rows[-1].append(item)
        else:
            rows.append([item])
            bottom = item.bottom
            middle = here
    for row in rows:
        if len(row) > 1:
            row.sort(key=_left)
    return rows


def _middle(item: Word | Line) -> tuple[float, float]:
    return (item.top + item.bottom) / 2, item.x0


def _left(item: Word | Line) -> tuple[float, int]:
    return item.x0, item.seq
