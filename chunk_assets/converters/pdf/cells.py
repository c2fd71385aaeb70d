"""What both kinds of tables share: the text of a cell, and rows that hold several rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chunk_assets.converters.pdf.joining import join_lines
from chunk_assets.converters.pdf.lines import rows_of
from chunk_assets.converters.pdf.model import Word


def cell_text(words: Sequence[Word]) -> str:
    """The words of a cell in reading order, on one line."""
    if len(words) < 2:
        return words[0].text if words else ""
    line = words[0].line
    if all([word.line == line for word in words]):  # noqa: C419 - a list is faster for a few words
        return " ".join([word.text for word in words])
    if any(word.style.angle != 0 for word in words):
        return " ".join([word.text for word in sorted(words, key=lambda word: word.seq)])
    return join_lines([" ".join([word.text for word in row]) for row in rows_of(words)])


_SIGNS_BEFORE = frozenset("$€£¥₹(")
_SIGNS_AFTER = frozenset("%)")


def trimmed(rows: list[list[str]]) -> list[list[str]]:
    """The rows without empty rows and columns; columns of mere currency signs join their figures."""
    rows = [row for row in rows if any(row)]
    if not rows:
        return []
    rows = [list(row) for row in rows]
    for index in range(len(rows[0])):
        signs = {row[index] for row in rows if row[index]}
        step = 1 if signs <= _SIGNS_BEFORE else -1 if signs <= _SIGNS_AFTER else 0
        if signs and step and 0 <= index + step < len(rows[0]):
            _merge(rows, index, step)
    keep = [index for index in range(len(rows[0])) if any(row[index] for row in rows)]
    return [[row[index] for index in keep] for row in rows]


def _merge(rows: list[list[str]], index: int, step: int) -> None:
    """Move the texts of column ``index`` to its neighbour, where the neighbour has text in all of them."""
    if not all(row[index + step] for row in rows if row[index]):
        return
    for row in rows:
        pair = (row[index], row[index + step]) if step > 0 else (row[index + step], row[index])
        row[index + step] = " ".join(filter(None, pair))
        row[index] = ""


def bulleted(rows: list[list[str]]) -> bool:
    """Whether the table is a list whose bullets stand in a column of their own."""
    marks = [row[0] for row in rows if row[0]]
    return (
        len(rows[0]) == 2 and len(marks) >= 2 and all(len(mark) == 1 and not mark.isalnum() for mark in marks)
    )


def cut_cell(words: Sequence[Word], edges: Sequence[float]) -> list[Sequence[Word]]:
    """The words of a cell over several columns, by column, if clear gaps stand at the column edges.

    Rows are often drawn without the rules between their cells. ``edges`` are the columns' borders, one
    more than there are columns. A text that runs over an edge stays in the first column.
    """
    width = len(edges) - 1
    whole: list[Sequence[Word]] = [words, *[()] * (width - 1)]
    if width < 2 or len(words) < 2 or any(word.style.angle != 0 for word in words):
        return whole
    parts: list[list[Word]] = [[] for _ in range(width)]
    for row in rows_of(words):
        last = -1
        edge = 0.0
        for word in row:
            column = min(max(bisect_right(edges, (word.x0 + word.x1) / 2) - 1, 0), width - 1)
            if last >= 0 and column != last and word.x0 - edge < 0.45 * word.style.size:
                return whole
            parts[column].append(word)
            last, edge = column, word.x1
    return list(parts) if sum(map(bool, parts)) > 1 else whole


def split_rows(groups: Sequence[Sequence[Word]]) -> list[list[str]] | None:
    """The logical rows of one drawn row, or None when it holds a single one.

    A drawn row is several when at least two of its cells have the same number of lines at the same
    heights, three or more, and every other filled cell keeps to those heights. Two lines are enough
    when all of three or more cells have them.
    """
    if sum(1 for group in groups if len(group) > 1 and group[0].line != group[-1].line) < 2:
        return None
    stacks = [rows_of(group) if group else [] for group in groups]
    counts = [len(stack) for stack in stacks if stack]
    tall = max(counts)
    if tall < 2 or sum(count == tall for count in counts) < (2 if tall > 2 else max(len(counts), 3)):
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
    named = all(cell.endswith(":") for cell in columns[0])
    return filled * 10 >= 8 * len(table) * len(columns) and (figures > 0 or named)
