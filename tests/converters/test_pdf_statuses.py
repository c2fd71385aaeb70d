"""What becomes of PDFs that can't be read, or not wholly."""

from __future__ import annotations

from random import Random

import pdf_building as pdf
import pytest

from chunk_assets.converters.base import Limits, Options
from chunk_assets.converters.pdf import PDF
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import DOCUMENT_STATUSES

SENTENCE = "The borrower repays the loan in quarterly instalments."


def failure(data: bytes, options: Options | None = None) -> DocumentFailure:
    with pytest.raises(DocumentFailure) as caught:
        PDF.convert(data, options or Options())
    return caught.value


def outcome(data: bytes) -> str:
    """The text, or the status of the failure."""
    try:
        return PDF.convert(data, Options()).markdown
    except DocumentFailure as error:
        return error.status


def test_a_document_with_a_user_password_is_encrypted():
    data = pdf.build([pdf.text(72, 700, SENTENCE)], password=("secret", "owner"))
    assert failure(data).status == "encrypted"


def test_a_damaged_document_is_not_said_to_be_encrypted_because_the_one_before_it_was():
    damaged = pdf.build([pdf.text(72, 700, SENTENCE)]).replace(b"/Pages 2 0 R", b"/Pages 9 0 R")
    alone = outcome(damaged)
    assert alone != "encrypted"
    assert failure(pdf.build([SENTENCE], password=("secret", "owner"))).status == "encrypted"
    assert outcome(damaged) == alone


def test_a_document_with_only_an_owner_password_is_opened():
    data = pdf.build([pdf.text(72, 700, SENTENCE)], password=("", "owner"))
    assert PDF.convert(data, Options()).markdown == SENTENCE


@pytest.mark.parametrize("data", [b"", b"  \n\n", b"\x00" * 40])
def test_no_bytes_are_an_empty_document(data: bytes):
    assert failure(data).status == "empty"


def test_a_blank_page_is_empty():
    assert failure(pdf.build([""])).status == "empty"


def test_bytes_of_another_kind_are_a_mismatch():
    assert failure(b"PK\x03\x04" + b"no pdf" * 50).status == "mismatch"


def test_a_damaged_page_tree_is_broken():
    assert failure(b"%PDF-1.4\n1 0 obj\n<< /Type /Nonsense >>\nendobj\n%%EOF").status == "broken"


def test_a_scan_needs_ocr():
    error = failure(pdf.build([pdf.picture(0, 0, 612, 792)]))
    assert error.status == "needs_ocr"
    assert "1 of 1 pages" in error.reason


def test_a_picture_page_among_text_pages_is_named_in_a_warning():
    pages = [pdf.text(72, 700, SENTENCE)] * 3 + [pdf.picture(0, 0, 612, 792)]
    converted = PDF.convert(pdf.build(pages), Options())
    assert converted.status == "ok"
    assert any("OCR" in warning and warning.endswith(": 4") for warning in converted.warnings)
    assert converted.pages[3].start == converted.pages[3].end


def test_a_document_that_is_mostly_pictures_is_partial():
    pages = [pdf.text(72, 700, SENTENCE), pdf.picture(0, 0, 612, 792), pdf.picture(0, 0, 612, 792)]
    converted = PDF.convert(pdf.build(pages), Options())
    assert converted.status == "partial"
    assert "2, 3" in converted.reason


def test_garbage_before_and_after_the_file_does_no_harm():
    data = (
        b"junk from a mail gateway\r\n"
        + pdf.build([pdf.text(72, 700, SENTENCE)])
        + b"\n<html>trailing</html>"
    )
    assert PDF.convert(data, Options()).markdown == SENTENCE


def test_a_file_cut_short_still_gives_its_text_or_a_clear_status():
    data = pdf.build([pdf.text(72, 700, SENTENCE)])
    outcomes = [outcome(data[:length]) for length in range(0, len(data), 97)]
    assert all(text == SENTENCE or text in {"empty", "broken", "mismatch"} for text in outcomes), outcomes


def test_damaged_bytes_give_text_or_a_status_and_never_another_error():
    table = pdf.table(72, 600, [["Term", "Rate"], ["five years", "4.5"], ["ten years", "5.1"]])
    data = pdf.build(
        [pdf.text(72, 700, SENTENCE) + table] * 2, info="<< /Title (Loan) >>", outline=(("Loan", 0),)
    )
    random = Random(7)
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(random.choice((1, 10, 60))):
            broken[random.randrange(len(broken))] = random.randrange(256)
        try:
            status = PDF.convert(bytes(broken), Options()).status
        except DocumentFailure as error:
            status = error.status
        assert status in DOCUMENT_STATUSES


def test_too_many_pages_are_too_large():
    data = pdf.build([pdf.text(72, 700, SENTENCE)] * 3)
    error = failure(data, Options(limits=Limits(max_pages=2)))
    assert error.status == "too_large"
    assert "3 pages" in error.reason


