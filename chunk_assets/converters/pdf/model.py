"""The nouns of PDF layout: words, lines, tables and blocks in the frame of an upright reader.

Coordinates are points in the reading frame: x grows in reading direction, y grows down the page.
``read_page`` turns the page so that its prevailing text is upright, so nothing here knows rotation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True, eq=False)
class Style:
    """How a text object is drawn; one object for all words of a page that are drawn alike.

     ``angle`` is -1 when it is no right angle.

    ``flaw`` is why a reader can't see the text ("" when it can be seen).
    """

    size: float
    bold: bool
    angle: int
    flaw: str = ""
    mono: bool = False


class Box(NamedTuple):
    """A rectangle of the page: left, top, right, bottom."""

    x0: float
    top: float
    x1: float
    bottom: float


class Word(NamedTuple):
    """A run of text without white space; ``line`` is PDFium's line number, ``seq`` its own order."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    style: Style
    line: int
    seq: int


class Rule(NamedTuple):
    """A straight line: at ``at`` on its own axis, from ``start`` to ``end`` on the other one."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class PageText:
    """All that is read of one page. ``number`` counts from 1; ``leftward`` text runs from right to left."""

    number: int
    box: Box
    words: list[Word]
    across: list[Rule] = field(default_factory=list)
    down: list[Rule] = field(default_factory=list)
    letters: int = 0
    picture_share: float = 0.0
    drawn: int = 0
    doubtful: int = 0
    garbled: bool = False
    vertical: bool = False
    leftward: bool = False
    recognised: bool = False
    hidden: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Line:
    """Words side by side, in reading order, with nothing but word spaces between them.

    ``words`` may be emptied once the layout is known, to keep long documents small; ``text`` stays.
    ``mixed`` says that some, not all, of the letters are bold. ``first_width`` is the first word's;
    ``mono`` says that all of it is in a type of fixed pitch.
    """

    words: list[Word]
    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool
    mixed: bool
    angle: int
    seq: int
    first_width: float
    mono: bool


@dataclass(slots=True)
class Table:
    """Rows of cell texts, all of one length; the first row is the header. ``ruled`` if drawn with lines."""

    rows: list[list[str]]
    x0: float
    top: float
    x1: float
    bottom: float
    seq: int
    ruled: bool
    edges: tuple[float, ...] = ()


@dataclass(slots=True)
class Block:
    """A paragraph, heading, list item or table, on one page; ``indent`` is in blanks."""

    kind: str  # "text", "heading", "item", "table", "note", "leader", "code"
    lines: list[Line]
    table: Table | None = None
    level: int = 0
    marker: str = ""
    indent: int = 0

    @property
    def size(self) -> float:
        """Type size of the first line; 0 for tables."""
        return self.lines[0].size if self.lines else 0.0

    @property
    def bold(self) -> bool:
        """Whether every line is bold."""
        return bool(self.lines) and all(line.bold for line in self.lines)

    @property
    def text(self) -> str:
        """The plain words, with spaces for line breaks."""
        return " ".join([line.text for line in self.lines])


def line_of(words: list[Word]) -> Line:
    """The line made of ``words``, which are in reading order and not empty."""
    if len(words) == 1:
        text, x0, top, x1, bottom, style, _, seq = words[0]
        size, bold, angle, mono = style.size, style.bold, style.angle, style.mono
        return Line(words, text, x0, top, x1, bottom, size, bold, False, angle, seq, x1 - x0, mono)
    texts, lefts, tops, rights, bottoms, styles, _, seqs = zip(*words, strict=True)
    style, left, right = styles[0], lefts[0], rights[0]
    size, bold, mixed, mono = style.size, style.bold, False, style.mono
    if styles.count(style) != len(styles):
        size, bold, mixed = _prevailing(words)
        mono = mono and all([each.mono for each in styles])  # noqa: C419 - a list is faster for a few
    in_order = style.angle == 0 and lefts[-1] >= left
    return Line(
        words,
        " ".join(texts),
        left if in_order else min(lefts),
        min(tops),
        max(right, rights[-1]) if in_order else max(rights),
        max(bottoms),
        size,
        bold,
        mixed,
        style.angle,
        seqs[0],
        right - left,
        mono,
    )


def _prevailing(words: list[Word]) -> tuple[float, bool, bool]:
    """The size of most letters, whether nearly all are bold, and whether some but not all are."""
    letters: dict[float, int] = {}
    bold = total = 0
    for word in words:
        count, style = len(word.text), word.style
        total += count
        letters[style.size] = letters.get(style.size, 0) + count
        bold += count if style.bold else 0
    if len(letters) == 1:
        return next(iter(letters)), bold * 10 >= total * 9, 0 < bold < total
    size = max(letters, key=lambda key: (letters[key], key))
    return size, bold * 10 >= total * 9, 0 < bold < total
