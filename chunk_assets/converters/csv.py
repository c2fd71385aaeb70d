"""CSV and its relatives: any delimiter, quotes, encoding and line ends, as one pipe table."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from chunk_assets.converters import encoding, grid, media
from chunk_assets.converters.base import Converter, Options
from chunk_assets.converters.markup import clean_text, escape_cell
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted

if TYPE_CHECKING:
    import _csv

_DELIMITERS = ",\t;|^~:"
_NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "pipe", ":": "colon", " ": "blank"}
# What is read to find the dialect, in characters and rows.
_SAMPLE_CHARS = 200_000
_SAMPLE_ROWS = 300
_SEPARATOR_LINE = re.compile(r"sep=(.)\n", re.IGNORECASE)
# A cell that a person would call a value of some sort; anything else weighs less in the score.
_TYPED = re.compile(
    r"|[-+(]?[$€£]?\s?\d[\d.,' ]*(?:[eE][-+]?\d+)?\s?[%)€]?"  # nothing, or a number
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}:\d\d.*"  # a date, a time
    r"|[\w.%+-]+@[\w.-]+|https?://\S+|(?:true|false|yes|no|n/?a|null|none|nan)"
    r"|[\w()#&'/.,:+-]+(?: [\w()#&'/.,:+-]+){0,9}",  # a few words
    re.IGNORECASE,
)
# Characters that may need an escape or a tidy-up inside a cell; rows without them are only joined.
_SUSPECT = re.compile(r"[\\`*_<&~\[\]|\n\t\xa0\u2000-\u200a\u202f\u205f\u3000]|  |^ | $| \x1f|\x1f ")
# Rows in which an unclosed quote may be looked for again before the quotes are taken as characters.
_RESTARTS = 20


@dataclass(frozen=True, slots=True)
class _Dialect:
    delimiter: str
    quote: str = '"'
    escape: str | None = None
    loose: bool = False  # blanks between a delimiter and a quote


def convert(data: bytes, options: Options) -> Converted:
    """The rows of a delimited text as one pipe table, titles above it as paragraphs."""
    csv.field_size_limit(sys.maxsize)  # the file's own size is the bound
    warnings: list[str] = []
    text, name = encoding.decode(_without_stray_zeroes(data, warnings))
    text = clean_text(text)
    if not text.strip():
        raise DocumentFailure("empty", "nothing but white space")
    text, told = _told(text.lstrip("\n"))
    dialect = told or _sniff(text)
    rows = [row for row in _rows(text, dialect, warnings) if any(map(str.strip, row))]
    if not rows:
        raise DocumentFailure("empty", "the table has no cells with text")
    lines = _lines(rows, options.limits.max_output_chars, warnings)
    facts = {
        "encoding": name,
        "delimiter": _NAMES.get(dialect.delimiter, dialect.delimiter)
        if len(max(rows, key=len)) > 1
        else "none",
        "rows": str(len(rows)),
        "columns": str(max(map(len, rows))),
    }
    return Converted("\n".join(lines).strip("\n") + "\n", facts=facts, warnings=tuple(warnings))


CSV = Converter("csv", 1, (media.CSV, media.TSV), convert)


def _without_stray_zeroes(data: bytes, warnings: list[str]) -> bytes:
    """A few zero bytes in what is UTF-8 without them are damage, not a wide encoding."""
    zeroes = data.count(0)
    if not zeroes or zeroes * 5 > len(data):
        return data
    rest = data.replace(b"\x00", b"")
    try:
        rest.decode("utf-8")
    except UnicodeDecodeError:
        return data
    warnings.append(f"{zeroes} zero bytes were left out")
    return rest


# -- dialect -------------------------------------------------------------------------------------


def _told(text: str) -> tuple[str, _Dialect | None]:
    """Excel's own first line ``sep=;`` says the delimiter, and is no data."""
    match = _SEPARATOR_LINE.match(text)
    return (text[match.end() :], _Dialect(match[1])) if match else (text, None)


def _sniff(text: str) -> _Dialect:
    """The dialect under which the rows of a sample agree best in width and look most like values.

    The score is the one of van den Burg et al., "Wrangling messy CSV files by detecting row and type
    patterns" (2019), with coarser types: row pattern score times the share of typed cells.
    """
    sample = text[:_SAMPLE_CHARS]
    best, best_score = _Dialect(","), 0.0
    for dialect in _candidates(sample):
        score = _score(sample, dialect)
        if score > best_score * 1.000001:
            best, best_score = dialect, score
    return best


def _candidates(sample: str) -> Iterator[_Dialect]:
    """Dialects that the sample could have, the likelier first, since a tie keeps the first."""
    delimiters = [d for d in _DELIMITERS if d in sample]
    for delimiter in delimiters:
        yield _Dialect(delimiter, loose=f'{delimiter} "' in sample)
    for delimiter in delimiters:
        if f"\\{delimiter}" in sample or '\\"' in sample:
            yield _Dialect(delimiter, escape="\\")
        if re.search(
            rf"(?:^|{re.escape(delimiter)})'[^'\n]*'(?:$|{re.escape(delimiter)})", sample, re.MULTILINE
        ):
            yield _Dialect(delimiter, "'")


