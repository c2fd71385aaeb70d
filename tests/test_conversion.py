"""Whatever comes in, one document comes out, with a status that says what happened."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest

from chunk_assets.conversion import convert_bytes, convert_source, converter_id
from chunk_assets.converters import media
from chunk_assets.converters.base import Limits, Options
from chunk_assets.errors import StopRun
from chunk_assets.records import DOCUMENT_STATUSES

OPTIONS = Options()


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["name", "count"])
    book.active.append(["pens", 3])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def plain_zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("readme.txt", "hello")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "status", "words"),
    [
        (b"", "a.csv", "empty", "no bytes"),
        (b" \n\n ", "a.txt", "empty", ""),
        (plain_zip(), "a.xlsx", "mismatch", "named as xlsx but is a zip archive"),
        (plain_zip(), "a.zip", "unsupported", "zip archive"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a.png", "unsupported", "picture"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a.pdf", "mismatch", "picture"),
        (bytes(range(256)) * 8, "a.csv", "mismatch", "no known kind"),
        (b"{\\rtf1 x}", "a.rtf", "unsupported", "rich text"),
        (workbook()[:-60], "a.xlsx", "broken", "zip"),
        (b"%PDF-1.7\ngarbage", "a.pdf", "broken", ""),
    ],
)
def test_bad_input_gets_a_status_and_a_reason(data, name, status, words):
    converted = convert_bytes(data, name, OPTIONS)
    assert converted.status == status
    assert converted.status in DOCUMENT_STATUSES
    assert words in converted.reason
    assert converted.reason
    assert converted.markdown == ""


def test_a_document_under_a_wrong_name_is_read_for_what_it_is():
    converted = convert_bytes(workbook(), "report.csv", OPTIONS)
    assert "| pens | 3 |" in converted.markdown
    assert "named as csv but is xlsx" in converted.warnings


def test_an_html_page_named_csv_is_read_as_html():
    converted = convert_bytes(
        b"<!DOCTYPE html><html><body><p>Login required</p></body></html>", "data.csv", OPTIONS
    )
    assert converted.markdown.strip() == "Login required"


def test_sizes_over_the_limit_are_too_large_with_value_and_limit():
    converted = convert_bytes(b"a,b\n" * 100, "a.csv", Options(limits=Limits(max_bytes=100)))
    assert (converted.status, converted.reason) == ("too_large", "400 bytes; the limit is 100")


def test_output_over_the_limit_is_too_large():
    converted = convert_bytes(b"word " * 1_000, "a.txt", Options(limits=Limits(max_output_chars=1_000)))
    assert converted.status == "too_large"


def test_a_file_is_read_by_its_path(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    assert "| 1 | 2 |" in convert_source(str(path), "a.csv", OPTIONS).markdown
    assert "| 1 | 2 |" in convert_source(path.read_bytes, "a.csv", OPTIONS).markdown


def test_a_file_over_the_limit_is_not_even_read(tmp_path):
    path = tmp_path / "huge.txt"
    with path.open("wb") as stream:
        stream.truncate(10**12)
    assert convert_source(str(path), "huge.txt", OPTIONS).status == "too_large"


def test_a_file_that_is_gone_or_locked_is_named_so(tmp_path):
    def locked() -> bytes:
        raise PermissionError("not yours")

    assert convert_source(str(tmp_path / "gone.csv"), "gone.csv", OPTIONS).status == "vanished"
    assert convert_source(locked, "locked.csv", OPTIONS).status == "unreadable"


def test_a_stop_of_the_run_passes():
    def unavailable() -> bytes:
        raise StopRun("the source is unavailable")

    with pytest.raises(StopRun):
        convert_source(unavailable, "a.csv", OPTIONS)


def test_the_same_bytes_give_the_same_text():
    data = workbook()
    assert convert_bytes(data, "a.xlsx", OPTIONS) == convert_bytes(data, "a.xlsx", OPTIONS)


def test_converter_ids_name_converter_and_version():
    name, version = converter_id(media.XLS).split("/")
    assert name == "xlsx"
    assert int(version) >= 1
    assert converter_id("image/png").startswith("none/")


def test_all_built_cases_come_out_right(shared):
    import json

    lines = (shared / "cases/conversion_cases.jsonl").read_text().splitlines()
    wrong = []
    for case in map(json.loads, lines):
        path = shared / "cases" / case["file"]
        if path.suffix not in (".xlsx", ".csv"):
            continue
        text = convert_bytes(path.read_bytes(), path.name, OPTIONS).markdown
        rows = text.splitlines()
        wrong += [(path.name, p) for p in case["p"] if p not in text]
        wrong += [(path.name, n) for n in case["n"] if n in text]
        if case["expect"] != "records":  # a table names its columns once, above its rows
            wrong += [(path.name, r) for r in case["r"] if not any(_in_order(line, r) for line in rows)]
    assert wrong == []


def _in_order(line: str, values: list[str | list[str]]) -> bool:
    at = 0
    for value in values:
        found = [k for v in ([value] if isinstance(value, str) else value) if (k := line.find(v, at)) >= 0]
        if not found:
            return False
        at = min(found)
    return True
