"""A document is what its bytes say, whatever its name claims."""

from __future__ import annotations

import io
import zipfile

import pytest

from chunk_assets.converters import file_type, media
from chunk_assets.converters.ole import OLE_MAGIC, streams
from chunk_assets.converters.sniff import media_type


def package(*names: str, mimetype: str = "") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name in names:
            archive.writestr(name, "<x/>")
    return stream.getvalue()


def container(*names: str) -> bytes:
    """A minimal OLE container: header, then one directory sector with entries of these names."""
    header = bytearray(512)
    header[:8] = OLE_MAGIC
    header[30:32] = (9).to_bytes(2, "little")
    header[48:52] = (0).to_bytes(4, "little")
    header[76:80] = (1).to_bytes(4, "little")
    directory = bytearray(512)
    for number, name in enumerate(names):
        raw = name.encode("utf-16-le")
        directory[number * 128 : number * 128 + len(raw)] = raw
        directory[number * 128 + 64 : number * 128 + 66] = (len(raw) + 2).to_bytes(2, "little")
    table = b"\xfe\xff\xff\xff" * 128
    return bytes(header) + bytes(directory) + table


@pytest.mark.parametrize("name", ["a.docx", "a.csv", "a", "a.pdf"])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"%PDF-1.7\n1 0 obj", media.PDF),
        (b"garbage before\r\n%PDF-1.4\n1 0 obj<<>>", media.PDF),
        (package("[Content_Types].xml", "word/document.xml"), media.DOCX),
        (package("[Content_Types].xml", "xl/workbook.xml"), media.XLSX),
        (package("xl/workbook.bin"), media.XLSB),
        (package("ppt/presentation.xml"), media.PPTX),
        (package("word/document.xml", "word/embeddings/xl/workbook.xml"), media.DOCX),
        (package("content.xml", mimetype=media.ODS), media.ODS),
        (package("content.xml", mimetype=media.ODT), media.ODT),
        (package("notes/readme.txt"), media.ZIP),
        (container("Root Entry", "Workbook"), media.XLS),
        (container("Root Entry", "Book"), media.XLS),
        (container("Root Entry", "WordDocument"), media.DOC),
        (container("Root Entry", "EncryptionInfo", "EncryptedPackage"), media.ENCRYPTED_OFFICE),
        (container("Root Entry", "PowerPoint Document"), media.PPT),
        (container("Root Entry", "Something"), media.OLE),
        (b"{\\rtf1 hello}", media.RTF),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), media.PNG),
        (b"\x1f\x8b\x08" + bytes(20), media.GZIP),
        (b"<!DOCTYPE html><html><body>Login required", media.HTML),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', media.HTML),
        (b"<!-- saved -->\n<HTML><HEAD>", media.HTML),
        (bytes(range(256)) * 20, media.UNKNOWN),
    ],
)
def test_bytes_decide_before_the_name(data, expected, name):
    assert media_type(data, name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("table.csv", media.CSV),
        ("table.TSV", media.TSV),
        ("notes.md", media.MARKDOWN),
        ("notes.txt", media.TEXT),
        ("notes", media.TEXT),
        ("notes.json", media.TEXT),
        ("page.htm", media.HTML),
        ("letter.eml", media.EMAIL),
        ("wrong.docx", media.TEXT),
        (".csv", media.TEXT),
    ],
)
def test_among_texts_the_name_decides(name, expected):
    assert media_type(b"a,b\n1,2\n", name) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1"])
def test_text_is_text_in_any_encoding(encoding):
    assert media_type("name;café\nx;1\n".encode(encoding), "t.csv") == media.CSV


def test_one_zero_byte_does_not_make_a_text_binary():
    assert media_type(b"a,b\n\x001,2\n", "t.csv") == media.CSV


def test_html_in_utf_16_is_found():
    assert media_type("<html><body>x</body></html>".encode("utf-16"), "t.csv") == media.HTML


def test_an_html_fragment_stays_the_csv_that_it_is_named():
    assert media_type(b"<b>bold</b>,2\n", "t.csv") == media.CSV
    assert media_type(b"<div class='x'>hello</div>", "t") == media.HTML


def test_a_message_is_recognised_by_its_headers():
    mail = b"Received: from x\r\nFrom: a@b.example\r\nTo: c@d.example\r\nSubject: hi\r\n\r\nbody"
    assert media_type(mail, "message.txt") == media.EMAIL
    assert media_type(b"Subject: minutes\nFrom: the board\n\nWe met.", "message.txt") == media.TEXT


def test_a_package_whose_end_is_cut_off_is_told_by_its_start():
    whole = package("[Content_Types].xml", "word/document.xml", "word/styles.xml")
    assert media_type(whole[: len(whole) // 2], "a.bin") == media.DOCX


def test_nothing_at_all_is_told_by_the_name():
    assert media_type(b"", "a.csv") == media.CSV


def test_a_container_whose_chain_runs_in_circles_is_read_once():
    looped = bytearray(container("Root Entry", "Workbook"))
    looped[1024:1028] = (0).to_bytes(4, "little")
    assert "workbook" in streams(bytes(looped))


def test_a_container_with_an_absurd_sector_size_has_no_streams():
    for size in (0, 1, 99):
        data = bytearray(container("Root Entry", "Workbook"))
        data[30:32] = size.to_bytes(2, "little")
        assert "workbook" not in streams(bytes(data))


def test_every_media_type_of_the_table_has_a_short_word():
    words = {file_type(kind) for kind in media.CONVERTER_OF}
    assert words == {"pdf", "docx", "xlsx", "csv", "html", "text", "markdown", "pptx", "email"}
    assert file_type(media.PNG) == "unknown"


def test_utf_16_of_a_script_without_zero_bytes_is_text():
    text = "这是一个没有任何空格的中文文本它应该被当作文本读取" * 20
    assert media_type(text.encode("utf-16-le"), "t.txt") == media.TEXT
