"""What calamine leaves out of .xls workbooks: number formats, error cells, hidden rows and columns.

Records after [MS-XLS] 2.4; only those are read that say something about how a cell looks.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from chunk_assets.converters.xlsx.numbers import BUILT_IN, Render, renderer

_EOF, _DATE_MODE, _FILE_PASS, _BOUND_SHEET, _XF, _FORMAT = 0x0A, 0x22, 0x2F, 0x85, 0xE0, 0x41E
_FORMULA, _COL_INFO, _MUL_RK, _NUMBER, _BOOL_ERR, _ROW, _RK = (
    0x06, 0x7D, 0xBD, 0x203, 0x205, 0x208, 0x27E,
)  # fmt: skip
# Records with a place: the ones above, and texts of four kinds.
_CELLS = frozenset((_FORMULA, _MUL_RK, _NUMBER, _BOOL_ERR, _RK, 0xD6, 0xFD, 0x204, 0x201, 0xBE))
_SEVERAL = frozenset((_MUL_RK, 0xBE))
ERRORS = {
    0x00: "#NULL!", 0x07: "#DIV/0!", 0x0F: "#VALUE!", 0x17: "#REF!",
    0x1D: "#NAME?", 0x24: "#NUM!", 0x2A: "#N/A",
}  # fmt: skip


@dataclass(slots=True)
class Looks:
    """How the cells of one sheet look, by (row, column) from 0."""

    renders: dict[tuple[int, int], Render] = field(default_factory=dict)
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    spanned: int = 0  # cells from the first one to the last row and column that have any


def looks(data: bytes) -> list[Looks]:
    """The looks of each sheet in the order of the workbook; empty when the container can't be read."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            name = next(name for name in ("Workbook", "Book") if container.exists(name))
            stream: bytes = container.openstream(name).read()
        return stream_looks(stream)
    except Exception:  # noqa: BLE001 - the looks are an extra; values come from elsewhere
        return []


def stream_looks(stream: bytes) -> list[Looks]:
    """The looks of each sheet of a workbook stream."""
    codes: dict[int, str] = dict(BUILT_IN)
    formats: list[int] = []
    places: list[int] = []
    date1904 = False
    for kind, body in _records(stream, 0):
        if kind == _FORMAT and len(body) >= 5:
            codes[struct.unpack_from("<H", body)[0]] = _string(body)
        elif kind == _XF and len(body) >= 4:
            formats.append(struct.unpack_from("<H", body, 2)[0])
        elif kind == _DATE_MODE:
            date1904 = body[:1] == b"\x01"
        elif kind == _FILE_PASS:
            return []  # what follows is encrypted
        elif kind == _BOUND_SHEET and len(body) >= 4:
            places.append(struct.unpack_from("<I", body)[0])
    made = {number: renderer(codes.get(number, "General"), date1904=date1904) for number in set(formats)}
    styles = [made[number] for number in formats]
    return [_sheet_looks(stream, place, styles) for place in places]


def _records(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Records of one substream up to its end."""
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        if kind == _EOF:
            return
        yield kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def _string(body: bytes) -> str:
    """A format code: with a length of two bytes and a flag for wide characters, or the older form."""
    length, wide = struct.unpack_from("<HB", body, 2)
    if length <= len(body) - 5:
        raw = body[5 : 5 + length * (2 if wide & 1 else 1)]
        return raw.decode("utf-16-le" if wide & 1 else "latin-1", "replace")
    return body[3 : 3 + body[2]].decode("latin-1")


def _sheet_looks(stream: bytes, at: int, styles: list[Render | None]) -> Looks:
    found = Looks()
    last_row = last_column = 0
    for kind, body in _records(stream, at):
        if kind in _CELLS:
            if len(body) < 6:
                continue
            row, column = struct.unpack_from("<2H", body)
            width = (len(body) - 6) // 6 if kind in _SEVERAL else 1
            last_row, last_column = max(last_row, row), max(last_column, column + width - 1)
        _look(found, styles, kind, body)
    found.spanned = (last_row + 1) * (last_column + 1)
    return found


def _look(found: Looks, styles: list[Render | None], kind: int, body: bytes) -> None:
    """What one record says of its cells, row or columns."""
    if kind in (_NUMBER, _RK, _FORMULA):
        row, column, style = struct.unpack_from("<3H", body)
        _style(found, styles, (row, column), style)
        if kind == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2:
            found.errors[row, column] = ERRORS.get(body[8], "#ERROR!")
    elif kind == _MUL_RK:
        row, first = struct.unpack_from("<2H", body)
        for offset in range((len(body) - 6) // 6):
            style = struct.unpack_from("<H", body, 4 + offset * 6)[0]
            _style(found, styles, (row, first + offset), style)
    elif kind == _BOOL_ERR and len(body) >= 8 and body[7]:
        row, column = struct.unpack_from("<2H", body)
        found.errors[row, column] = ERRORS.get(body[6], "#ERROR!")
    else:
        _hidden(found, kind, body)


def _style(found: Looks, styles: list[Render | None], place: tuple[int, int], style: int) -> None:
    render = styles[style] if style < len(styles) else None
    if render is not None:
        found.renders[place] = render


def _hidden(found: Looks, kind: int, body: bytes) -> None:
    if kind == _ROW and len(body) >= 16 and body[12] & 0x20:
        found.hidden_rows.append(struct.unpack_from("<H", body)[0])
    elif kind == _COL_INFO and len(body) >= 10 and body[8] & 1:
        first, last = struct.unpack_from("<2H", body)
        found.hidden_columns += range(first, min(last, 255) + 1)
