"""Workbooks in other containers: binary OOXML, the old format, OpenDocument."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest
from workbooks import convert, failure, lines

from chunk_assets.converters.xlsx.binary import read
from chunk_assets.converters.xlsx.legacy import stream_looks
from chunk_assets.converters.xlsx.sheet import SheetReader

# -- the old format ---------------------------------------------------------------------------------


def test_encrypted_old_workbooks_are_named_so(shared):
    data = (shared / "corpus/other/msoffcrypto-tool__rc4cryptoapi_password.xls").read_bytes()
    assert failure(data).status == "encrypted"


def test_old_workbooks_are_read(shared):
    text = convert((shared / "corpus/other/markitdown__test.xls").read_bytes()).markdown
    assert "| 89 | 82 | 100 | 12 |" in text


def old_record(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def old_stream() -> bytes:
    """A workbook stream with one sheet: a percentage, a packed row, an error, a hidden row and column."""
    code = b"0.0%"
    head = old_record(0x809, bytes(16))
    head += old_record(0x41E, struct.pack("<HHB", 164, len(code), 0) + code)
    head += old_record(0xE0, struct.pack("<HH", 0, 0) + bytes(16))
    head += old_record(0xE0, struct.pack("<HH", 0, 164) + bytes(16))
    place = len(head) + 4 + 8 + 4
    head += old_record(0x85, struct.pack("<I", place) + bytes(4)) + old_record(0x0A, b"")
    body = old_record(0x809, bytes(16))
    body += old_record(0x7D, struct.pack("<5H", 3, 4, 0, 0, 1))
    body += old_record(0x208, struct.pack("<3H", 5, 0, 4) + bytes(6) + struct.pack("<I", 0x20))
    body += old_record(0x203, struct.pack("<3Hd", 0, 1, 1, 0.125))
    body += old_record(
        0xBD, struct.pack("<2H", 2, 0) + struct.pack("<HiHi", 0, 0, 1, 0) + struct.pack("<H", 1)
    )
    body += old_record(0x205, struct.pack("<3HBB", 3, 0, 0, 0x07, 1))
    error = b"\x02\x00\x2a\x00\x00\x00\xff\xff"
    body += old_record(0x06, struct.pack("<3H", 4, 0, 0) + error + bytes(8))
    return head + body + old_record(0x0A, b"")


def test_looks_of_old_workbooks_are_read_from_their_records():
    (look,) = stream_looks(old_stream())
    assert look.renders[0, 1](0.125) == "12.5%"
    assert set(look.renders) == {(0, 1), (2, 1)}
    assert look.errors == {(3, 0): "#DIV/0!", (4, 0): "#N/A"}
    assert (look.hidden_rows, look.hidden_columns) == ([5], [3, 4])


def test_a_far_off_cell_of_a_damaged_old_workbook_is_seen_before_memory_is_taken():
    far = old_record(0x203, struct.pack("<3Hd", 65_535, 65_535, 0, 1.0)) + old_record(0x0A, b"")
    (look,) = stream_looks(old_stream()[:-4] + far)
    assert look.spanned == 65_536 * 65_536
    (look,) = stream_looks(old_stream())
    assert look.spanned == 5 * 2


@pytest.mark.parametrize("length", range(0, 250, 7))
def test_a_cut_off_old_stream_has_the_looks_that_are_left(length):
    assert len(stream_looks(old_stream()[:length])) <= 1


# -- OpenDocument --------------------------------------------------------------------------------------

ODF_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "style")
)


def open_document(body: str, manifest: str = "<manifest/>", content: str | None = None) -> bytes:
    whole = content or (
        f"<office:document-content {ODF_SPACES}><office:automatic-styles>"
        '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
        f"</office:automatic-styles><office:body><office:spreadsheet>{body}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", whole)
        archive.writestr("META-INF/manifest.xml", manifest)
    return stream.getvalue()


def odf_cell(text: str, kind: str = "string", value: str = "", more: str = "") -> str:
    name = {"date": "date-value", "time": "time-value"}.get(kind, "value")
    given = f' office:{name}="{value}"' if value else ""
    start = f'<table:table-cell office:value-type="{kind}"{given} {more}>'
    return f"{start}<text:p>{text}</text:p></table:table-cell>"


def odf_table(*rows: list[str], name: str = "Data", style: str = "ta1") -> str:
    body = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
    return f'<table:table table:name="{name}" table:style-name="{style}">{body}</table:table>'


def test_open_document_cells_read_as_shown():
    head = [odf_cell(text) for text in ("name", "rate", "price", "when", "at", "rounded")]
    row = [
        odf_cell("a|b"),
        odf_cell("12.50%", "percentage", "0.125"),
        odf_cell("$1,234.50", "currency", "1234.5"),
        odf_cell("14 Mar 24", "date", "2024-03-14"),
        odf_cell("9:30 AM", "time", "PT09H30M00S"),
        odf_cell("1,234,567.89", "float", "1234567.891"),
    ]
    expected = r"| a\|b | 12.50% | $1234.50 | 2024-03-14 | 09:30:00 | 1,234,567.89 |"
    assert expected in lines(open_document(odf_table(head, row)))


def test_hidden_open_document_sheets_are_named_so():
    assert (
        lines(open_document(odf_table([odf_cell("x")], name="Secret", style="ta2")))[0]
        == "## Secret (hidden)"
    )


def test_repeats_of_blank_rows_and_cells_cost_nothing():
    blank = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    wide = '<table:table-cell table:number-columns-repeated="16000"/>'
    table = odf_table([odf_cell("a"), odf_cell("b"), wide], [odf_cell("c"), odf_cell("d")])
    text = convert(open_document(table.replace("</table:table>", f"{blank}</table:table>"))).markdown
    assert text.splitlines()[2:] == ["| a | b |", "| --- | --- |", "| c | d |"]


def test_repeats_of_text_are_bounded_by_the_limit_on_output():
    rows = f'<table:table-row table:number-rows-repeated="1048576">{odf_cell("x" * 20_000)}</table:table-row>'
    data = open_document(f'<table:table table:name="Data">{rows}</table:table>')
    assert failure(data).status == "too_large"


def test_values_merged_over_open_document_rows_are_carried_down():
    table = odf_table(
        [odf_cell("Region"), odf_cell("Q")],
        [odf_cell("North", more='table:number-rows-spanned="2"'), odf_cell("Q1")],
        ["<table:covered-table-cell/>", odf_cell("Q2")],
    )
    assert "| North | Q2 |" in lines(open_document(table))


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (open_document("", manifest="<m:encryption-data/>"), "encrypted"),
        (open_document("", content="<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"), "unsafe"),
        (open_document("", content="<x><y></x>"), "broken"),
        (open_document(""), "empty"),
    ],
)
def test_bad_open_documents_get_a_status(data, status):
    assert failure(data).status == status


# -- binary workbooks ------------------------------------------------------------------------------------


def record(kind: int, body: bytes = b"") -> bytes:
    number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    size, length = b"", len(body)
    while True:
        size += bytes([length & 0x7F | (0x80 if length > 127 else 0)])
        length >>= 7
        if not length:
            return number + size + body


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def cell(kind: int, column: int, style: int, value: bytes) -> bytes:
    return record(kind, struct.pack("<II", column, style) + value)


def binary_workbook(*cells: bytes, hidden: int = 0) -> bytes:
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="t" Target="worksheets/sheet1.bin"/></Relationships>'
    )
    row = record(0, struct.pack("<IIHBBB", 0, 0, 300, 0, 0, 0))
    styles = record(44, struct.pack("<H", 164) + wide("0.0%")) + record(617, struct.pack("<I", 3))
    for code in (0, 164, 14):
        styles += record(47, struct.pack("<HH", 0, code) + bytes(12))
    parts = {
        "[Content_Types].xml": b"<Types/>",
        "xl/workbook.bin": record(156, struct.pack("<II", hidden, 1) + wide("rId1") + wide("Data")),
        "xl/_rels/workbook.bin.rels": relations.encode(),
        "xl/styles.bin": styles + record(618),
        "xl/sharedStrings.bin": record(19, b"\x00" + wide("shared|text")),
        "xl/worksheets/sheet1.bin": row + b"".join(cells),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return stream.getvalue()


def test_binary_workbooks_read_like_the_others():
    data = binary_workbook(
        cell(7, 0, 0, struct.pack("<I", 0)),
        cell(6, 1, 0, wide("inline")),
        cell(5, 2, 1, struct.pack("<d", 0.125)),
        cell(2, 3, 0, struct.pack("<i", (1234 << 2) | 3)),
        cell(2, 4, 2, struct.pack("<i", (45365 << 2) | 2)),
        cell(4, 5, 0, b"\x01"),
        cell(3, 6, 0, b"\x07"),
        cell(9, 7, 0, struct.pack("<d", 7.0) + bytes(10)),
    )
    assert lines(data)[0] == "## Data"
    expected = r"| shared\|text | inline | 12.5% | 12.34 | 2024-03-14 | TRUE | #DIV/0! | 7 |"
    assert expected in lines(data)


def test_a_hidden_binary_sheet_is_named_so():
    assert lines(binary_workbook(cell(6, 0, 0, wide("x")), hidden=1))[0] == "## Data (hidden)"


@pytest.mark.parametrize("length", range(0, 60, 3))
def test_a_cut_off_binary_part_is_read_as_far_as_it_goes(length):
    whole = record(0, bytes(17)) + cell(6, 0, 0, wide("first")) + cell(6, 1, 0, wide("second"))
    assert read(whole[:length], SheetReader([], [], 1_000)).fault == ""
