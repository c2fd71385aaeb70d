"""Workbooks in the old container (.xls): values read by calamine, looks by their records."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any

from chunk_assets.converters.base import Limits
from chunk_assets.converters.ole import OLE_MAGIC, is_encrypted, unlock
from chunk_assets.converters.xlsx.cells import finished
from chunk_assets.converters.xlsx.legacy import Looks, looks
from chunk_assets.converters.xlsx.numbers import general
from chunk_assets.converters.xlsx.sheet import Row, Sheet, SheetReader
from chunk_assets.errors import DocumentFailure

# Cells of the dense grid that calamine builds; a whole sheet of this format has 16.8 million.
_MAX_CELLS = 20_000_000


def sheets(data: bytes, limits: Limits) -> Iterator[tuple[str, bool, Sheet]]:
    """Name, whether it is hidden, and cells of each sheet in order.

    Raises:
        DocumentFailure: ``encrypted``, ``broken`` or ``too_large``.
    """
    import python_calamine as calamine

    workbook, found = _open(data)
    entries = workbook.sheets_metadata
    if len(found) != len(entries):
        found = [Looks() for _ in entries]
    reader = SheetReader([], [], limits.max_output_chars)
    for entry, look in zip(entries, found, strict=True):
        hidden = entry.visible != calamine.SheetVisibleEnum.Visible
        if entry.typ == calamine.SheetTypeEnum.WorkSheet:
            yield entry.name, hidden, _sheet(workbook, entry.name, look, reader)


def _open(data: bytes) -> tuple[Any, list[Looks]]:
    """The workbook and the looks of its sheets, without the encryption that asks for no password."""
    import python_calamine as calamine

    found = looks(data)
    if any(look.spanned > _MAX_CELLS for look in found):  # its allocation would end the process
        raise DocumentFailure("too_large", f"a sheet spans more than {_MAX_CELLS} cells")
    try:
        return calamine.CalamineWorkbook.from_filelike(io.BytesIO(data)), found
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # its panics are no Exceptions
        if data.startswith(OLE_MAGIC) and is_encrypted(data):
            return _open(unlock(data))
        raise DocumentFailure("broken", f"not a readable workbook: {_first_line(error)}") from error


def _sheet(workbook: Any, name: str, look: Looks, reader: SheetReader) -> Sheet:
    try:
        found = workbook.get_sheet_by_name(name)
        sheet = Sheet(hidden_columns=look.hidden_columns)
        for row in _rows(found, look):
            reader.add(sheet, row)
        filled = {row.number for row in sheet.rows}
        sheet.hidden_rows = sorted(filled.intersection(look.hidden_rows))
        sheet.merges = _merges(found)
    except (DocumentFailure, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - its panics are no Exceptions
        return Sheet(fault=f"sheet {name!r} can't be read: {_first_line(error)}")
    return sheet


def _rows(found: Any, look: Looks) -> Iterator[Row]:
    top, left = found.start or (0, 0)
    for number, values in enumerate(found.to_python(skip_empty_area=True), top):
        row = Row(number, [], [])
        for column, value in enumerate(values, left):
            text = _shown(value, (number, column), look)
            if text:
                row.columns.append(column)
                row.texts.append(text)
        if row.columns:
            yield row


def _merges(found: Any) -> list[tuple[int, int, int, int]]:
    with suppress(AttributeError, TypeError):
        return [
            (top, left, bottom - top + 1, right - left + 1)
            for (top, left), (bottom, right) in found.merged_cell_ranges or ()
        ]
    return []


def _shown(value: Any, place: tuple[int, int], look: Looks) -> str:
    """A value of calamine as finished cell."""
    if isinstance(value, str):
        return finished(value) if value else look.errors.get(place, "")
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        render = look.renders.get(place)
        return finished(render(value)) if render else general(value)
    return _moment(value)


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return f"{seconds // 3_600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return finished(str(value))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
