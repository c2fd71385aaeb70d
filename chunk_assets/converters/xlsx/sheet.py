"""One worksheet part: rows of shown cells, merged areas, what is hidden, formulas without a value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from chunk_assets.converters.markup import clean_text, escape_cell
from chunk_assets.converters.xlsx.numbers import Render, general
from chunk_assets.converters.xlsx.xml import attribute, text_of
from chunk_assets.errors import DocumentFailure

_ROW = re.compile(rb"<row\b([^>]*)>")
# The attributes of a cell in the order of its writer, then value or inline text: see ``_cell_pattern``.
_ATTRIBUTES = {b"r": rb' r="([A-Z]+)\d+"', b"s": rb'(?: s="(\d+)")?', b"t": rb'(?: t="(\w+)")?'}
_CONTENT = (
    rb">(?:<f[^>]*/>|<f[^>]*>[^<]*</f>)?"
    rb'(?:<v>([^<]+)</v>|<is><t(?: xml:space="preserve")?>([^<]*)</t></is>)</c>'
)
_FULL_CELL = re.compile(rb'<c((?: [rst]="[^"]*"){3})[ />]')
# Bytes that are finished text as they are: ASCII without characters that may need care in markdown.
# An underscore inside a word is no emphasis.
_CARE = re.compile(rb"[^ !-%'-)+-;=-Z^_a-z{}]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|  |^ | $")
# A number as it would be shown without a format: nothing to round, no exponent.
_PLAIN_NUMBER = re.compile(rb"-?\d{1,15}|-?(?=[\d.]{3,16}$)(?:0|[1-9]\d*)\.\d*[1-9]")
# Any cell with content; empty ones end in "/>".
_ANY_CELL = re.compile(rb"<c\b([^>]*?)(?:/>|>(.*?)</c>)", re.DOTALL)
_EMPTY_CELL = re.compile(rb"<c\b[^>]*/>|<c\b[^>/]*></c>")
_VALUE = re.compile(rb"<v\b[^>]*>(.*?)</v>", re.DOTALL)
_FORMULA = re.compile(rb"<f\b([^>]*?)(?:/>|>(.*?)</f>)", re.DOTALL)
_TEXT = re.compile(rb"<t\b[^>]*?(?:/>|>(.*?)</t>)", re.DOTALL)
_PHONETIC = re.compile(rb"<rPh\b.*?</rPh>|<phoneticPr\b[^>]*/>", re.DOTALL)
_MERGE = re.compile(rb'<mergeCell ref="\$?([A-Z]+)\$?(\d+):\$?([A-Z]+)\$?(\d+)"')
_COLUMN = re.compile(rb"<col\b([^>]*)/?>")
_PAIR = re.compile(rb'([a-z]+)\s*=\s*"([^"]*)"')
_PLACE = re.compile(rb"([A-Za-z]{1,3})\d+")
_NUMERIC = frozenset((b"", b"n"))
_MAX_COLUMN = 16_384
# Shown numbers that are kept for the next cell with the same style and value.
_CACHE = 200_000


@dataclass(slots=True)
class Row:
    """Cells with text: ``columns[i]`` (from 0, rising) holds ``texts[i]``, finished markdown."""

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
    lost: int = 0  # cells that refer to strings the file has not


def column_number(letters: bytes) -> int:
    """Column from 0: ``A`` is 0, ``AA`` is 26."""
    number = 0
    for char in letters:
        number = number * 26 + (char & 31)
    return number - 1


@lru_cache(maxsize=8)
def _cell_pattern(order: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Matches cells with attributes in this order; groups ``r``, ``s``, ``t`` in it, then the contents."""
    return re.compile(b"<c" + b"".join(_ATTRIBUTES[name] for name in order) + _CONTENT)


def _order(part: bytes, start: int) -> tuple[bytes, ...]:
    """The order in which this part's writer puts the attributes of a cell."""
    match = _FULL_CELL.search(part, start, start + 100_000)
    found = tuple(re.findall(rb" ([rst])=", match[1])) if match else ()
    return found if len(set(found)) == 3 else (b"r", b"s", b"t")