def _score(sample: str, dialect: _Dialect) -> float:
    rows: list[list[str]] = []
    for row in _reader(sample.splitlines(keepends=True), dialect):
        if any(row):
            rows.append(row)
        if len(rows) >= _SAMPLE_ROWS:
            break
    else:
        if len(rows) > 1 and len(sample) == _SAMPLE_CHARS:
            rows.pop()  # cut off by the end of the sample
    if not rows:
        return 0.0
    patterns = Counter(map(len, rows))
    pattern_score = sum(count * (width - 1) / width for width, count in patterns.items()) / len(patterns)
    cells = [cell.strip() for row in rows for cell in row[:200]]
    typed = sum(1 for cell in cells if len(cell) < 200 and _TYPED.fullmatch(cell))
    return pattern_score * max(typed / len(cells), 0.001)


def _reader(lines: Iterable[str], dialect: _Dialect, *, strict: bool = False) -> _csv.Reader:
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        escapechar=dialect.escape,
        skipinitialspace=dialect.loose,
        strict=strict,
    )


# -- rows ----------------------------------------------------------------------------------------


def _rows(text: str, dialect: _Dialect, warnings: list[str]) -> Iterator[list[str]]:
    """All rows. A quote that is never closed would swallow the next rows: its line is read without quotes."""
    lines = text.splitlines(keepends=True)
    start = restarts = 0
    while start < len(lines) and restarts < _RESTARTS:
        swallowed = yield from _rows_until_swallowed(lines[start:], dialect)
        if swallowed is None:
            return
        start += swallowed
        warnings.append(f"a quote is not closed; read without quotes: {lines[start][:60].strip()}")
        yield from _bare_rows(lines[start : start + 1], dialect)
        start += 1
        restarts += 1
    yield from _bare_rows(lines[start:], dialect)


def _rows_until_swallowed(lines: list[str], dialect: _Dialect) -> Generator[list[str], None, int | None]:
    """Rows up to the one that swallows others; returns the number of its first line."""
    reader = _reader(lines, dialect)
    first, width = 0, 0
    for row in reader:
        last = reader.line_num
        if last - first > 1 and _swallows(lines[first:last], dialect, width):
            return first
        yield row
        first, width = last, width or len(row)
    return None


def _swallows(lines: list[str], dialect: _Dialect, width: int) -> bool:
    """Whether a record over several lines has bad quotes, and its second line would be a row by itself."""
    try:
        list(_reader(lines, dialect, strict=True))
    except csv.Error:
        return width < 2 or any(len(row) == width for row in _bare_rows(lines[1:2], dialect))
    return False


def _bare_rows(lines: Iterable[str], dialect: _Dialect) -> Iterator[list[str]]:
    return csv.reader(lines, delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE)


# -- markdown ------------------------------------------------------------------------------------


def _lines(rows: Sequence[list[str]], limit: int, warnings: list[str]) -> list[str]:
    remarks = _remarks(rows)
    usual = Counter(map(len, rows[remarks:])).most_common(1)[0][0]
    widest = max(map(len, rows))
    trimmed = [_trimmed(row) for row in rows[:50]]
    titles = grid.title_rows(trimmed, max(map(grid.filled, rows[:300]))) if usual > 1 else 0
    titles = max(titles, remarks)
    lines: list[str] = []
    if titles:
        lines += [*grid.paragraphs([list(map(escape_cell, row)) for row in trimmed[:titles]])[1:], ""]
    body = rows[titles:]
    _warn_ragged(body, usual, warnings)
    head = [[escape_cell(cell) for cell in row] for row in body[:20]]
    depth = 1 if grid.header_rows(grid.Block(_squared(head))) else 0
    header = head[0] if depth else [""]
    total = 0
    for line in grid.table_lines([*header, *[""] * (widest - len(header))], _cells(body[depth:]), usual):
        total += len(line)
        if total > limit:
            raise DocumentFailure("too_large", f"more than {limit} characters of text, the limit")
        lines.append(line)
    return lines


def _remarks(rows: Sequence[list[str]]) -> int:
    """How many rows at the top are remarks, marked by ``#`` and of other widths than the rows below."""
    marked = len(list(takewhile(lambda row: row[0].startswith("#"), rows[:50])))
    if not 0 < marked < len(rows):
        return 0
    width = len(rows[marked])
    return marked if all(len(row) != width for row in rows[:marked]) else 0


def _cells(rows: Sequence[list[str]]) -> Iterator[list[str]]:
    """Finished cells of each row; a row without suspicious characters is finished as it is."""
    for row in rows:
        yield [escape_cell(cell) for cell in row] if _SUSPECT.search("\x1f".join(row)) else row


def _trimmed(row: list[str]) -> list[str]:
    return [cell.strip() for cell in row]


def _squared(rows: list[list[str]]) -> list[list[str]]:
    width = max(map(len, rows))
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _warn_ragged(rows: Sequence[list[str]], usual: int, warnings: list[str]) -> None:
    odd = sum(1 for row in rows if len(row) != usual)
    if odd:
        warnings.append(f"{odd} of {len(rows)} rows have more or fewer than {usual} cells")
