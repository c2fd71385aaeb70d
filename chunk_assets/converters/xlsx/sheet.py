"""One worksheet part: rows of shown cells, merged areas, what is hidden, formulas without a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

from chunk_assets.converters.xlsx.cells import (
    column_letters,
    column_number,
    finished,
    finished_content,
    rich_text,
    unescaped,
)
from chunk_assets.converters.xlsx.numbers import Render, general
from chunk_assets.converters.xlsx.xml import attributes
from chunk_assets.errors import DocumentFailure

_ROW = re.compile(r"<row\b([^>]*)>")
# The attributes of a cell in the order of its writer, then value or inline text: see ``_cell_pattern``.
_ATTRIBUTES = {"r": r' r="([A-Z]{1,3})\d+"', "s": r'(?: s="(\d+)")?', "t": r'(?: t="(\w+)")?'}
_CONTENT = (
    r">(?:<f[^>]*/>|<f[^>]*>[^<]*</f>)?"
    r'(?:<v>([^<]+)</v>|<is><t(?: xml:space="preserve")?>([^<]*)</t></is>)</c>'
)
_USUAL = ("r", "s", "t")
_FULL_CELL = re.compile(rb'<c((?: [rst]="[^"]*"){3})[ />]')
# Any cell with content; empty ones end in "/>".
_ANY_CELL = re.compile(r"<c\b([^>]*?)(?:/>|>(.*?)</c>)", re.DOTALL)
_EMPTY_CELL = re.compile(r"<c\b[^>]*/>|<c\b[^>/]*></c>")
_VALUE = re.compile(r"<v\b[^>]*>(.*?)</v>", re.DOTALL)
_FORMULA = re.compile(r"<f\b([^>]*?)(?:/>|>(.*?)</f>)", re.DOTALL)
_MERGE = re.compile(rb'<mergeCell ref="\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})"')
_COLUMN = re.compile(r"<col\b([^>]*)/?>")
_PLACE = re.compile(r"([A-Za-z]{1,3})\d+")
# A number as it would be shown without a format: nothing to round, no exponent.
_PLAIN_NUMBER = re.compile(r"-?\d{1,15}|-?(?=[\d.]{3,16}$)(?:0|[1-9]\d*)\.\d*[1-9]")
_ANY_CONTENT = re.compile(rb"<(?:v|is|f)[ >/]")
_TRUE = frozenset(("1", "true"))
_MAX_COLUMN = 16_384
_MAX_ROW = 1_048_576
# Shown numbers that are kept for the next cell with the same style and value.
_CACHE = 200_000


@dataclass(slots=True)
class Row:
    """Cells with text: ``columns[i]`` (from 0, rising) holds ``texts[i]``, finished markdown.

    Rows may share their lists: these are replaced, never changed.
    """

    number: int
    columns: list[int]
    texts: list[str]


@dataclass(slots=True)
class Sheet:
    """What a reader of the sheet sees, and what the sheet says beside it. Counted from 0."""

    rows: list[Row] = field(default_factory=list)
    merges: list[tuple[int, int, int, int]] = field(default_factory=list)  # row, column, rows, columns
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    uncached: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # paragraphs of text boxes
    comments: int = 0
    lost: int = 0  # cells that refer to strings the file has not
    fault: str = ""  # why the sheet could not be read


class SheetReader:
    """Reads worksheet parts of one workbook, which share strings, styles and the cache of numbers."""

    def __init__(self, strings: Sequence[str], styles: Sequence[Render | None], max_chars: int) -> None:
        self._strings = strings
        self._styles = {str(number): render for number, render in enumerate(styles) if render}
        self._max_chars = max_chars
        self._chars = 0
        self._shown: dict[tuple[str, str], str] = {}
        self._columns: dict[tuple[str, ...], list[int]] = {}

    def read(self, part: bytes) -> Sheet:
        """The sheet of a worksheet part in regular form (see ``xml.regular``)."""
        sheet = Sheet()
        at = max(part.find(b"<sheetData"), 0)
        end = part.find(b"</sheetData>", at)
        end = len(part) if end < 0 else end
        sheet.hidden_columns = list(_hidden_columns(part[:at].decode("utf-8", "replace")))
        if not _ANY_CONTENT.search(part, at, end):
            return sheet
        order = _order(part, at)
        number = -1
        for piece in part[at:end].split(b"</row>"):
            text = piece.decode("utf-8", "replace")
            if match := _ROW.search(text):
                row = attributes(match[1])
                given = row.get("r", "")
                number = int(given) - 1 if given.isdecimal() and len(given) < 8 else number + 1
                if _has_content(piece):
                    hidden = row.get("hidden") in _TRUE
                    self._row(sheet, text[match.end() :], number, hidden, order)
        sheet.rows.sort(key=lambda row: row.number)
        if sheet.rows:
            sheet.merges = list(_merges(part, end))
        return sheet

    def shown(self, style: str, number: float) -> str:
        """A number in the cell style of this index, as finished text."""
        render = self._styles.get(style)
        return finished(render(number)) if render else general(number)

    def string(self, sheet: Sheet, index: int) -> str:
        """A shared string; a missing one is counted as lost."""
        if 0 <= index < len(self._strings):
            return self._strings[index]
        sheet.lost += 1
        return ""

    def add(self, sheet: Sheet, row: Row) -> None:
        """Appends a row; refuses the sheet when all texts together pass the limit."""
        self._chars += sum(map(len, row.texts))
        if self._chars > self._max_chars:  # one long string in many cells is small in the file
            raise DocumentFailure("too_large", f"more than {self._max_chars} characters of text, the limit")
        sheet.rows.append(row)

    def _row(self, sheet: Sheet, body: str, number: int, hidden: bool, order: tuple[str, ...]) -> None:
        found = _cell_pattern(order).findall(body)
        cells = body.count("<c ") - (len(_EMPTY_CELL.findall(body)) if "/>" in body else 0)
        if len(found) == cells:
            columns, texts = self._fast(sheet, found, order)
        else:
            columns, texts = self._careful(sheet, body, number)
        if not columns:
            return
        self.add(sheet, Row(number, columns, texts))
        if hidden:
            sheet.hidden_rows.append(number)

    def _fast(
        self, sheet: Sheet, found: list[tuple[str, ...]], order: tuple[str, ...]
    ) -> tuple[list[int], list[str]]:
        """Columns and texts of a row; written flat, since the loop runs once for every cell."""
        if order != _USUAL:
            found = list(map(itemgetter(*map(order.index, _USUAL), 3, 4), found))
        shown, styles, strings, count = self._shown, self._styles, self._strings, len(self._strings)
        texts: list[str] = []
        add = texts.append
        for _, style, kind, value, inline in found:
            if not value:
                add(finished_content(inline))
            elif kind == "s" and value.isdecimal() and (index := int(value)) < count:
                add(strings[index])
            elif kind and kind != "n":
                add(self._text(sheet, style, kind, value))
            elif value.isdecimal() and style not in styles and len(value) < 16:
                add(value)
            else:
                text = shown.get((style, value))
                add(self._number(style, value) if text is None else text)
        return self._placed(tuple([cell[0] for cell in found]), texts)

    def _placed(self, letters: tuple[str, ...], texts: list[str]) -> tuple[list[int], list[str]]:
        """The texts that are not empty, with their columns; rows with the same columns share one list."""
        columns = self._columns.get(letters)
        if columns is None:
            columns = self._columns[letters] = [column_number(place) for place in letters]
        if "" not in texts:
            return columns, texts
        kept = [(column, text) for column, text in zip(columns, texts, strict=True) if text]
        return [column for column, _ in kept], [text for _, text in kept]

    def _text(self, sheet: Sheet, style: str, kind: str, value: str) -> str:
        """The shown text of a cell with a value."""
        if kind == "s":
            return self.string(sheet, int(value) if value.strip().isdecimal() else -1)
        if kind in ("", "n"):
            return self._number(style, value)
        if kind == "b":
            return "TRUE" if value.strip() in _TRUE else "FALSE"
        if kind == "d":
            return unescaped(value).removesuffix("T00:00:00").replace("T", " ")
        return finished_content(value)

    def _number(self, style: str, value: str) -> str:
        if style not in self._styles and _PLAIN_NUMBER.fullmatch(value):
            return value
        try:
            text = self.shown(style, float(value))
        except (ValueError, OverflowError):  # no number after all, or infinite
            text = finished(unescaped(value))
        if len(self._shown) < _CACHE:
            self._shown[style, value] = text
        return text

    def _careful(self, sheet: Sheet, body: str, number: int) -> tuple[list[int], list[str]]:
        """Cells in any order and form: rich inline text, other attributes, formulas without value."""
        cells: dict[int, str] = {}
        column = -1
        for match in _ANY_CELL.finditer(body):
            given = attributes(match[1])
            place = _PLACE.fullmatch(given.get("r", ""))
            column = column_number(place[1].upper()) if place else column + 1
            if match[2] and column < _MAX_COLUMN:
                text = self._content(sheet, given, match[2], (number, column))
                if text:
                    cells[column] = text
        columns = sorted(cells)
        return columns, [cells[column] for column in columns]

    def _content(self, sheet: Sheet, given: dict[str, str], inside: str, at: tuple[int, int]) -> str:
        kind = given.get("t", "")
        if kind == "inlineStr" or "<is" in inside:
            return finished(rich_text(inside))
        value = _VALUE.search(inside)
        if value and value[1]:
            return self._text(sheet, given.get("s", ""), kind, value[1])
        formula = _FORMULA.search(inside)
        if formula is None or kind == "str":
            return ""
        sheet.uncached.append(f"{column_letters(at[1])}{at[0] + 1}")
        return finished_content(f"={formula[2]}") if formula[2] else ""


@lru_cache(maxsize=8)
def _cell_pattern(order: tuple[str, ...]) -> re.Pattern[str]:
    """Matches cells with attributes in this order; groups ``r``, ``s``, ``t`` in it, then the contents."""
    return re.compile("<c" + "".join(_ATTRIBUTES[name] for name in order) + _CONTENT)


def _order(part: bytes, start: int) -> tuple[str, ...]:
    """The order in which this part's writer puts the attributes of a cell."""
    match = _FULL_CELL.search(part, start, start + 100_000)
    found = tuple(re.findall(r" ([rst])=", match[1].decode())) if match else ()
    return found if len(set(found)) == 3 else _USUAL


def _has_content(row: bytes) -> bool:
    return b"<v" in row or b"<is" in row or b"<f" in row


def _hidden_columns(head: str) -> Iterator[int]:
    for match in _COLUMN.finditer(head):
        column = attributes(match[1])
        first, last = column.get("min", "1"), column.get("max", "1")
        if column.get("hidden") in _TRUE and first.isdecimal() and last.isdecimal():
            yield from range(int(first) - 1, min(int(last), _MAX_COLUMN))


def _merges(part: bytes, start: int) -> Iterator[tuple[int, int, int, int]]:
    for match in _MERGE.finditer(part, start):
        left, right = column_number(match[1].decode()), column_number(match[3].decode())
        top, bottom = int(match[2]) - 1, int(match[4]) - 1
        if 0 <= top <= bottom < _MAX_ROW and left <= right < _MAX_COLUMN:
            yield top, left, bottom - top + 1, right - left + 1