def test_too_much_text_is_too_large():
    data = pdf.build([pdf.lines(72, 700, [SENTENCE] * 20)] * 3)
    assert failure(data, Options(limits=Limits(max_output_chars=200))).status == "too_large"


@pytest.mark.parametrize(
    "content",
    [
        "3 Tr " + pdf.text(72, 600, "SECRET"),
        "1 1 1 rg " + pdf.text(72, 600, "SECRET"),
        pdf.text(72, 600, "SECRET", size=0.5),
        pdf.text(900, 600, "SECRET"),
        pdf.text(72, -200, "SECRET"),
    ],
    ids=["invisible", "white", "tiny", "right of the page", "below the page"],
)
def test_text_that_no_reader_sees_is_left_out_and_counted(content: str):
    converted = PDF.convert(pdf.build([pdf.text(72, 700, SENTENCE) + content]), Options())
    assert "SECRET" not in converted.markdown
    assert any("hidden words left out" in warning for warning in converted.warnings)


def test_a_line_too_long_for_its_page_is_kept_and_a_line_beside_the_page_is_not():
    long = "sudo apt-get install " + " ".join(f"package-number-{n}" for n in range(9))
    content = pdf.text(72, 700, long) + pdf.text(700, 600, "Printed beside the sheet")
    converted = PDF.convert(pdf.build([content + pdf.text(72, 640, SENTENCE)]), Options())
    assert "package-number-8" in converted.markdown
    assert "beside" not in converted.markdown
    assert converted.warnings == ("hidden words left out (off the page): 4",)


def test_blacked_out_text_is_left_out():
    secret = pdf.text(72, 600, "SECRET NAME") + "0 g 70 595 200 20 re f"
    converted = PDF.convert(pdf.build([pdf.text(72, 700, SENTENCE) + secret]), Options())
    assert converted.markdown == SENTENCE
    assert "hidden words left out (covered): 2" in converted.warnings


def test_text_on_a_coloured_ground_is_not_blacked_out():
    ground = "0.8 g 70 595 200 20 re f 0 g " + pdf.text(72, 600, "Key figures")
    assert PDF.convert(pdf.build([ground]), Options()).markdown == "Key figures"


def test_a_wrong_character_map_is_named_in_a_warning():
    garbled = "Wkh erug ri gluhfwruv surfodlphg d glylghqg wkdw zdv wkh kljkhvw lq wkh klvwrub ri wkh frpsdqb"
    converted = PDF.convert(pdf.build([pdf.lines(72, 700, [garbled] * 4, 8)]), Options())
    assert any("garbled" in warning and warning.endswith(": 1") for warning in converted.warnings)
    honest = PDF.convert(pdf.build([pdf.lines(72, 700, [SENTENCE] * 9)]), Options())
    assert not honest.warnings


def test_values_in_form_fields_are_read_in_their_places():
    label = pdf.text(72, 700, "Name of the applicant:")
    converted = PDF.convert(pdf.build([label], field=((200, 695, 400, 712), "Jane Doe")), Options())
    assert converted.markdown == "Name of the applicant: Jane Doe"
    below = label + pdf.text(72, 660, "Name of the borrower:") + pdf.text(72, 620, "Signature:")
    converted = PDF.convert(pdf.build([below], field=((200, 655, 400, 672), "Jane Doe")), Options())
    assert converted.markdown.split("\n\n") == [
        "Name of the applicant:", "Name of the borrower: Jane Doe", "Signature:",
    ]  # fmt: skip


def test_damaged_page_objects_give_text_or_a_clear_status():
    data = pdf.build([pdf.lines(72, 700, [SENTENCE, SENTENCE])])
    assert PDF.convert(data, Options()).warnings == ()
    broken = data.replace(b"/Type /Pages", b"/Type /Pagez").replace(b"/Type /Page ", b"/Typo /Page ")
    text = outcome(broken)
    assert text == "broken" or SENTENCE in text


def test_white_text_on_a_dark_ground_is_read():
    dark = "0 0 0.4 rg 60 590 300 30 re f 1 1 1 rg " + pdf.text(72, 600, "Key figures at a glance")
    assert "Key figures at a glance" in PDF.convert(pdf.build([dark]), Options()).markdown


def test_the_text_layer_of_a_scan_is_read():
    scan = pdf.picture(0, 0, 612, 792) + "3 Tr " + pdf.text(72, 700, SENTENCE)
    assert SENTENCE in PDF.convert(pdf.build([scan]), Options()).markdown


def test_facts_hold_what_the_file_says_of_itself():
    info = "<< /Title (Annual report) /Author (J. Doe) /CreationDate (D:20240131120500Z) >>"
    converted = PDF.convert(pdf.build([pdf.text(72, 700, SENTENCE)], info=info), Options())
    assert converted.facts["title"] == "Annual report"
    assert converted.facts["author"] == "J. Doe"
    assert converted.facts["created"] == "2024-01-31T12:05:00"
    assert converted.facts["pages"] == "1"
    assert "J. Doe" not in converted.markdown
