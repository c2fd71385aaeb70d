"""Presentations: slides as pages, titles as headings, tables, notes, groups, charts."""

from __future__ import annotations

import io

import pytest
from office_building import zipped

from chunk_assets.converters.base import Limits, Options
from chunk_assets.converters.pptx import PPTX
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted


def saved(deck: object) -> bytes:
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


def convert(deck: object) -> Converted:
    return PPTX.convert(saved(deck), Options())


@pytest.fixture
def deck():
    import pptx

    return pptx.Presentation()


def add(deck, layout: int, title: str = "", body: str = ""):
    slide = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    if body:
        slide.placeholders[1].text = body
    return slide


def box(slide, text: str, top: int = 0):
    from pptx.util import Inches

    shape = slide.shapes.add_textbox(Inches(1), Inches(top), Inches(3), Inches(1))
    shape.text_frame.text = text
    return shape


def test_each_slide_is_a_page_with_its_title_as_heading(deck):
    add(deck, 0, "Results", "Third quarter")
    add(deck, 1, "Outlook", "Growth\nMargin")
    result = convert(deck)
    assert result.markdown == "# Results\n\nThird quarter\n\n## Outlook\n\n- Growth\n- Margin\n"
    assert [(p.number, result.markdown[p.start : p.end].split("\n")[0]) for p in result.pages] == [
        (1, "# Results"), (2, "## Outlook"),
    ]  # fmt: skip
    assert result.facts["slides"] == "2"


def test_a_slide_without_text_keeps_the_numbers_of_the_others(deck):
    add(deck, 6)
    box(add(deck, 6), "Only text")
    add(deck, 6)
    result = convert(deck)
    assert [(p.number, p.start, p.end) for p in result.pages] == [(2, 0, len(result.markdown))]


def test_levels_nest_and_numbers_count(deck):
    slide = add(deck, 1, "List", "one\nsub\ntwo")
    slide.placeholders[1].text_frame.paragraphs[1].level = 1
    assert "- one\n  - sub\n- two" in convert(deck).markdown
    numbered = box(add(deck, 6), "first")
    numbered.text_frame.add_paragraph().text = "second"
    for paragraph in numbered.text_frame.paragraphs:
        properties = paragraph._p.get_or_add_pPr()
        properties.append(
            properties.makeelement(
                "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum", {"type": "arabicPeriod"}
            )
        )
    assert "1. first\n2. second" in convert(deck).markdown


def test_tables_with_merged_cells(deck):
    from pptx.util import Inches

    slide = add(deck, 6)
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(1), Inches(5), Inches(2)).table
    for at, text in enumerate(["Region", "Sales", "", "North", "Q1", "1|2", "", "Q2", "3"]):
        table.cell(at // 3, at % 3).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    assert convert(deck).markdown == (
        "| Region | Sales |  |\n| --- | --- | --- |\n| North | Q1 | 1\\|2 |\n| North | Q2 | 3 |\n"
    )


def test_notes_have_a_heading_of_their_own(deck):
    slide = add(deck, 1, "Plan", "One point")
    slide.notes_slide.notes_text_frame.text = "Say this slowly."
    assert convert(deck).markdown == "## Plan\n\nOne point\n\n### Notes\n\nSay this slowly.\n"


def test_shapes_in_groups_are_read(deck):
    slide = add(deck, 6)
    group = slide.shapes.add_group_shape()
    inner = group.shapes.add_group_shape()
    box_in_group = inner.shapes.add_textbox(0, 0, 100, 100)
    box_in_group.text_frame.text = "Inside two groups"
    assert convert(deck).markdown == "Inside two groups\n"


def test_charts_are_tables_of_their_data(deck):
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("2023", (1.1, 2.2))
    data.add_series("2024", (3, 4.4000000000000004))
    slide = add(deck, 6)
    frame = slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data
    )
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Sales by region"
    assert convert(deck).markdown == (
        "Sales by region\n\n|  | 2023 | 2024 |\n| --- | --- | --- |\n"
        "| East | 1.1 | 3 |\n| West | 2.2 | 4.4 |\n"
    )


def test_links_line_breaks_and_accents(deck):
    shape = box(add(deck, 6), "See ")
    linked = shape.text_frame.paragraphs[0].add_run()
    linked.text, linked.hyperlink.address = "the rules", "https://a.example/x"
    after = shape.text_frame.paragraphs[0].add_run()
    after.text = " cafe\u0301\vnext"
    assert convert(deck).markdown == "See [the rules](https://a.example/x) café\nnext\n"


def test_hidden_slides_are_read_and_said_to_be_hidden(deck):
    slide = add(deck, 1, "Secret", "Text")
    slide._element.set("show", "0")
    result = convert(deck)
    assert "Secret" in result.markdown
    assert result.facts["hidden_slides"] == "1"
    assert result.warnings == ("slide 1 is hidden in the show; its text is included",)


def test_properties_are_facts(deck):
    box(add(deck, 6), "text")
    deck.core_properties.title, deck.core_properties.author = "Deck", "Ana"
    facts = convert(deck).facts
    assert (facts["title"], facts["author"]) == ("Deck", "Ana")


def test_pictures_by_alternative_text_and_decks_of_pictures(deck, tmp_path):
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0\0\0"))
    shape = add(deck, 6).shapes.add_picture(io.BytesIO(picture + chunk(b"IEND", b"")), 0, 0)
    with pytest.raises(DocumentFailure) as caught:
        convert(deck)
    assert caught.value.status == "needs_ocr"
    shape._element._nvXxPr.cNvPr.set("descr", "A map of the site")
    assert convert(deck).markdown == "![A map of the site](image1.png)\n"


def test_too_many_slides_are_refused(deck):
    add(deck, 1, "A", "B")
    add(deck, 1, "C", "D")
    with pytest.raises(DocumentFailure) as caught:
        PPTX.convert(saved(deck), Options(limits=Limits(max_pages=1)))
    assert caught.value.status == "too_large"


def test_a_deck_without_text_and_a_file_that_is_no_deck(deck):
    add(deck, 6)
    with pytest.raises(DocumentFailure) as caught:
        convert(deck)
    assert caught.value.status == "empty"
    with pytest.raises(DocumentFailure) as caught:
        PPTX.convert(zipped({"a.txt": "x"}), Options())
    assert caught.value.status == "broken"


def test_a_broken_slide_costs_only_itself_and_is_said(deck):
    import zipfile

    add(deck, 1, "First", "Text")
    add(deck, 1, "Second", "More")
    stream = io.BytesIO(saved(deck))
    with zipfile.ZipFile(stream) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["ppt/slides/slide1.xml"] = b"<p:sld"
    result = PPTX.convert(zipped(parts), Options())
    assert result.markdown == "## Second\n\nMore\n"
    assert (result.status, result.reason) == ("partial", "slide 1 can't be read")
    assert [page.number for page in result.pages] == [2]
