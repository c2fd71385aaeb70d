"""Dropped capitals: the large first letter of a chapter belongs to the word beside it."""

from __future__ import annotations

import re

from chunk_assets.converters.pdf.model import Line, line_of

# How many times the height of the text beside it a dropped capital is at least.
_LARGE = 1.7
MAX_INITIALS = 20
_INITIAL = re.compile(r"[\"“‘'«]?[^\W\d_a-zß-öø-ÿ]$")
_LETTERS = re.compile(r"[^\W\d_]+")
# These letters are words as well; only such beginnings go on with them.
_WORDS = frozenset("AIO")
_REST = frozenset((
    "bout", "cross", "f", "fter", "gain", "its", "ll", "lso", "lthough", "mong", "n", "nce", "nd", "ndeed",
    "nly", "nother", "nside", "nstead", "nto", "ny", "re", "s", "t", "ther", "ur", "ut", "ver",
))  # fmt: skip


def with_initials(lines: list[Line]) -> list[Line]:
    """Lines with each dropped capital put before the first of the lines that stand beside it."""
    found = [line for line in lines if len(line.text) <= 2 and _INITIAL.match(line.text)]
    if not found or len(found) > MAX_INITIALS:
        return lines
    taken: dict[int, Line] = {}
    for initial in found:
        beside = [line for line in lines if _is_beside(initial, line)]
        first = min(beside, key=lambda line: (line.top, line.x0), default=None)
        if first is not None and first.seq not in taken and _goes_on(initial.text, first.text):
            taken[first.seq] = initial
    gone = {initial.seq for initial in taken.values()}
    return [
        _joined(taken[line.seq], line) if line.seq in taken else line
        for line in lines
        if line.seq not in gone
    ]


def _is_beside(initial: Line, line: Line) -> bool:
    """Whether ``line`` runs to the right of ``initial``, within its height and in smaller type."""
    middle = (line.top + line.bottom) / 2
    return (
        line.size * _LARGE <= initial.size
        and initial.top < middle < initial.bottom
        and -2 <= line.x0 - initial.x1 < 0.5 * initial.size
    )


def _goes_on(initial: str, text: str) -> bool:
    start = _LETTERS.match(text)
    if start is None:
        return False
    return initial[-1] not in _WORDS or start.group().lower() in _REST


def _joined(initial: Line, line: Line) -> Line:
    """The line with the capital before its first word; it keeps its place and size."""
    first = line.words[0]
    joined = line_of([first._replace(text=initial.text + first.text), *line.words[1:]])
    joined.seq = min(initial.seq, line.seq)
    return joined
