"""Opening packages: bombs, tricks, damage, encryption."""

from __future__ import annotations

import io
import struct
import time
import zipfile

import pytest
from office_building import docx, paragraph, part, zipped

from chunk_assets.converters.archive import OLE_MAGIC, open_archive, parse_xml, read_member
from chunk_assets.converters.base import Limits, Options
from chunk_assets.converters.docx import DOCX
from chunk_assets.errors import DocumentFailure


def status_of(call, *args) -> str:
    with pytest.raises(DocumentFailure) as caught:
        call(*args)
    assert caught.value.reason
    return caught.value.status


def test_a_bomb_is_refused_in_milliseconds():
    bomb = docx("", **{"word/document.xml": b"<a>" + b" " * 300_000_000})
    assert len(bomb) < 400_000
    start = time.process_time()
    assert status_of(DOCX.convert, bomb, Options()) == "unsafe"
    assert time.process_time() - start < 0.1


def test_a_bomb_of_many_members_is_refused():
    limits = Limits(max_archive_members=50)
    assert status_of(open_archive, zipped({f"{n}.xml": "x" for n in range(51)}), limits) == "unsafe"
    many = zipped({f"{n}.xml": b"\0" * 1_000_000 for n in range(20)})
    assert status_of(open_archive, many, Limits(max_unpacked_bytes=10_000_000)) == "unsafe"


def test_a_member_that_is_larger_than_it_declares_is_never_unpacked_beyond_it():
    data = bytearray(zipped({"a.xml": b"x" * 5_000_000}))
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = data.index(signature)
        data[at + offset : at + offset + 4] = struct.pack("<I", 10)
    archive = open_archive(bytes(data), Limits())
    assert status_of(read_member, archive, "a.xml", Limits()) in {"unsafe", "broken"}


def test_member_names_with_path_tricks_name_nothing_on_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tricks = {"../../evil.txt": "x", "/etc/evil": "x", "C:\\evil": "x", "word/../../evil2": "x"}
    result = DOCX.convert(docx(paragraph("Text"), **tricks), Options())
    assert result.markdown == "Text\n"
    assert list(tmp_path.parent.rglob("evil*")) == []


def test_relations_that_climb_out_or_lead_elsewhere_are_not_followed():
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="x/styles" Target="../../../etc/passwd"/>'
        '<Relationship Id="r2" Type="x/numbering" Target="http://127.0.0.1:9/x" TargetMode="External"/>'
        "</Relationships>"
    )
    assert DOCX.convert(docx(paragraph("Text"), links=links), Options()).markdown == "Text\n"


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        "<!DOCTYPE w SYSTEM 'http://127.0.0.1:9/x.dtd'>",
    ],
)
def test_entities_and_document_types_are_refused(declaration: str):
    xml = declaration + "<w>text</w>"
    assert status_of(parse_xml, xml.encode()) == "unsafe"
    assert status_of(parse_xml, ("<!--" + "x" * 9_000 + "-->" + xml).encode()) == "unsafe"
    assert status_of(parse_xml, xml.encode("utf-16")) == "unsafe"


def test_a_doctype_in_a_document_nested_too_deeply_is_refused_too():
    body = "<w:sdt><w:sdtContent>" * 300 + "</w:sdtContent></w:sdt>" * 300
    xml = (
        "<!--" + "x" * 9_000 + "--><!DOCTYPE x>" + part("document", f"<w:body>{body}</w:body>").split("?>")[1]
    )
    data = docx("", **{"word/document.xml": xml})
    assert status_of(DOCX.convert, data, Options()) == "unsafe"


def test_encrypted_packages_say_so():
    assert status_of(open_archive, OLE_MAGIC + bytes(600), Limits()) == "encrypted"
    data = bytearray(zipped({"a.xml": "x"}))
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    assert status_of(open_archive, bytes(data), Limits()) == "encrypted"


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x03\x04 no zip", b"plain text"])
def test_what_is_no_package_is_broken(data: bytes):
    assert status_of(open_archive, data, Limits()) == "broken"


def test_damage_is_reported_and_names_the_member():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("word/document.xml", "<w>text</w>")
    data = bytearray(stream.getvalue())
    data[data.index(b"<w>text")] ^= 0xFF
    with pytest.raises(DocumentFailure, match=r"word/document\.xml"):
        read_member(open_archive(bytes(data), Limits()), "word/document.xml", Limits())


def test_every_cut_of_a_document_is_broken_or_readable_never_a_crash():
    whole = docx("".join(paragraph(f"Paragraph {n}") for n in range(50)))
    for cut in range(0, len(whole), 97):
        assert status_of(DOCX.convert, whole[:cut], Options()) in {"broken", "empty"}


def test_a_directory_that_points_anywhere_is_damage():
    whole = zipped({"a.xml": "<w>text</w>"})
    at = whole.index(b"PK\x01\x02")
    for offset in (1, 30, len(whole) - 3, 2**31, 2**32 - 2):
        data = bytearray(whole)
        data[at + 42 : at + 46] = struct.pack("<I", offset)
        assert status_of(read_member, open_archive(bytes(data), Limits()), "a.xml", Limits()) == "broken"


def test_a_zip_without_a_document_is_broken():
    assert status_of(DOCX.convert, zipped({"readme.txt": "x"}), Options()) == "broken"
    assert status_of(DOCX.convert, docx("", **{"word/document.xml": "<x/>"}), Options()) == "broken"
    assert status_of(DOCX.convert, docx("", **{"word/document.xml": "<w:p>"}), Options()) == "broken"


def test_text_before_a_fault_in_the_xml_is_kept_and_the_fault_said():
    xml = part("document", f"<w:body>{paragraph('Kept text')}<w:p><w:r></w:body>")
    result = DOCX.convert(docx("", **{"word/document.xml": xml}), Options())
    assert result.markdown == "Kept text\n"
    assert result.status == "partial"
    assert "not well formed" in result.reason


def test_broken_side_parts_do_not_cost_the_text():
    data = docx(paragraph("Text"), styles="<broken", numbering="", footnotes="<w:x/>")
    assert DOCX.convert(data, Options()).markdown == "Text\n"
