"""A page's words to ordered lines and tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from chunk_assets.converters.pdf.blocks import as_lines
from chunk_assets.converters.pdf.lattice import ruled_tables
from chunk_assets.converters.pdf.lines import fragments
from chunk_assets.converters.pdf.model import Block, Line, PageText, Table, Word
from chunk_assets.converters.pdf.order import in_order
from chunk_assets.converters.pdf.stream import open_tables


@dataclass(slots=True)
class LaidPage:
    """A page in reading order: first ``pieces``, then, when the document is known, ``blocks``."""

    page: PageText
    pieces: list[Line | Table]
    blocks: list[Block] = field(default_factory=list)


def lay_out(page: PageText) -> LaidPage:
    """Tables, then lines, in reading order. The words are let go, only texts and boxes stay."""
    words = page.words
    ruled, rest = ruled_tables(words, page.across, page.down)
    aligned, rest = open_tables(rest)
    slanted: list[Word] = [word for word in rest if word.style.angle != 0]
    if slanted:
        rest = [word for word in rest if word.style.angle == 0]
    pieces: list[Line | Table] = [*fragments(rest), *ruled, *aligned]
    ordered = as_lines(in_order(pieces))
    ordered.extend(fragments(slanted))
    for piece in ordered:
        if isinstance(piece, Line):
            piece.words = []
    page.words, page.across, page.down = [], [], []
    return LaidPage(page, ordered)
