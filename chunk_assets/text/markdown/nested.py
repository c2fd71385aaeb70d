"""Tables inside list items and quotes: their rows are as whole as those of other tables."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from chunk_assets.text.markdown import kinds, patterns

if TYPE_CHECKING:
    from chunk_assets.text.markdown.blocks import BlockScanner

_PREFIX = re.compile(r"(?:[ \t]*>)*[ \t]*")
# The first line of an item may be the header row.
_HEADER_PREFIX = re.compile(r"(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*[ \t]*")


def nested_tables(scanner: BlockScanner, first: int, last: int) -> None:
    """Notes the tables in the lines from ``first`` up to ``last``, which are one list or quote."""
    start, end = scanner.starts[first], scanner.ends[last - 1]
    if scanner.text.find("|", start, end) < 0:
        return
    fences = sorted(pair for pair in scanner.nested_fences if pair[0] >= start)
    line = first + 1
    while line < last:
        header = _header(scanner, line)
        inside = bisect_right(fences, (scanner.starts[line], len(scanner.text))) - 1
        if header < 0 or (inside >= 0 and scanner.starts[line] < fences[inside][1]):
            line += 1
            continue
        stop = _rows_end(scanner, line + 1, last)
        scanner.headers.append((header, scanner.ends[line - 1]))
        scanner.tables.append((scanner.starts[line - 1], scanner.ends[stop - 1]))
        scanner.rows.extend(scanner.starts[line + 1 : stop])
        line = stop


def _header(scanner: BlockScanner, line: int) -> int:
    """Where the header row before ``line`` begins, -1 where ``line`` is no delimiter row."""
    text, end = scanner.text, scanner.ends[line]
    begin = _after(_PREFIX, scanner, line)
    if not text.startswith(("|", ":", "-"), begin) or text.find("|", begin, end) < 0:
        return -1
    if not patterns.DELIMITER.match(text, begin, end):
        return -1
    header = _after(_HEADER_PREFIX, scanner, line - 1)
    names = text[header : scanner.ends[line - 1]]
    return header if patterns.cell_count(names) == patterns.cell_count(text[begin:end]) else -1


def _rows_end(scanner: BlockScanner, line: int, last: int) -> int:
    while line < last and scanner.kind[line] != kinds.BLANK:
        begin = _after(_PREFIX, scanner, line)
        is_row = scanner.text.find("|", begin, scanner.ends[line]) >= 0
        if not is_row or patterns.MARKER.match(scanner.text, begin, scanner.ends[line]):
            break
        line += 1
    return line


def _after(prefix: re.Pattern[str], scanner: BlockScanner, line: int) -> int:
    found = prefix.match(scanner.text, scanner.starts[line], scanner.ends[line])
    return found.end() if found else scanner.starts[line]
