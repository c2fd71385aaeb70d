"""Laid-out pages to one markdown text: furniture, notes, headings, joins over page breaks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from chunk_assets.converters.pdf.blocks import as_blocks
from chunk_assets.converters.pdf.furniture import Furniture, find_furniture
from chunk_assets.converters.pdf.headings import body_size, mark_headings
from chunk_assets.converters.pdf.joining import join_two
from chunk_assets.converters.pdf.layout import LaidPage
from chunk_assets.converters.pdf.model import Block, Line, Table
from chunk_assets.converters.pdf.nesting import nest_items
from chunk_assets.converters.pdf.notes import goes_on, mark_notes, notes_last
from chunk_assets.converters.pdf.render import Writer, block_markdown, table_markdown

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def assemble(pages: Sequence[LaidPage], outline: Mapping[str, int], limit: int) -> tuple[Writer, Furniture]:
    """The text of all pages; stops writing once ``limit`` characters are passed."""
    lines = [piece for laid in pages for piece in laid.pieces if isinstance(piece, Line)]
    body = body_size(lines)
    _unmark_code(lines)
    furniture = find_furniture([(laid.page, laid.pieces) for laid in pages], body)
    for laid in pages:
        drop = furniture.drop.get(laid.page.number, set())
        aside = furniture.aside.get(laid.page.number, set())
        gone = drop | aside
        laid.blocks = as_blocks([p for p in laid.pieces if isinstance(p, Table) or p.seq not in gone])
        box = laid.page.box
        mark_notes(laid.blocks, body, box.bottom, box.bottom - box.top)
        lines_aside = [p for p in laid.pieces if isinstance(p, Line) and p.seq in aside]
        laid.blocks += [Block("note", [line]) for line in lines_aside]
        laid.pieces = []
    mark_headings([block for laid in pages for block in laid.blocks], body, outline)
    for laid in pages:
        nest_items(laid.blocks)
    _place_notes(pages)
    writer = Writer(limit)
    _write(writer, pages, _known_words(lines))
    return writer, furniture


def _unmark_code(lines: Sequence[Line]) -> None:
    """In a document set mostly in type of fixed pitch that type is no sign of code."""
    fixed = sum(len(line.text) for line in lines if line.mono)
    if fixed * 5 > 2 * sum(len(line.text) for line in lines):
        for line in lines:
            line.mono = False


def _known_words(lines: Sequence[Line]) -> frozenset[str]:
    """The words of the document, to tell a word broken at a line's end from a compound.

    The halves of broken words are left out: they are no words.
    """
    known: set[str] = set()
    broken = False
    if not any(line.text.endswith("-") for line in lines):
        return frozenset()
    for line in lines:
        words = _WORD.findall(line.text.lower())
        if broken:
            words = words[1:]
        broken = line.text.endswith("-")
        known.update(words[:-1] if broken else words)
    return frozenset(known)


def _place_notes(pages: Sequence[LaidPage]) -> None:
    for laid, following in pairwise([*pages, None]):
        first = next((b for b in following.blocks if b.kind != "note"), None) if following else None
        if laid is not None:
            laid.blocks = notes_last(laid.blocks, first)


def _write(writer: Writer, pages: Sequence[LaidPage], known: frozenset[str]) -> None:
    last: Block | None = None
    for laid in pages:
        writer.page(laid.page.number)
        for index, block in enumerate(laid.blocks):
            _write_block(writer, last, block, known, index == 0)
            last = block
            if writer.full:
                return


def _write_block(
    writer: Writer, last: Block | None, block: Block, known: frozenset[str], first: bool
) -> None:
    if block.table is not None:
        above = last.table if last is not None and first else None
        rest = _same_table(above, block.table) if above is not None else None
        if rest is not None:
            writer.write("\n" + table_markdown(rest, header=False) if rest.rows else "")
        else:
            writer.write(_gap(last, block) + table_markdown(block.table))
        return
    text = block_markdown(block, known)
    if last is not None and goes_on(last, block):
        tail = writer.parts[-1][-100:]
        joined = join_two(tail, text, known)
        if joined.startswith(tail):
            writer.write(joined[len(tail) :])
            return
        if joined.startswith(tail[:-1]):
            writer.drop_last_character()
            writer.write(joined[len(tail) - 1 :])
            return
    writer.write(_gap(last, block) + text)


def _gap(last: Block | None, block: Block) -> str:
    if last is None:
        return ""
    tight = last.kind == block.kind and block.kind in {"item", "leader"}
    return "\n" if tight and block.kind == "item" else "\n\n"


def _same_table(above: Table, below: Table) -> Table | None:
    """The rows of ``below`` if it goes on with ``above`` on the next page, without a repeated header."""
    if len(above.rows[0]) != len(below.rows[0]) or above.ruled != below.ruled:
        return None
    if any(abs(x - y) > 12 for x, y in zip(above.edges, below.edges, strict=False)):
        return None
    rows = below.rows[1:] if below.rows[0] == above.rows[0] else below.rows
    return Table(rows, below.x0, below.top, below.x1, below.bottom, below.seq, below.ruled, below.edges)
