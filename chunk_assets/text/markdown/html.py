"""HTML blocks: where they begin and end, and the rows of HTML tables."""

from __future__ import annotations

from functools import cached_property

from chunk_assets.text.markdown import patterns


class HtmlRules:
    """The HTML rules over one text. Searches that failed once are not made again."""

    def __init__(self, text: str) -> None:
        self.text = text

    def interrupts(self, start: int, end: int) -> bool:
        """Whether an HTML block that may end a paragraph begins at ``start`` (kinds 1 to 6)."""
        if not self.text.startswith("<", start):
            return False
        if any(begin.match(self.text, start, end) for begin, _ in patterns.HTML_ENDED):
            return True
        return bool(patterns.HTML_BLOCK.match(self.text, start, end))

    def closed_end(self, start: int, end: int) -> int | None:
        """The end of a block of kinds 1 to 5 that begins at ``start``; ``None`` if none does."""
        for begin, close in patterns.HTML_ENDED:
            if begin.match(self.text, start, end):
                found = close.search(self.text, start)
                return found.end() if found else len(self.text)
        return None

    def until_blank(self, start: int, end: int, in_paragraph: bool) -> bool:
        """Whether a block of kind 6 or 7 begins at ``start``; it ends before a blank line."""
        if patterns.HTML_BLOCK.match(self.text, start, end):
            return True
        return not in_paragraph and bool(patterns.HTML_ALONE.match(self.text, start, end))

    @cached_property
    def _table_ends(self) -> dict[int, int]:
        """The end of each table that is closed, by its start; nested tables are matched."""
        ends: dict[int, int] = {}
        opened: list[int] = []
        for tag in patterns.TABLE_TAG.finditer(self.text):
            if not tag.group(1):
                opened.append(tag.start())
            elif opened:
                close = self.text.find(">", tag.end())
                ends[opened.pop()] = close + 1 if close >= 0 else len(self.text)
        return ends

    def table_end(self, start: int) -> int:
        """The end of the closed table that begins at ``start``, else 0.

        Unlike CommonMark's, a table goes on over blank lines to its closing tag.
        """
        if self.text[start : start + 6].lower() != "<table":
            return 0
        return self._table_ends.get(start, 0)

    def rows(self, start: int, end: int) -> list[int]:
        """Offsets of the table's own rows; those of nested tables belong to their outer row."""
        found: list[int] = []
        at = start + 1
        inner = self._inner_tables(start, end)
        for tag in patterns.ROW_TAG.finditer(self.text, at, end):
            while inner and inner[0][1] <= tag.start():
                inner.pop(0)
            if not inner or tag.start() < inner[0][0]:
                found.append(tag.start())
        return found

    def _inner_tables(self, start: int, end: int) -> list[tuple[int, int]]:
        outer: list[tuple[int, int]] = []
        for tag in patterns.TABLE_TAG.finditer(self.text, start + 1, end - 1):
            at = tag.start()
            if at in self._table_ends and (not outer or at >= outer[-1][1]):
                outer.append((at, self._table_ends[at]))
        return outer

    def is_header(self, start: int, end: int) -> bool:
        """Whether the row from ``start`` has header cells only."""
        cells = {cell.group().lower() for cell in patterns.HEADER_CELL.finditer(self.text, start, end)}
        return cells == {"<th"}
