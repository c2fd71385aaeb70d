"""The contract of the shelf: what every converter keeps, for good, bad and hostile input alike."""

from __future__ import annotations

import io
import random
import re
import unicodedata
import zipfile
from functools import cache

import openpyxl
import pytest

from chunk_assets.conversion import convert_bytes
from chunk_assets.converters import CONVERTERS, by_name, for_media_type, media
from chunk_assets.converters.base import Converter, Options
from chunk_assets.errors import ConfigurationError, DocumentFailure
from chunk_assets.records import DOCUMENT_STATUSES, OK, Converted

# A word that no escaping touches, and texts that tempt every converter to break the contract.
TRUTH = "Quartzhaven"
TEXTS = [
    f"{TRUTH} sells pens.",
    f"{TRUTH} cafe\u0301 nai\u0308ve \u212b",  # not NFC
    f"{TRUTH} a|b * c_d_e `f` <g> [h](i) # j \\ k",
    f"{TRUTH} ﷽ 你好 नमस्ते 👩‍👩‍👧 \u200fעברית",
    f"{TRUTH} soft\u00adhyphen \u2028line",
]
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")
EXTENSIONS = {
    "pdf": "pdf", "docx": "docx", "xlsx": "xlsx", "csv": "csv", "html": "html",
    "markdown": "md", "plain_text": "txt", "pptx": "pptx", "email": "eml",
}  # fmt: skip


def make_pdf(text: str) -> bytes:
    words = text.encode("latin-1", "replace").replace(b"\\", b"").replace(b"(", b"").replace(b")", b"")
    stream = b"BT /F1 12 Tf 72 720 Td (" + words + b") Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>\nstream\n" % len(stream) + stream + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        out
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(out)
    )


def make_docx(text: str) -> bytes:
    import docx

    document = docx.Document()
    document.add_heading("Report", 1)
    document.add_paragraph(text)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def make_xlsx(text: str) -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["name", "note"])
    book.active.append([1, text])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def make_pptx(text: str) -> bytes:
    import pptx

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Report"
    slide.placeholders[1].text = text
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


def make_email(text: str) -> bytes:
    from email.message import EmailMessage

    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@b.example", "c@d.example", "Report"
    message["Date"] = "Mon, 01 Jan 2024 00:00:00 +0000"
    message.set_content(text + "\n")
    return message.as_bytes()


MAKERS = {
    "pdf": make_pdf,
    "docx": make_docx,
    "xlsx": make_xlsx,
    "csv": lambda text: f'name,note\n1,"{text.replace(chr(34), "")}"\n'.encode(),
    "html": lambda text: (
        f"<html><body><h1>Report</h1><p>{text.replace('<', '&lt;')}</p></body></html>".encode()
    ),
    "markdown": lambda text: f"# Report\n\n{text}\n".encode(),
    "plain_text": lambda text: f"Report\n\n{text}\n".encode(),
    "pptx": make_pptx,
    "email": make_email,
}


@cache
def good(name: str, text: str) -> bytes:
    return MAKERS[name](text)


def attempt(converter: Converter, data: bytes) -> Converted | DocumentFailure:
    """What the converter itself does, without the net of ``convert_bytes``."""
    try:
        return converter.convert(data, Options())
    except DocumentFailure as failure:
        return failure


def assert_contract(result: Converted | DocumentFailure) -> None:
    assert result.status in DOCUMENT_STATUSES
    if isinstance(result, DocumentFailure):
        assert result.status != OK
        assert result.reason
        return
    assert result.status == OK or result.reason
    text = result.markdown
    assert unicodedata.is_normalized("NFC", text)
    assert not FORBIDDEN.search(text)
    at = 0
    for page in result.pages:
        assert page.start == at
        at = page.end
    assert not result.pages or at == len(text)
    assert all(isinstance(k, str) and isinstance(v, str) for k, v in result.facts.items())
    assert all(isinstance(warning, str) for warning in result.warnings)


def damaged(data: bytes, seed: int) -> bytes:
    """Cut, flipped, repeated or emptied in the middle."""
    chance = random.Random(seed)
    at = chance.randrange(len(data))
    kind = seed % 5
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + data[at : at + 200] * 20 + data[at + 200 :]
    if kind == 3:
        return data[:at] + bytes(100) + data[at + 100 :]
    return data[at:]


