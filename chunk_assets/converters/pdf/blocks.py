"""Ordered lines to paragraphs, list items and tables of one page."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chunk_assets.converters.pdf.model import Block, Line, Table, line_of
from chunk_assets.converters.pdf.raised import RAISED

BULLETS = "•◦▪▫■□●○‣⁃∙·➢➤►▶✓✔❖◆◇⬥\uf0b7\uf0a7\uf0d8\uf0fc\uf076"
_BULLET = re.compile(rf"^(?:[{BULLETS}]|[-–—o\ue000-\uf8ff](?=\s))\s*(?=\S|$)")
_LONE = re.compile(rf"[{BULLETS}\ue000-\uf8ff]")
_NUMBER = re.compile(r"^(\(?(?:\d{1,3}|[a-zA-Z]|[ivxlIVXL]{1,6})[.)])\s+(?=\S)")
_LEADER = re.compile(r"(?:\s?[.·…_]){4,}\s*")
# What every row of dots has in it; most lines have none, and this tells so at once.
_LEADER_MARKS = re.compile(r"\.\.\.|\. \.|··|· ·|……|… …|___")
# The dots that lead to a page number at the line's end, or the line to write on in a form.
_LEADS = re.compile(r"(?:\s?[.·…]){4,}\s*\S{0,8}$|_{3}")
_ENDS = re.compile(rf"[.!?:;。！？：；]['\"”’»)\]]*[\d{RAISED}]{{0,2}}$")


def as_lines(pieces: Sequence[Line | Table]) -> list[Line | Table]:
    """Neighbouring fragments of one visual line made one line again."""
    lines: list[Line | Table] = []
    for piece in pieces:
        last = lines[-1] if lines else None
        if isinstance(piece, Line) and isinstance(last, Line) and _same_row(last, piece):
            lines[-1] = line_of(last.words + piece.words)
        else:
            lines.append(piece)
    return lines


def _same_row(last: Line, piece: Line) -> bool:
    if last.angle != 0 or piece.angle != 0:
        return False
    overlap = min(last.bottom, piece.bottom) - max(last.top, piece.top)
    beside = piece.x0 >= last.x1 - 2
    return beside and overlap > 0.5 * min(last.bottom - last.top, piece.bottom - piece.top)


def with_bullets(lines: list[Line]) -> list[Line]:
    """Bullets that stand alone, often written before or after all texts, put before their lines."""
    alone = [line for line in lines if len(line.text) == 1 and _LONE.match(line.text)]
    if not alone or len(alone) > 400:
        return lines
    owners: dict[int, Line] = {}
    for bullet in alone:
        middle = (bullet.top + bullet.bottom) / 2
        beside = [
            line
            for line in lines
            if line.top < middle < line.bottom
            and 0 <= line.x0 - bullet.x1 < 4 * line.size
            and len(line.text) > 1
        ]
        if beside:
            owner = min(beside, key=lambda line: line.x0)
            if owner.seq not in owners:
                owners[owner.seq] = bullet
    joined = {bullet.seq for bullet in owners.values()}
    result = []
    for line in lines:
        if line.seq in owners:
            merged = line_of(owners[line.seq].words + line.words)
            merged.seq = line.seq
            result.append(merged)
        elif line.seq not in joined:
            result.append(line)
    return result


def as_blocks(pieces: Sequence[Line | Table]) -> list[Block]:
    """Paragraphs of lines that belong together by place, size and leading; tables stand alone."""
    blocks: list[Block] = []
    lines = [piece for piece in pieces if isinstance(piece, Line)]
    page = _Page(_leading(lines), _RightEdges(lines), any([has_leader(line.text) for line in lines]))  # noqa: C419 - a list is faster
    for piece in pieces:
        if isinstance(piece, Table):
            blocks.append(Block("table", [], piece))
            continue
        if blocks and blocks[-1].lines and _continues(blocks[-1], piece, page):
            blocks[-1].lines.append(piece)
            if page.dotted and blocks[-1].kind == "text" and leads_on(piece.text):
                blocks[-1].kind = "leader"
        else:
            blocks.append(_new_block(piece, page.dotted))
    return blocks


def _new_block(line: Line, dotted: bool) -> Block:
    text = line.text
    if line.angle != 0:
        return Block("note", [line])
    if line.mono:
        return Block("code", [line])
    if dotted and leads_on(text):
        return Block("leader", [line])
    bullet = _BULLET.match(text)
    if bullet:
        return Block("item", [line], marker="-")
    number = _NUMBER.match(text)
    if number:
        return Block("item", [line], marker=number.group(1))
    return Block("text", [line])


def has_leader(text: str) -> bool:
    """Whether a row of dots or the like leads from a title to a page number."""
    return bool(_LEADER_MARKS.search(text)) and bool(_LEADER.search(text))


def leads_on(text: str) -> bool:
    """Whether the line ends in such a row of dots, with or without a number after it."""
    return has_leader(text) and bool(_LEADS.search(text))


def _leading(lines: Sequence[Line]) -> float:
    """The usual distance between the tops of a line and the next, in line sizes."""
    steps = sorted(
        (below.top - above.top) / max(above.size, 1.0)
        for above, below in itertools.pairwise(lines)
        if 0 < below.top - above.top < 3 * max(above.size, 1.0)
    )
    return min(max(steps[len(steps) // 2], 1.0), 2.2) if steps else 1.3


class _RightEdges(dict[int, float]):
    """By ``seq``, how far to the right the lines near a line reach that start where it starts."""

    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__()
        self._lines = lines
        self._places = {line.seq: place for place, line in enumerate(lines)}

    def __missing__(self, seq: int) -> float:
        # Few lines are asked for, so each is worked out when it is.
        place = self._places[seq]
        near, left = self._lines[max(place - 3, 0) : place + 6], self._lines[place].x0
        edge = self[seq] = max([other.x1 for other in near if abs(other.x0 - left) < 4])
        return edge


@dataclass(frozen=True, slots=True)
class _Page:
    """What the lines of a page have in common; ``dotted`` says that some have rows of dots."""

    leading: float
    rights: Mapping[int, float]
    dotted: bool


def _continues(block: Block, line: Line, page: _Page) -> bool:
    """Whether ``line`` goes on with the paragraph or item ``block``."""
    last = block.lines[-1]
    if last.angle != line.angle or line.mono != (block.kind == "code"):
        return False
    if block.kind == "code":
        return -2 < line.top - last.top <= 3 * last.size
    if abs(last.size - line.size) > max(0.12 * last.size, 0.6) or last.bold != line.bold:
        return _is_tail(block, last, line)
    if _starts_item(line) and (_is_outside(block, line) or not _is_hanging_number(last, line)):
        return False
    if not _is_below(last, line, page.leading) or (page.dotted and _ends_entry(last, line)):
        return False
    if block.kind == "item" and line.x0 < block.lines[0].x0 - 2:
        # The text of an indented bullet may run on at the margin, but only if its line was full.
        return not _ENDS.search(last.text) and page.rights[line.seq] - last.x1 < line.first_width + line.size
    return not _indented(block, last, line) and not _broken_off(block, last, line, page.rights)


def _ends_entry(last: Line, line: Line) -> bool:
    """Whether ``last`` is the end of an entry of a table of contents, or ``line`` is one by itself."""
    return leads_on(last.text) or (last.text[-1:].isdigit() and leads_on(line.text))


def _is_below(last: Line, line: Line, leading: float) -> bool:
    """Whether ``line`` follows ``last`` at the usual distance and in the same column."""
    step = line.top - last.top
    near = 0 < step <= (leading * 1.3 + 0.1) * max(last.size, line.size)
    return near and line.x0 <= last.x1 and line.x1 >= last.x0


def _broken_off(block: Block, last: Line, line: Line, rights: Mapping[int, float]) -> bool:
    """Whether ``last`` ended on purpose: the next line's first word would have had room in it."""
    if line.text[:1].islower() or last.text.endswith((",", "-", "(")) or abs(last.x0 - line.x0) > 2:
        return False
    right = max(rights[last.seq], *[item.x1 for item in block.lines], line.x1)
    # Ragged lines end early by chance; without a full stop the room must be clear.
    spare = 0.6 if _ENDS.search(last.text) else 2.0
    return line.first_width + spare * last.size < right - last.x1


