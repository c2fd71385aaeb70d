"""The small markup in which the sample texts are written: headings, paragraphs, tables, footnotes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

TEXTS = Path(__file__).parent / "texts"
MARK = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: ``kind`` is heading, paragraph or table; ``level`` counts for headings only."""

    kind: str
    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """Blocks in reading order, and footnotes by number."""

    blocks: tuple[Block, ...]
    notes: dict[str, str] = field(default_factory=dict)


def load(name: str) -> Text:
    """The text ``texts/<name>.md``; blocks are parted by blank lines."""
    blocks: list[Block] = []
    notes: dict[str, str] = {}
    for part in (TEXTS / f"{name}.md").read_text("utf-8").strip().split("\n\n"):
        note = re.fullmatch(r"\[(\d+)\]: (.*)", part, re.DOTALL)
        if note:
            notes[note[1]] = note[2]
        else:
            blocks.append(_block(part))
    return Text(tuple(blocks), notes)


def _block(part: str) -> Block:
    heading = re.fullmatch(r"(#+) (.*)", part)
    if heading:
        return Block("heading", heading[2], len(heading[1]))
    if part.startswith("|"):
        rows = [tuple(c.strip() for c in line.strip("|").split("|")) for line in part.splitlines()]
        return Block("table", rows=tuple(rows[:1] + rows[2:]))
    return Block("paragraph", part)
