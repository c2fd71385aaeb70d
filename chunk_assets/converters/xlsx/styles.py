"""What each cell style of a workbook does to a number."""

from __future__ import annotations

import html
import re

from chunk_assets.converters.xlsx.numbers import BUILT_IN, Render, renderer

_NUMBER_FORMAT = re.compile(r"<numFmt\b([^>]*)>")
_CELL_FORMATS = re.compile(r"<cellXfs\b.*?</cellXfs>", re.DOTALL)
_CELL_FORMAT = re.compile(r"<xf\b([^>]*)>")
_ID = re.compile(r'numFmtId="(\d+)"')
_CODE = re.compile(r'formatCode="([^"]*)"')


def number_styles(styles_xml: str, *, date1904: bool) -> list[Render | None]:
    """For each style index, the function that shows a number; ``None`` means as it is.

    ``styles_xml`` is the part ``xl/styles.xml`` without namespace prefixes, or empty.
    """
    codes = dict(BUILT_IN)
    for match in _NUMBER_FORMAT.finditer(styles_xml):
        number, code = _ID.search(match[1]), _CODE.search(match[1])
        if number and code:
            codes[int(number[1])] = html.unescape(code[1])
    block = _CELL_FORMATS.search(styles_xml)
    made: dict[int, Render | None] = {}
    styles: list[Render | None] = []
    for match in _CELL_FORMAT.finditer(block[0] if block else ""):
        number = _ID.search(match[1])
        key = int(number[1]) if number else 0
        if key not in made:
            made[key] = renderer(codes.get(key, "General"), date1904=date1904)
        styles.append(made[key])
    return styles