def _is_tail(block: Block, last: Line, line: Line) -> bool:
    """A line that differs in weight only because of a bold run still belongs to its sentence."""
    if abs(last.size - line.size) > 0.6 or _ENDS.search(last.text):
        return False
    starts_small = line.text[:1].islower()
    step = line.top - last.top
    return (
        (last.mixed or starts_small)
        and 0 < step < 1.7 * last.size
        and line.x0 < last.x1
        and len(block.lines) < 40
    )


def _starts_item(line: Line) -> bool:
    text = line.text
    return bool(_BULLET.match(text) or _NUMBER.match(text))


def _is_outside(block: Block, line: Line) -> bool:
    """Whether the line starts no farther right than the list item ``block``, so not within its text."""
    return block.kind == "item" and line.x0 < block.lines[0].x0 + 2


def _is_hanging_number(last: Line, line: Line) -> bool:
    """No list item if the line above is unfinished: a sentence may break before a figure."""
    number = _NUMBER.match(line.text)
    return bool(number) and not _ENDS.search(last.text) and line.x0 <= last.x0 + 1 and last.x1 >= line.x1 - 2


def _indented(block: Block, last: Line, line: Line) -> bool:
    """Whether the line starts a paragraph by its indent, or follows a paragraph's short last line."""
    if block.kind == "item":
        return line.x0 < block.lines[0].x0 - 2 or (
            line.x0 <= block.lines[0].x0 + 1 and bool(_ENDS.search(last.text))
        )
    if line.x0 > last.x0 + 0.8 * line.size and len(block.lines) >= 1:
        return bool(_ENDS.search(last.text)) or len(block.lines) > 1
    right = max(item.x1 for item in block.lines)
    short = last.x1 < right - 0.25 * (right - last.x0) and right - last.x0 > 12 * last.size
    return short and bool(_ENDS.search(last.text)) and not line.text[:1].islower()


def strip_marker(block: Block, text: str) -> str:
    """The item's text without its bullet or number."""
    pattern = _BULLET if block.marker == "-" else _NUMBER
    return pattern.sub("", text, count=1).strip()


def without_leader(text: str) -> str:
    """A line of a table of contents with its row of dots made one ellipsis."""
    return _LEADER.sub(" … ", text).strip()
