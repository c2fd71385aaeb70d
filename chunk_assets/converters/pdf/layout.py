"""A page's words to ordered lines and tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from chunk_assets.converters.pdf.blocks import as_lines, with_bullets
from chunk_assets.converters.pdf.frame import mirror
from chunk_assets.converters.pdf.initials import with_initials
from chunk_assets.converters.pdf.lattice import ruled_tables
from chunk_assets.converters.pdf.leaders import with_leaders
from chunk_assets.converters.pdf.lines import fragments
from chunk_assets.converters.pdf.model import Block, Line, PageText, Table
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
    if page.leftward:
        mirror(page)
    ruled, rest = ruled_tables(page.words, page.across, page.down)
    aligned, lines = open_tables(with_bullets(with_leaders(fragments(rest))))
    flat = with_initials([line for line in lines if line.angle == 0])
    pieces: list[Line | Table] = [*flat, *ruled, *aligned]
    ordered = as_lines(in_order(pieces))
    # Text that runs in other directions (stamps, labels of axes) would only break sentences up.
    ordered.extend(line for line in lines if line.angle != 0)
    for piece in ordered:
        if isinstance(piece, Line):
            piece.words = []
    page.words, page.across, page.down = [], [], []
    return LaidPage(page, ordered)