class SheetReader:
    """Reads worksheet parts of one workbook, which share strings, styles and the cache of numbers."""

    def __init__(self, strings: Sequence[str], styles: Sequence[Render | None], max_chars: int) -> None:
        self._strings = strings
        self._styles = styles
        self._max_chars = max_chars
        self._chars = 0
        self._lost = 0
        self._shown: dict[tuple[bytes, bytes], str] = {}
        self._columns: dict[tuple[bytes, ...], list[int]] = {}
        self._cells = _cell_pattern((b"r", b"s", b"t"))
        self._places: tuple[int, ...] = (0, 1, 2)

    def read(self, part: bytes) -> Sheet:
        """The sheet of a worksheet part in regular form (see ``xml.regular``)."""
        sheet = Sheet()
        at = part.find(b"<sheetData")
        end = part.find(b"</sheetData>", at)
        end = len(part) if end < 0 else end
        self._hidden_columns(sheet, part[: max(at, 0)])
        order = _order(part, max(at, 0))
        self._cells = _cell_pattern(order)
        self._places = tuple(order.index(name) for name in (b"r", b"s", b"t"))
        number = -1
        if not _has_content(part):
            return sheet
        for piece in part[max(at, 0) : end].split(b"</row>"):
            match = _ROW.search(piece)
            if match and _has_content(piece):
                number = self._row(sheet, match[1], piece[match.end() :], number)
            elif match:
                number = _row_number(match[1], number)
        sheet.rows.sort(key=lambda row: row.number)
        sheet.lost, self._lost = self._lost, 0
        if sheet.rows:
            sheet.merges = list(_merges(part, end))
        return sheet

    def _hidden_columns(self, sheet: Sheet, head: bytes) -> None:
        for match in _COLUMN.finditer(head):
            if attribute(match[1], b"hidden") in ("1", "true"):
                first = int(attribute(match[1], b"min") or 1)
                last = int(attribute(match[1], b"max") or first)
                sheet.hidden_columns += range(first - 1, min(last, _MAX_COLUMN))

    def _row(self, sheet: Sheet, attributes: bytes, body: bytes, before: int) -> int:
        number = _row_number(attributes, before)
        found = self._cells.findall(body)
        if len(found) == body.count(b"<c ") - len(_EMPTY_CELL.findall(body) if b"/>" in body else ()):
            columns, texts = self._fast(found)
        else:
            columns, texts = self._careful(sheet, body, number)
        if columns:
            self._count(texts)
            sheet.rows.append(Row(number, columns, texts))
            if b"hidden" in attributes and attribute(attributes, b"hidden") in ("1", "true"):
                sheet.hidden_rows.append(number)
        return number

    def _count(self, texts: list[str]) -> None:
        """One long string that every cell refers to is small in the file and huge in the text."""
        self._chars += sum(map(len, texts))
        if self._chars > self._max_chars:
            raise DocumentFailure("too_large", f"more than {self._max_chars} characters of text, the limit")

    def _fast(self, found: list[tuple[bytes, ...]]) -> tuple[list[int], list[str]]:
        """Columns and texts of a row; written flat, since it runs once for every cell."""
        r, s, t = self._places
        shown = self._shown
        letters = tuple([cell[r] for cell in found])
        columns = self._columns.get(letters)
        if columns is None:
            columns = self._columns[letters] = [column_number(place) for place in letters]
        texts = []
        for cell in found:
            value = cell[3]
            if not value:
                texts.append(finished_bytes(cell[4]))
            elif cell[t] in _NUMERIC:
                text = shown.get((cell[s], value))
                texts.append(self._number(cell[s], value) if text is None else text)
            else:
                texts.append(self._text(cell[s], cell[t], value))
        if "" in texts:
            kept = [(c, text) for c, text in zip(columns, texts, strict=True) if text]
            return [c for c, _ in kept], [text for _, text in kept]
        return columns, texts

    def _text(self, style: bytes, kind: bytes, value: bytes) -> str:
        """The shown text of a cell with a value."""
        if kind == b"s":
            try:
                return self._strings[int(value)]
            except (ValueError, IndexError):
                self._lost += 1
                return ""
        if kind in _NUMERIC:
            text = self._shown.get((style, value))
            return self._number(style, value) if text is None else text
        if kind == b"b":
            return "TRUE" if value.strip() in (b"1", b"true") else "FALSE"
        if kind == b"d":
            return text_of(value).removesuffix("T00:00:00").replace("T", " ")
        return finished_bytes(value)

    def _number(self, style: bytes, value: bytes) -> str:
        render = self._styles[int(style)] if style and int(style) < len(self._styles) else None
        if render is None and _PLAIN_NUMBER.fullmatch(value):
            return value.decode()
        try:
            text = render(float(value)) if render else general(float(value))
        except (ValueError, OverflowError):  # no number after all, or infinite
            text = value.decode("utf-8", "replace")
        text = finished(text)
        if len(self._shown) < _CACHE:
            self._shown[style, value] = text
        return text

    def _careful(self, sheet: Sheet, body: bytes, number: int) -> tuple[list[int], list[str]]:
        """Cells in any order and form: inline text, attributes in another order, formulas without value."""
        cells: dict[int, str] = {}
        column = -1
        for match in _ANY_CELL.finditer(body):
            attributes = dict(_PAIR.findall(match[1]))
            place = _PLACE.fullmatch(attributes.get(b"r", b""))
            column = column_number(place[1].upper()) if place else column + 1
            if match[2] and column < _MAX_COLUMN:
                text = self._content(sheet, attributes, match[2], (number, column))
                if text:
                    cells[column] = text
        columns = sorted(cells)
        return columns, [cells[column] for column in columns]

    def _content(
        self, sheet: Sheet, attributes: dict[bytes, bytes], inside: bytes, at: tuple[int, int]
    ) -> str:
        style, kind = attributes.get(b"s", b""), attributes.get(b"t", b"")
        if kind == b"inlineStr" or b"<is" in inside:
            return finished(rich_text(inside))
        value = _VALUE.search(inside)
        if value and value[1]:
            return self._text(style, kind, value[1])
        formula = _FORMULA.search(inside)
        if formula is None or kind == b"str":
            return ""
        sheet.uncached.append(f"{_letters(at[1])}{at[0] + 1}")
        return finished(f"={text_of(formula[2])}") if formula[2] else ""


