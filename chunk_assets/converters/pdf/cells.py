"""What both kinds of tables share: the text of a cell, and rows that hold several rows."""

from __future__ import annotations

from collections.abc import Sequence

from chunk_assets.converters.pdf.joining import join_lines
from chunk_assets.converters.pdf.lines import rows_of
from chunk_assets.converters.pdf.model import Word


def cell_text(words: Sequence[Word]) -> str:
    """The words of a cell in reading order, on one line."""
    if len(words) < 2:
        return words[0].text if words else ""
    if any(word.style.angle != 0 for word in words):
        return " ".join([word.text for word in sorted(words, key=lambda word: word.seq)])
    return join_lines([" ".join([word.text for word in row]) for row in rows_of(words)])


def trimmed(rows: list[list[str]]) -> list[list[str]]:
    """The rows without empty rows and columns."""
    rows = [row for row in rows if any(row)]
    if not rows:
        return []
    keep = [index for index in range(len(rows[0])) if any(row[index] for row in rows)]
    return [[row[index] for index in keep] for row in rows]


def split_rows(groups: Sequence[Sequence[Word]]) -> list[list[str]] | None:
    """The logical rows of one drawn row, or None when it holds a single one.

    A drawn row is several when at least two of its cells have the same number of lines at the same
    heights, three or more, and every other filled cell keeps to those heights.
    """
    stacks = [rows_of(group) if group else [] for group in groups]
    counts = [len(stack) for stack in stacks if stack]
    if len(counts) < 2 or max(counts) < 3 or sum(count == max(counts) for count in counts) < 2:
        return None
    tallest = next(stack for stack in stacks if len(stack) == max(counts))
    levels = [(row[0].top + row[0].bottom) / 2 for row in tallest]
    reach = min((row[0].bottom - row[0].top) / 2 for row in tallest)
    table = [[""] * len(stacks) for _ in levels]
    for column, stack in enumerate(stacks):
        for row in stack:
            middle = (row[0].top + row[0].bottom) / 2
            level = min(range(len(levels)), key=lambda index: abs(levels[index] - middle))
            if abs(levels[level] - middle) > reach:
                return None
            table[level][column] = " ".join([word.text for word in row])
    return table if _looks_split(table) else None


def _looks_split(table: list[list[str]]) -> bool:
    """Whether the lines are rows rather than wrapped prose: mostly filled, figures in some column."""
    columns = [column for column in zip(*table, strict=True) if any(column)]
    filled = sum(1 for row in table for cell in row if cell)
    figures = sum(
        1 for column in columns if all(any(c.isdigit() for c in cell) or len(cell) <= 2 for cell in column)
    )
    return filled * 10 >= 8 * len(table) * len(columns) and figures > 0
