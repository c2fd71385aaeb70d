"""The parts of a workbook in every form that writers give them, and as attackers do."""

from __future__ import annotations

import io
import time
import zipfile

import pytest
from workbooks import convert, failure, one_sheet, patched, raw_sheet, saved

# -- forms of the same XML ---------------------------------------------------------------------------

FORMS = {
    "usual": '<row r="1"><c r="A1" s="0" t="s"><v>0</v></c><c r="B1"><v>7</v></c></row>',
    "other order": '<row r="1"><c t="s" s="0" r="A1"><v>0</v></c><c s="0" r="B1"><v>7</v></c></row>',
    "no places": '<row><c t="s"><v>0</v></c><c><v>7</v></c></row>',
    "inline": '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c><c r="B1" t="n"><v>7</v></c></row>',
    "white space": '<row r="1">\n <c r="A1" t="s">\n  <v>0</v>\n </c>\n <c r="B1"><v>7</v></c>\n</row>',
    "more attributes": '<row r="1"><c r="A1" t="s" cm="1"><v>0</v></c><c r="B1" ph="1"><v>7</v></c></row>',
    "comments": '<row r="1"><!-- <c r="Z1"/> --><c r="A1" t="s"><v>0</v></c><c r="B1"><v>7</v></c></row>',
    "single quotes": "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1'><v>7</v></c></row>",
    "empty cells": '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>7</v></c><c r="C1" s="0"/></row>',
    "cdata": '<row r="1"><c r="A1" t="str"><v><![CDATA[name]]></v></c><c r="B1"><v>7</v></c></row>',
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_every_way_to_write_a_row_reads_the_same(form):
    assert "| name | 7 |" in convert(raw_sheet(form, "<si><t>name</t></si>")).markdown


def test_prefixed_names_read_the_same():
    def prefixed(part: bytes) -> bytes:
        return (
            part.replace(b"<", b"<x:")
            .replace(b"<x:/", b"</x:")
            .replace(b"<x:?", b"<?")
            .replace(b"xmlns=", b"xmlns:x=")
        )

    data = saved(one_sheet(["a", "b"], ["c", 2]))
    for part in ("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/workbook.xml", "xl/styles.xml"):
        data = patched(data, part, prefixed)
    assert "| c | 2 |" in convert(data).markdown


def test_utf_16_parts_read_the_same():
    def wide(part: bytes) -> bytes:
        return (
            part.replace(b"encoding='UTF-8'", b"").replace(b'encoding="UTF-8"', b"").decode().encode("utf-16")
        )

    assert (
        "| c | 2 |"
        in convert(patched(saved(one_sheet(["a", "b"], ["c", 2])), "xl/worksheets/sheet1.xml", wide)).markdown
    )


# -- hostile and damaged ----------------------------------------------------------------------------


def test_strings_that_are_missing_make_the_result_partial():
    converted = convert(raw_sheet('<row r="1"><c r="A1" t="s"><v>5</v></c><c r="B1"><v>7</v></c></row>'))
    assert converted.status == "partial"
    assert "1 cells" in converted.reason
    assert "7" in converted.markdown


def test_a_zip_without_a_workbook_is_broken():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert failure(stream.getvalue()).status == "broken"


@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/workbook.xml"]
)
def test_entity_bombs_are_refused(part):
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    data = patched(saved(one_sheet(["a"])), part, lambda old: bomb + old.split(b"?>")[-1])
    assert failure(data).status == "unsafe"


def test_a_zip_bomb_is_refused_at_once():
    data = patched(saved(one_sheet(["a"])), "xl/worksheets/sheet1.xml", lambda _: b" " * 60_000_000)
    started = time.process_time()
    assert failure(data).status == "unsafe"
    assert time.process_time() - started < 0.5


def test_one_long_string_in_many_cells_does_not_fill_the_memory():
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 5_000))
    data = raw_sheet(cells, f"<si><t>{'x' * 1_000_000}</t></si>")
    assert failure(data).status == "too_large"


