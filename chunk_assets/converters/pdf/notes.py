"""Footnotes: small type with a mark, at the foot of a page, kept apart from the text above."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chunk_assets.converters.pdf.model import Block
from chunk_assets.converters.pdf.raised import RAISED

_MARK = re.compile(
    rf"^(?:[\d{RAISED}]{{1,3}}|[*∗†‡§¶#]{{1,3}}|\(\d{{1,3}}\)|[a-z])[.)]?(?:\s|(?=[A-Z\"“(]))|^(?:notes?|sources?):?\s",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"(?:table|figure|fig\.|exhibit|chart|graph|box|tabelle|abbildung|tableau)\s*\S*\d", re.IGNORECASE
)
_OPEN_END = re.compile(rf"[.!?:;。！？：；]['\"”’»)\]]*(?:\s*[\d{RAISED}]{{1,3}})?$")


def mark_notes(blocks: Sequence[Block], body: float, bottom: float, height: float) -> None:
    """Turn small marked blocks in the lower part of the page into blocks of kind ``note``.

    What follows a note in the same small type belongs to it.
    """
    last: Block | None = None
    for block in blocks:
        if block.kind not in {"text", "item"} or not block.lines:
            last = None
            continue
        small = block.size <= body - 0.9 and block.lines[0].top > bottom - 0.6 * height
        follows = last is not None and small and abs(last.size - block.size) < 0.6
        if small and (_MARK.match(block.text) or follows):
            block.kind = "note"
            last = block
        else:
            last = None


def goes_on(block: Block, following: Block) -> bool:
    """Whether the paragraph ``block`` ends inside a sentence that ``following`` goes on with."""
    if block.kind not in {"text", "item"} or following.kind != "text":
        return False
    if abs(block.size - following.size) > 0.6 or len(block.text) < 40 or _CAPTION.match(block.text):
        return False
    if _OPEN_END.search(block.text):
        return False
    start = following.text[:1]
    if start.islower() or (block.text.endswith(("-", ",")) and not start.isdigit()):
        return True
    last = block.lines[-1]
    full = last.x1 > max(line.x1 for line in block.lines) - 1.5 * last.size
    return full and len(block.lines) >= 3 and len(following.lines) >= 2 and not block.bold and start.isalnum()


def notes_last(blocks: list[Block], following: Block | None) -> list[Block]:
    """The page's blocks with its notes at the end, or before the last paragraph if that goes on overleaf.

    So a sentence that runs over the page break is not interrupted, and each page stays one span. A
    heading stays with its paragraph.
    """
    notes = [block for block in blocks if block.kind == "note"]
    if not notes:
        return blocks
    rest = [block for block in blocks if block.kind != "note"]
    if not rest or following is None or not goes_on(rest[-1], following):
        return [*rest, *notes]
    at = len(rest) - 1
    while at > 0 and rest[at - 1].kind == "heading":
        at -= 1
    return [*rest[:at], *notes, *rest[at:]]
