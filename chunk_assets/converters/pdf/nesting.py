"""Lists in lists: an item that stands farther to the right than the one above is inside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chunk_assets.converters.pdf.model import Block

# Points: less than this is the raggedness of markers of different widths.
_STEP = 7.0
_MARKDOWN = re.compile(r"-$|\d{1,9}[.)]$")


def nest_items(blocks: Sequence[Block]) -> None:
    """Set ``indent`` (in blanks) of neighbouring items by where they start on the page."""
    # The open items, outermost first: left edge, and the column where their text starts.
    open_items: list[tuple[float, int]] = []
    last: Block | None = None
    for block in blocks:
        if block.kind != "item" or not _MARKDOWN.match(block.marker):
            open_items, last = [], None
            continue
        left, top = block.lines[0].x0, block.lines[0].top
        if last is not None and top < last.lines[0].top:
            # The next column: its edges say nothing about those of this one.
            open_items = []
        while open_items and open_items[-1][0] > left - _STEP:
            open_items.pop()
        block.indent = open_items[-1][1] if open_items else 0
        open_items.append((left, block.indent + len(block.marker) + 1))
        last = block