def rich_text(inside: bytes) -> str:
    """The text of a string item: its runs joined, readings (phonetic runs) left out."""
    if b"<rPh" in inside:
        inside = _PHONETIC.sub(b"", inside)
    return "".join(text_of(match[1] or b"") for match in _TEXT.finditer(inside))


def finished_bytes(raw: bytes) -> str:
    """Element content as finished markdown; most of it is finished as it is."""
    return finished(text_of(raw)) if _CARE.search(raw) else raw.decode("ascii")


def finished(text: str) -> str:
    """Text of a cell as markdown."""
    return escape_cell(clean_text(text))


def _row_number(attributes: bytes, before: int) -> int:
    given = attribute(attributes, b"r") if b"r=" in attributes else None
    return int(given) - 1 if given and given.isdigit() else before + 1


def _has_content(row: bytes) -> bool:
    return b"<v" in row or b"<is" in row or b"<f" in row


def _letters(column: int) -> str:
    letters = ""
    while column >= 0:
        column, rest = divmod(column, 26)
        letters = chr(65 + rest) + letters
        column -= 1
    return letters


def _merges(part: bytes, start: int) -> Iterator[tuple[int, int, int, int]]:
    for match in _MERGE.finditer(part, start):
        left, right = column_number(match[1]), column_number(match[3])
        top, bottom = int(match[2]) - 1, int(match[4]) - 1
        if bottom >= top and right >= left:
            yield top, left, bottom - top + 1, right - left + 1
