"""Binary workbooks (.xlsb) by their records, [MS-XLSB] 2.1.4: small enough to read without a library.

calamine reads the values of most of them, but neither their number formats nor every file.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping

from chunk_assets.converters.xlsx.cells import finished
from chunk_assets.converters.xlsx.legacy import ERRORS
from chunk_assets.converters.xlsx.numbers import BUILT_IN, Render, renderer
from chunk_assets.converters.xlsx.sheet import Row, Sheet, SheetReader

# Record numbers, named as in the specification without "Brt".
_ROW_HDR, _SST_ITEM, _FMT, _XF, _COL_INFO = 0, 19, 44, 47, 60
_WB_PROP, _BUNDLE_SH, _MERGE_CELL, _BEGIN_CELL_XFS, _END_CELL_XFS = 153, 156, 176, 617, 618


def records(part: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each record; a cut off last one is left out."""
    at = 0
    while at < len(part):
        kind, at = _variable(part, at, 2)
        size, at = _variable(part, at, 4)
        if at + size > len(part):
            return
        yield kind, part[at : at + size]
        at += size


def _variable(part: bytes, at: int, most: int) -> tuple[int, int]:
    """An integer of seven bits a byte and the place after it; record numbers keep their high bits apart."""
    value = 0
    for shift in range(most):
        if at >= len(part):
            return value, at
        byte = part[at]
        value |= (byte & 0x7F) << (7 * shift)
        at += 1
        if not byte & 0x80:
            break
    return value, at


def _wide(body: bytes, at: int) -> tuple[str, int]:
    """A string with its length before it, and the place after it."""
    if at + 4 > len(body):
        return "", at
    length = struct.unpack_from("<I", body, at)[0]
    if length == 0xFFFFFFFF:  # no string at all
        return "", at + 4
    end = at + 4 + 2 * length
    return body[at + 4 : end].decode("utf-16-le", "replace"), end


def sheet_entries(workbook: bytes) -> Iterator[tuple[str, str, bool]]:
    """Name, relation id and whether it is hidden, of each sheet."""
    for kind, body in records(workbook):
        if kind == _BUNDLE_SH:
            relation, name = _relation_and_name(body)
            yield name, relation, body[:1] not in (b"", b"\x00")


def _relation_and_name(body: bytes) -> tuple[str, str]:
    """The two strings at the end of a sheet's entry; the first versions of the format had one field more."""
    relation, at = _wide(body, 8)
    name, end = _wide(body, at)
    if end != len(body):
        relation, at = _wide(body, 12)
        name, _ = _wide(body, at)
    return relation, name


def uses_1904(workbook: bytes) -> bool:
    """Whether days are counted from 1904."""
    return any(kind == _WB_PROP and body[:1] and body[0] & 1 for kind, body in records(workbook))


def strings(part: bytes) -> list[str]:
    """The shared strings as finished cells."""
    return [finished(_wide(body, 1)[0]) for kind, body in records(part) if kind == _SST_ITEM]


def number_styles(part: bytes, *, date1904: bool) -> list[Render | None]:
    """For each style index, the function that shows a number; ``None`` means as it is."""
    codes: dict[int, str] = dict(BUILT_IN)
    styles: list[Render | None] = []
    inside = False
    for kind, body in records(part):
        if kind == _FMT and len(body) > 2:
            codes[struct.unpack_from("<H", body)[0]] = _wide(body, 2)[0]
        elif kind in (_BEGIN_CELL_XFS, _END_CELL_XFS):
            inside = kind == _BEGIN_CELL_XFS
        elif kind == _XF and inside and len(body) >= 4:
            code = codes.get(struct.unpack_from("<H", body, 2)[0], "General")
            styles.append(renderer(code, date1904=date1904))
    return styles


def read(part: bytes, reader: SheetReader) -> Sheet:
    """The sheet of a binary worksheet part."""
    sheet = Sheet()
    row = Row(0, [], [])
    for kind, body in records(part):
        if kind == _ROW_HDR and len(body) >= 12:
            _close(sheet, row, reader)
            row = Row(struct.unpack_from("<I", body)[0], [], [])
            if body[11] & 0x10:
                sheet.hidden_rows.append(row.number)
        elif kind in _VALUES and len(body) > 8:
            text = _text(sheet, kind, body, reader)
            if text:
                row.columns.append(struct.unpack_from("<I", body)[0])
                row.texts.append(text)
        else:
            _area(sheet, kind, body)
    _close(sheet, row, reader)
    filled = {row.number for row in sheet.rows}
    sheet.hidden_rows = [number for number in sheet.hidden_rows if number in filled]
    return sheet


def _area(sheet: Sheet, kind: int, body: bytes) -> None:
    """Merged cells and hidden columns."""
    if kind == _MERGE_CELL and len(body) >= 16:
        top, bottom, left, right = struct.unpack_from("<4I", body)
        if top <= bottom < 1_048_576 and left <= right < 16_384:
            sheet.merges.append((top, left, bottom - top + 1, right - left + 1))
    elif kind == _COL_INFO and len(body) >= 18 and body[16] & 1:
        first, last = struct.unpack_from("<2I", body)
        sheet.hidden_columns += range(first, min(last, 16_383) + 1)


def _close(sheet: Sheet, row: Row, reader: SheetReader) -> None:
    if row.columns:
        reader.add(sheet, row)


def _text(sheet: Sheet, kind: int, body: bytes, reader: SheetReader) -> str:
    """The shown text of a cell record: column, style (3 bytes), flags, then the value."""
    style = str(int.from_bytes(body[4:7], "little"))
    value = _VALUES[kind](body)
    if kind == 7 and isinstance(value, float):
        return reader.string(sheet, int(value))
    return value if isinstance(value, str) else reader.shown(style, value)


def _rk(body: bytes) -> float:
    """A number packed into 30 bits: bit 0 divides by 100, bit 1 marks an integer."""
    packed = struct.unpack_from("<i", body, 8)[0] if len(body) >= 12 else 0
    whole = packed >> 2
    value = float(whole) if packed & 2 else struct.unpack("<d", struct.pack("<q", (packed & ~3) << 32))[0]
    return float(value / 100 if packed & 1 else value)


def _real(body: bytes) -> float:
    return float(struct.unpack_from("<d", body, 8)[0]) if len(body) >= 16 else 0.0


def _index(body: bytes) -> float:
    return float(struct.unpack_from("<I", body, 8)[0]) if len(body) >= 12 else -1.0


def _error(body: bytes) -> str:
    return ERRORS.get(body[8], "#ERROR!")


def _bool(body: bytes) -> str:
    return "TRUE" if body[8] else "FALSE"


def _string(body: bytes) -> str:
    return finished(_wide(body, 8)[0])


# Cell records with a value: packed number, error, truth, number, text, shared text; then formulas.
_VALUES: Mapping[int, Callable[[bytes], str | float]] = {
    2: _rk,
    3: _error,
    4: _bool,
    5: _real,
    6: _string,
    7: _index,
    8: _string,
    9: _real,
    10: _bool,
    11: _error,
}
