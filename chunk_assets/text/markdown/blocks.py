"""From lines to blocks: one pass, in which only lines that may be more than prose are looked at."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text.markdown import kinds, patterns
from chunk_assets.text.markdown.assembly import assembled
from chunk_assets.text.markdown.html import HtmlRules
from chunk_assets.text.markdown.lines import Lines, scan
from chunk_assets.text.markdown.lists import list_end, quote_end
from chunk_assets.text.markdown.nested import nested_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_PIPE = ord("|")
_FENCES = (ord("`"), ord("~"))
_META_LINES = 400


class BlockScanner:
    """The state of one pass.

    ``kind`` holds the kind of block of each line, ``opens`` where a block begins although the line
    before is of the same kind.
    """

    def __init__(self, lines: Lines) -> None:
        self.text = lines.text
        self.count = len(lines.starts)
        # Memory views give plain integers at a third of the cost of array elements.
        self.starts, self.ends = lines.starts.data, lines.ends.data
        self.content, self.indent = lines.content.data, lines.indent.data
        self.first = lines.first.data
        self.kind = bytearray(
            np.where(lines.first < 0, kinds.BLANK, kinds.PARAGRAPH).astype(np.uint8).tobytes()
        )
        self.opens = bytearray(self.count)
        self.levels: dict[int, int] = {}
        self.titles: dict[int, str] = {}
        self.items: list[int] = []
        self.rows: list[int] = []
        self.headers: list[tuple[int, int]] = []
        self.tables: list[tuple[int, int]] = []
        self.nested_fences: list[tuple[int, int]] = []
        self.fence_lines = np.flatnonzero(np.isin(lines.first, _FENCES)).tolist()
        self.not_piped = np.flatnonzero(lines.first != _PIPE)
        self.html = HtmlRules(lines.text)
        self._special = _special_lines(lines)

    def run(self) -> None:
        """Classifies every line."""
        resume = self._front_matter()
        for line in self._special:
            if line < resume:
                continue
            resume = self._visit(line)

    def match(self, pattern: Any, line: int) -> Any:
        """``pattern`` at the first character of ``line`` that is not blank."""
        return pattern.match(self.text, self.content[line], self.ends[line])

    def in_paragraph(self, line: int) -> bool:
        """Whether ``line`` would continue a paragraph."""
        return line > 0 and self.kind[line - 1] == kinds.PARAGRAPH

    def mark(self, kind: int, line: int, end: int) -> int:
        """Makes the lines from ``line`` up to ``end`` one block; returns ``end``."""
        self.kind[line:end] = bytes((kind,)) * (end - line)
        self.opens[line] = 1
        return end

    def starts_block(self, line: int) -> bool:
        """Whether ``line`` begins a block that may end a paragraph (so it can't continue one lazily)."""
        first = self.first[line]
        if first >= 128 or self.indent[line] > 3 or chr(first) not in patterns.STARTERS:
            return False
        if first == ord(">") or self.match(patterns.ATX, line) or self.match(patterns.FENCE, line):
            return True
        if self.match(patterns.THEMATIC, line):
            return True
        return self.interrupting_marker(line) or self.html.interrupts(self.content[line], self.ends[line])

    def interrupting_marker(self, line: int) -> bool:
        """Whether a list may begin here in the middle of a paragraph: only with text, and at one."""
        found = self.match(patterns.MARKER, line)
        if not found or found.end() >= self.ends[line]:
            return False
        return found.group(1) in "-+*" or found.group(1)[:-1] == "1"

    def fence_end(self, line: int, opening: str, most_indent: int = 3) -> int:
        """The line after the fence that ``opening`` (its run of marks) began at ``line``."""
        candidates = self.fence_lines
        for at in range(bisect_left(candidates, line + 1), len(candidates)):
            found = self.match(patterns.FENCE_END, candidates[at])
            if found and found.group(1).startswith(opening) and self.indent[candidates[at]] <= most_indent:
                return int(candidates[at]) + 1
        return self.count

    def _visit(self, line: int) -> int:
        if self.indent[line] > 3:
            return line + 1 if self.in_paragraph(line) else self._indented(line)
        rule = _RULES.get(self.first[line])
        end = rule(self, line) if rule else 0
        return end or line + 1

    def _front_matter(self) -> int:
        mark = self.text[self.content[0] : self.ends[0]].rstrip() if self.count else ""
        if mark not in {"---", "+++"} or self.count < 2 or self.kind[1] == kinds.BLANK:
            return 0
        for line in range(1, min(self.count, _META_LINES)):
            value = self.text[self.starts[line] : self.ends[line]].rstrip()
            if value in {mark, "..."}:
                return self.mark(kinds.FRONT_MATTER, 0, line + 1)
            if not patterns.META_LINE.match(value):
                return 0
        return 0

    def _indented(self, line: int) -> int:
        end = last = line + 1
        while end < self.count and (self.kind[end] == kinds.BLANK or self.indent[end] > 3):
            end += 1
            if self.kind[end - 1] != kinds.BLANK:
                last = end
        return self.mark(kinds.INDENTED, line, last)


def _special_lines(lines: Lines) -> list[int]:
    table = np.zeros(128, dtype=bool)
    table[[ord(c) for c in patterns.STARTERS]] = True
    special = table[np.minimum(lines.first, 127)] | ((lines.indent > 3) & (lines.first >= 0))
    found: list[int] = np.flatnonzero(special).tolist()
    return found


def _atx(scanner: BlockScanner, line: int) -> int:
    found = scanner.match(patterns.ATX, line)
    if not found:
        return 0
    scanner.levels[line] = len(found.group(1))
    scanner.titles[line] = patterns.heading_title(scanner.text[found.end() : scanner.ends[line]])
    return scanner.mark(kinds.HEADING, line, line + 1)


def _setext(scanner: BlockScanner, line: int) -> int:
    if not scanner.in_paragraph(line) or not scanner.match(patterns.SETEXT, line):
        return 0
    begin = line - 1
    while not scanner.opens[begin] and begin > 0 and scanner.kind[begin - 1] == kinds.PARAGRAPH:
        begin -= 1
    scanner.levels[begin] = 1 if scanner.first[line] == ord("=") else 2
    title = scanner.text[scanner.content[begin] : scanner.ends[line - 1]]
    scanner.titles[begin] = " ".join(title.split())
    return scanner.mark(kinds.HEADING, begin, line + 1)


def _fence(scanner: BlockScanner, line: int) -> int:
    found = scanner.match(patterns.FENCE, line)
    if not found:
        return 0
    return scanner.mark(kinds.FENCE, line, scanner.fence_end(line, found.group(1) or found.group(2)))


def _quote(scanner: BlockScanner, line: int) -> int:
    return _nesting(scanner, kinds.QUOTE, line, quote_end(scanner, line))


def _nesting(scanner: BlockScanner, kind: int, line: int, end: int) -> int:
    nested_tables(scanner, line, end)
    return scanner.mark(kind, line, end)


def _dash(scanner: BlockScanner, line: int) -> int:
    return _setext(scanner, line) or _table(scanner, line) or _star(scanner, line)


def _star(scanner: BlockScanner, line: int) -> int:
    return _rule(scanner, line) or _list(scanner, line)


def _rule(scanner: BlockScanner, line: int) -> int:
    return scanner.mark(kinds.RULE, line, line + 1) if scanner.match(patterns.THEMATIC, line) else 0


def _list(scanner: BlockScanner, line: int) -> int:
    if not scanner.match(patterns.MARKER, line):
        return 0
    if scanner.in_paragraph(line) and not scanner.interrupting_marker(line):
        return 0
    return _nesting(scanner, kinds.LIST, line, list_end(scanner, line))


def _html(scanner: BlockScanner, line: int) -> int:
    table = scanner.html.table_end(scanner.content[line])
    if table:
        return _html_table(scanner, line, table)
    start, end = scanner.content[line], scanner.ends[line]
    stop = scanner.html.closed_end(start, end)
    if stop is not None:
        return scanner.mark(kinds.HTML, line, bisect_left(scanner.starts, max(stop, end)))
    if not scanner.html.until_blank(start, end, scanner.in_paragraph(line)):
        return 0
    stop = scanner.kind.find(kinds.BLANK, line)
    return scanner.mark(kinds.HTML, line, stop if stop >= 0 else scanner.count)


def _html_table(scanner: BlockScanner, line: int, end: int) -> int:
    start = scanner.starts[line]
    scanner.tables.append((start, end))
    rows = scanner.html.rows(scanner.content[line], end)
    if len(rows) > 1 and scanner.html.is_header(rows[0], rows[1]):
        scanner.headers.append((rows[0], rows[1]))
    scanner.rows.extend(rows[1:])
    return scanner.mark(kinds.HTML_TABLE, line, bisect_left(scanner.starts, end))


def _table(scanner: BlockScanner, line: int) -> int:
    """A table, when ``line`` is its delimiter row (the header row is the line before)."""
    if not scanner.in_paragraph(line) or not scanner.match(patterns.DELIMITER, line):
        return 0
    header = scanner.text[scanner.content[line - 1] : scanner.ends[line - 1]]
    delimiter = scanner.text[scanner.content[line] : scanner.ends[line]]
    if "|" not in header + delimiter or patterns.cell_count(header) != patterns.cell_count(delimiter):
        return 0
    end = _rows_end(scanner, line + 1)
    scanner.headers.append((scanner.content[line - 1], scanner.ends[line - 1]))
    scanner.tables.append((scanner.starts[line - 1], scanner.ends[end - 1]))
    scanner.rows.extend(scanner.starts[line + 1 : end])
    return scanner.mark(kinds.TABLE, line - 1, end)


def _rows_end(scanner: BlockScanner, line: int) -> int:
    while line < scanner.count:
        at = int(np.searchsorted(scanner.not_piped, line))
        line = int(scanner.not_piped[at]) if at < len(scanner.not_piped) else scanner.count
        if line >= scanner.count or scanner.kind[line] == kinds.BLANK or scanner.indent[line] > 3:
            break
        if scanner.starts_block(line) or scanner.match(patterns.MARKER, line):
            break
        line += 1
    return line


_RULES: dict[int, Callable[[BlockScanner, int], int]] = {
    ord("#"): _atx,
    ord("="): _setext,
    ord("-"): _dash,
    ord("*"): _star,
    ord("_"): _rule,
    ord("+"): _list,
    ord(">"): _quote,
    ord("|"): _table,
    ord(":"): _table,
    ord("<"): _html,
    **dict.fromkeys(_FENCES, _fence),
    **dict.fromkeys(map(ord, "0123456789"), _list),
}


def parse(text: str, points: NDArray[Any] | None = None) -> tuple[kinds.Blocks, list[tuple[int, str, int]]]:
    """The blocks of ``text``, and its headings as (level, title, start) in reading order."""
    lines = scan(text, points) if text else None
    if lines is None:
        return assembled(np.zeros(0, dtype=np.int64), None), []
    scanner = BlockScanner(lines)
    scanner.run()
    of_line = np.frombuffer(scanner.kind, dtype=np.uint8).astype(np.int64)
    headings = [
        (level, scanner.titles[line], scanner.starts[line]) for line, level in sorted(scanner.levels.items())
    ]
    return assembled(of_line, scanner), headings
