"""Workbooks in other containers (.xls, .xlsb, .ods), read by calamine: values without number formats."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import Any

from chunk_assets.converters.ole import OLE_MAGIC, is_encrypted, unlock
from chunk_assets.converters.xlsx.cells import finished
from chunk_assets.converters.xlsx.numbers import general
from chunk_assets.converters.xlsx.sheet import Row, Sheet
from chunk_assets.errors import DocumentFailure

# Cells of the dense grid that calamine builds; a sheet with one cell in each far corner has more.
_MAX_CELLS = 30_000_000


def sheets(data: bytes) -> Iterator[tuple[str, bool, Sheet]]:
    """Name, whether it is hidden, and cells of each sheet in order.

    Raises:
        DocumentFailure: ``encrypted``, ``broken`` or ``too_large``.
    """
    import python_calamine as calamine

    workbook = _open(data)
    for entry in workbook.sheets_metadata:
        hidden = entry.visible != calamine.SheetVisibleEnum.Visible
        if entry.typ == calamine.SheetTypeEnum.WorkSheet:
            yield entry.name, hidden, _sheet(workbook, entry.name)


def _open(data: bytes) -> Any:
    import python_calamine as calamine

    try:
        return calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # its panics are no Exceptions
        if data.startswith(OLE_MAGIC) and is_encrypted(data):
            return _open(unlock(data))
        raise DocumentFailure("broken", f"not a readable workbook: {_first_line(error)}") from error


def _sheet(workbook: Any, name: str) -> Sheet:
    try:
        found = workbook.get_sheet_by_name(name)
        if found.total_height * found.total_width > _MAX_CELLS:
            raise DocumentFailure(
                "too_large", f"sheet {name!r} spans {found.total_height} × {found.total_width} cells"
            )
        start = found.start or (0, 0)
        sheet = Sheet()
        for number, values in enumerate(found.to_python(skip_empty_area=True), start[0]):
            row = Row(number, [], [])
            for column, value in enumerate(values, start[1]):
                if value != "" and (text := shown(value)):
                    row.columns.append(column)
                    row.texts.append(text)
            if row.columns:
                sheet.rows.append(row)
        with suppress(AttributeError, TypeError):
            sheet.merges = [
                (top, left, bottom - top + 1, right - left + 1)
                for (top, left), (bottom, right) in found.merged_cell_ranges or ()
            ]
    except (DocumentFailure, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # its panics are no Exceptions
        raise DocumentFailure("broken", f"sheet {name!r} can't be read: {_first_line(error)}") from error
    return sheet


def shown(value: Any) -> str:
    """A value of calamine as finished cell."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return general(value)
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
