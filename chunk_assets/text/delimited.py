"""Text of records with delimiters (CSV) as if it were a table: each record is a row.

Only for the ``row`` strategy, and only where the text has no table of its own: files of this kind
normally come through their converter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.text.markdown import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

_DELIMITERS = ",;\t|"
_LEAST_RECORDS = 2
_LINE_END = re.compile(r"\r\n|[\n\r]")


def as_table(text: str) -> kinds.Blocks | None:
    """The records of ``text`` as the rows of one table, ``None`` where it is not made of records.

    It is, when all records have the same number of fields, two or more, by one delimiter; a quoted
    field may hold delimiters and line ends.
    """
    first_line = text.lstrip("\ufeff").lstrip().partition("\n")[0]
    for delimiter in _DELIMITERS:
        if delimiter not in first_line:
            continue
        found = list(_records(text, delimiter))
        if len(found) >= _LEAST_RECORDS and len({fields for _, _, fields in found}) == 1 and found[0][2] > 1:
            return _table([(start, end) for start, end, _ in found])
    return None


def _table(records: list[tuple[int, int]]) -> kinds.Blocks:
    def numbers(*values: int) -> np.typing.NDArray[np.int64]:
        return np.array(values, dtype=np.int64)

    whole = numbers(records[0][0], records[-1][1]).reshape(1, 2)
    return kinds.Blocks(
        kinds=numbers(kinds.TABLE),
        starts=whole[:, 0],
        ends=whole[:, 1],
        levels=numbers(0),
        items=numbers(),
        rows=numbers(*(start for start, _ in records[1:])),
        headers=numbers(*records[0]).reshape(1, 2),
        tables=whole,
        nested_fences=numbers().reshape(0, 2),
    )


def _records(text: str, delimiter: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and number of fields of each record that is not blank; stops at a ragged one."""
    mark = re.escape(delimiter)
    field = re.compile(rf'[ \t]*"(?:[^"]|"")*"[ \t]*(?={mark}|[\r\n]|$)|[^{mark}\r\n]*')
    at = len(text) - len(text.lstrip("\ufeff"))
    expected = 0
    while at < len(text):
        start, fields = at, 0
        while True:
            found = field.match(text, at)
            at = found.end() if found else len(text)
            fields += 1
            if at >= len(text) or text[at] != delimiter:
                break
            at += 1
        if text[start:at].strip():
            yield start, at, fields
            expected = expected or fields
            if fields != expected:
                return
        line_end = _LINE_END.match(text, at)
        at = line_end.end() if line_end else len(text)