def damaged_part(data: bytes, seed: int) -> bytes:
    """A zip package with one damaged member, whole as a zip."""
    chance = random.Random(seed)
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        victim = chance.choice(sorted(n for n in old.namelist() if n.endswith((".xml", ".rels"))))
        for name in old.namelist():
            body = old.read(name)
            new.writestr(name, damaged(body, seed) if name == victim and body else body)
    return stream.getvalue()


HOSTILE = {
    "nothing": b"",
    "zeroes": bytes(10_000),
    "all bytes": bytes(range(256)) * 40,
    "one long line": b"x" * 3_000_000,
    "many brackets": b"[" * 200_000,
    "many stars": b"*" * 200_000,
    "many ticks": b"`" * 200_000,
    "many quotes": b'"' * 200_000,
    "many tags": b"<div>" * 50_000,
    "many pipes": b"|" * 200_000,
    "many dashes": b"-" * 200_000,
    "many blanks": b" " * 500_000 + b"x",
    "many newlines": b"\n" * 500_000 + b"x",
    "entity bomb": b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>',
    "lone surrogates": "a\ud800b".encode("utf-8", "surrogatepass") * 100,
    "zip header only": b"PK\x03\x04" + bytes(26),
    "zip of zips": b"PK\x03\x04" * 50_000,
    "ole header only": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "pdf header only": b"%PDF-1.7\n",
    "headers without end": b"Received: x\n" * 50_000,
}


@pytest.fixture(params=list(CONVERTERS))
def converter(request) -> Converter:
    return CONVERTERS[request.param]


def test_a_converter_is_found_under_its_name(converter):
    assert CONVERTERS[converter.name] is converter
    assert by_name(converter.name) is converter
    assert converter.version >= 1


def test_every_media_type_leads_to_the_converter_that_claims_it(converter):
    for kind in converter.media_types:
        assert for_media_type(kind) is converter
    assert {kind for kind, name in media.CONVERTER_OF.items() if name == converter.name} <= set(
        converter.media_types
    )


@pytest.mark.parametrize("text", TEXTS)
def test_text_survives_and_the_contract_holds(converter, text):
    result = attempt(converter, good(converter.name, text))
    assert isinstance(result, Converted)
    assert_contract(result)
    assert TRUTH in result.markdown


def test_the_same_bytes_give_the_same_result(converter):
    data = good(converter.name, TEXTS[2])
    assert attempt(converter, data) == attempt(converter, data)


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bytes_end_in_a_document_or_a_failure(converter, data):
    assert_contract(attempt(converter, data))


@pytest.mark.parametrize("seed", range(25))
def test_damaged_documents_end_in_a_document_or_a_failure(converter, seed):
    assert_contract(attempt(converter, damaged(good(converter.name, TEXTS[0]), seed)))


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("name", ["docx", "xlsx", "pptx"])
def test_packages_with_a_damaged_part_end_in_a_document_or_a_failure(name, seed):
    assert_contract(attempt(CONVERTERS[name], damaged_part(good(name, TEXTS[0]), seed)))


@pytest.mark.parametrize("other", list(CONVERTERS))
def test_bytes_of_another_kind_end_in_a_document_or_a_failure(converter, other):
    assert_contract(attempt(converter, good(other, TEXTS[0])))


@pytest.mark.parametrize("name", list(CONVERTERS))
def test_every_kind_is_sniffed_whatever_its_name_unless_it_is_plain_text(name):
    data = good(name, TEXTS[0])
    named = convert_bytes(data, f"report.{EXTENSIONS[name]}", Options())
    assert named.status == OK
    assert TRUTH in named.markdown
    if name in ("pdf", "docx", "xlsx", "pptx", "html"):
        assert convert_bytes(data, "report.bin", Options()).markdown == named.markdown


def test_an_unknown_converter_or_media_type_says_what_is_known():
    with pytest.raises(ConfigurationError, match="known: csv, docx"):
        by_name("magic")
    with pytest.raises(DocumentFailure, match="no converter for image/png"):
        for_media_type("image/png")
    with pytest.raises(KeyError):
        CONVERTERS["magic"]


def test_importing_the_shelf_loads_no_heavy_library():
    import subprocess
    import sys

    code = (
        "import sys, chunk_assets.conversion, chunk_assets.compute;"
        "print([m for m in ('lxml', 'pypdfium2', 'openpyxl', 'docx', 'pandas', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
