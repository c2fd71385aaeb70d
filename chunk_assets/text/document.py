"""A markdown text with what can be known of it, found once and only when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.records import Page
from chunk_assets.text import graphemes, sentences, spans
from chunk_assets.text.delimited import as_table
from chunk_assets.text.markdown import kinds, structure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chunk_assets.records import Heading

_FORM_FEED = "\f"
# Blocks in which sentences are not looked for.
_WHOLE = (kinds.TABLE, kinds.HTML_TABLE, kinds.FENCE, kinds.HTML, kinds.FRONT_MATTER, kinds.RULE)


class TextDocument:
    """The text, its blocks, headings and sentences. Pure: equal text and splitter, equal answers."""

    def __init__(self, markdown: str, splitter: str = "rules", *, records: bool = False) -> None:
        """``records``: text without tables that is made of delimited records counts as a table."""
        self.markdown = markdown
        self.splitter = splitter
        self._records = records

    @cached_property
    def points(self) -> NDArray[Any]:
        """Its code points as numbers."""
        return spans.codes(self.markdown)

    @cached_property
    def _structure(self) -> tuple[kinds.Blocks, tuple[Heading, ...]]:
        blocks, headings = structure(self.markdown, self.points)
        table = as_table(self.markdown) if self._records and not len(blocks.tables) else None
        return (blocks, headings) if table is None else (table, ())

    @property
    def blocks(self) -> kinds.Blocks:
        """Its blocks in reading order."""
        return self._structure[0]

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The headings that divide it into sections."""
        return self._structure[1]

    @cached_property
    def heading_starts(self) -> NDArray[np.int64]:
        """First visible character of each heading."""
        blocks = self.blocks
        found = blocks.kinds == kinds.HEADING
        return self.trimmed(blocks.starts[found], blocks.ends[found])[0]

    def trimmed(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans without outer white space; a blank with a mark on it is not white."""
        begins, stops = spans.trimmed(self.markdown, self.points, starts, ends)
        if self.points.dtype != np.uint8:
            moved = np.flatnonzero(begins > starts)
            moved = moved[(begins[moved] < stops[moved]) & (self.points[begins[moved] - 1] > ord("\r"))]
            for at in moved.tolist():
                begins[at] = graphemes.visible(self.markdown, begins.item(at) - 1, stops.item(at))
        return begins, stops

    @cached_property
    def hard_breaks(self) -> NDArray[np.int64]:
        """Where a block, list item, table row or code fence begins, or a nested fence ends."""
        blocks = self.blocks
        nested = (blocks.nested_fences.ravel(), self._nested_tables.ravel())
        parts = (blocks.starts, blocks.items, blocks.rows, *nested)
        breaks = spans.merged(*parts)
        return breaks[breaks < len(self.markdown)]

    @cached_property
    def _nested_tables(self) -> NDArray[np.int64]:
        """The spans of tables inside lists and quotes, ``(n, 2)``."""
        blocks = self.blocks
        at = np.searchsorted(blocks.starts, blocks.tables[:, 0], side="right") - 1
        return blocks.tables[np.isin(blocks.kinds[at], (kinds.LIST, kinds.QUOTE))]

    @cached_property
    def atomic(self) -> NDArray[np.int64]:
        """Spans in which there are no sentences, ``(n, 2)``: tables, code, raw HTML."""
        blocks = self.blocks
        whole = np.isin(blocks.kinds, _WHOLE)
        whole[blocks.kinds == kinds.INDENTED] = [
            looks_like_code(self.markdown[start:end])
            for start, end in zip(
                blocks.starts[blocks.kinds == kinds.INDENTED].tolist(),
                blocks.ends[blocks.kinds == kinds.INDENTED].tolist(),
                strict=True,
            )
        ]
        pairs = np.stack((blocks.starts[whole], blocks.ends[whole]), axis=1)
        pairs = np.concatenate((pairs, blocks.nested_fences, self._nested_tables))
        return pairs[np.argsort(pairs[:, 0], kind="stable")]

    @cached_property
    def sentence_starts(self) -> NDArray[np.int64]:
        """Offsets of sentences, items, rows and whole blocks; the spans between them tile the text."""
        if not self.markdown:
            return np.zeros(0, dtype=np.int64)
        split = sentences.splitter(self.splitter)
        starts, breaks = split(self.markdown, self.hard_breaks, self.atomic, self.points), self.hard_breaks
        starts = graphemes.without_cuts(self.markdown, self.points, starts)
        at = np.minimum(np.searchsorted(starts, breaks), len(starts) - 1)
        return starts if bool((starts[at] == breaks).all()) else spans.merged(starts, breaks)

    def heading_path(self, index: int) -> tuple[str, ...]:
        """Titles from the outermost heading down to heading ``index`` (none for -1)."""
        return tuple(self.headings[at].title for at in self._ancestors[index]) if index >= 0 else ()

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """The index of the heading above each heading, -1 where there is none."""
        return np.array([path[-2] if len(path) > 1 else -1 for path in self._ancestors], dtype=np.int64)

    @cached_property
    def _ancestors(self) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []
        stack: list[int] = []
        for index, heading in enumerate(self.headings):
            while stack and self.headings[stack[-1]].level >= heading.level:
                stack.pop()
            stack.append(index)
            found.append(tuple(stack))
        return found


def looks_like_code(block: str) -> bool:
    """Whether an indented block is code and not indented prose: most lines hold few plain words."""
    lines = [line for line in block.splitlines() if line.strip()]
    prose = sum(1 for line in lines if sum(word.strip(".,;:").isalpha() for word in line.split()) >= 4)
    return bool(lines) and 2 * prose < len(lines)


def pages_by_form_feed(markdown: str) -> tuple[Page, ...]:
    """The pages of a text whose page breaks are form feeds; they tile it."""
    pages: list[Page] = []
    start = 0
    while True:
        end = markdown.find(_FORM_FEED, start)
        stop = len(markdown) if end < 0 else end + 1
        pages.append(Page(len(pages) + 1, start, stop))
        if end < 0:
            return tuple(pages)
        start = stop


def page_range(pages: Sequence[Page], start: int, end: int) -> tuple[int | None, int | None]:
    """First and last page that ``[start, end)`` touches; ``(None, None)`` without pages."""
    touched = [page.number for page in pages if page.start < end and page.end > start]
    return (touched[0], touched[-1]) if touched else (None, None)