def test_merged_areas_do_not_multiply_a_long_text_without_bound():
    book = one_sheet(["x" * 30_000, "b"], *[[None, n] for n in range(3_000)])
    book.active.merge_cells("A1:A3001")
    assert failure(saved(book)).status == "too_large"


def test_a_dimension_that_lies_costs_nothing():
    def lie(part: bytes) -> bytes:
        return part.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"')

    data = patched(saved(one_sheet(["k", "v"], ["only", 1])), "xl/worksheets/sheet1.xml", lie)
    started = time.process_time()
    assert "| only | 1 |" in convert(data).markdown
    assert time.process_time() - started < 1


def test_cells_in_the_far_corners_cost_nothing():
    body = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    assert len(convert(raw_sheet(body)).markdown) < 100


def test_a_hundred_thousand_styled_blank_rows_leave_no_lines():
    body = "".join(f'<row r="{n}"><c r="A{n}" s="0"/></row>' for n in range(2, 100_000))
    assert len(convert(raw_sheet('<row r="1"><c r="A1"><v>1</v></c></row>' + body)).markdown) < 100


def test_a_wide_sheet_is_one_table():
    text = convert(one_sheet([f"c{n}" for n in range(3_000)], list(range(3_000)))).markdown
    assert "c2999" in text
    assert len(text.splitlines()) == 5


def test_fifty_thousand_merged_areas_are_read_in_a_moment():
    cells = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 50_001))
    merges = "".join(f'<mergeCell ref="A{n}:B{n}"/>' for n in range(1, 50_001))
    data = raw_sheet(cells)
    data = patched(
        data,
        "xl/worksheets/sheet1.xml",
        lambda part: part.replace(
            b"</sheetData>", b"</sheetData><mergeCells>" + merges.encode() + b"</mergeCells>"
        ),
    )
    started = time.process_time()
    convert(data)
    assert time.process_time() - started < 5


def test_time_grows_in_proportion_to_the_rows():
    def seconds(count: int) -> float:
        body = "".join(
            f'<row r="{n}"><c r="A{n}" t="s"><v>{n % 50}</v></c><c r="B{n}"><v>{n}.5</v></c></row>'
            for n in range(1, count)
        )
        data = raw_sheet(body, "".join(f"<si><t>name {n}</t></si>" for n in range(50)))
        started = time.process_time()
        convert(data)
        return time.process_time() - started

    seconds(100)
    assert seconds(40_000) < 12 * max(seconds(10_000), 0.02)


def test_a_missing_sheet_part_makes_the_result_partial():
    book = one_sheet(["a", "b"], [1, 2])
    book.create_sheet("Second").append(["x", "y"])
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(book))) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            if not name.endswith("sheet2.xml"):
                new.writestr(name, old.read(name))
    converted = convert(stream.getvalue())
    assert (converted.status, converted.reason) == ("partial", "sheet 'Second' has no part in the package")
    assert "| a | b |" in converted.markdown


def merged(data: bytes, *areas: str) -> bytes:
    cells = "".join(f'<mergeCell ref="{area}"/>' for area in areas).encode()

    def change(part: bytes) -> bytes:
        return part.replace(b"</sheetData>", b"</sheetData><mergeCells>" + cells + b"</mergeCells>")

    return patched(data, "xl/worksheets/sheet1.xml", change)


@pytest.mark.parametrize("area", ["A1:ZZZZZZZ1", "A1:A99999999999", "B9:A1", "A0:B0", "A1:XFD1048576"])
def test_merged_areas_beyond_any_sheet_cost_nothing(area):
    data = raw_sheet('<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row>')
    started = time.process_time()
    assert "| 1 | 2 |" in convert(merged(data, *[area] * 200)).markdown
    assert time.process_time() - started < 2


def test_a_row_number_beyond_any_sheet_is_read_as_the_next_row():
    body = '<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999999"><c r="A2"><v>2</v></c></row>'
    assert convert(raw_sheet(body)).markdown.count("| 2 |") == 1
