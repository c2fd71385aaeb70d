"""The kinds of blocks, and the record of what was found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLANK = 0
PARAGRAPH = 1
HEADING = 2
LIST = 3
TABLE = 4
FENCE = 5
INDENTED = 6
QUOTE = 7
HTML = 8
RULE = 9
FRONT_MATTER = 10
HTML_TABLE = 11

NAMES = (
    "blank",
    "paragraph",
    "heading",
    "list",
    "table",
    "fence",
    "indented",
    "quote",
    "html",
    "rule",
    "front_matter",
    "html_table",
)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a text in reading order; they hold every character that is not a blank line.

    ``kinds``, ``starts``, ``ends`` (``int64[n]``) and ``levels`` (heading level 1–6, else 0) go
    together. ``items`` are offsets of list items, ``rows`` of body rows of tables (pipe and HTML),
    ``headers`` ``(t, 2)`` the header row's span of each table that has one, ``tables`` ``(t, 2)``
    all tables, ``nested_fences`` ``(f, 2)`` code fences inside lists and quotes.
    """

    kinds: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    levels: NDArray[np.int64]
    items: NDArray[np.int64]
    rows: NDArray[np.int64]
    headers: NDArray[np.int64]
    tables: NDArray[np.int64]
    nested_fences: NDArray[np.int64]
