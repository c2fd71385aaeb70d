"""Structure of Word documents: headings, numbering, lists, tables, code, pages."""

from __future__ import annotations

import io
import zipfile

import pytest
from office_building import (
    cell,
    convert,
    docx,
    levels,
    markdown,
    numbered,
    paragraph,
    part,
    run,
    style,
    table,
)

from chunk_assets.conversion import convert_bytes
from chunk_assets.converters.base import Options
from chunk_assets.converters.docx import DOCX

PAGE = '<w:r><w:br w:type="page"/></w:r>'
RENDERED = "<w:r><w:lastRenderedPageBreak/></w:r>"


def test_heading_styles_one_to_nine_are_clamped_to_six():
    styles = part("styles", "".join(style(f"H{n}", f"heading {n}") for n in range(1, 10)))
    body = "".join(paragraph(f"Level {n}", style=f"H{n}") for n in range(1, 10))
    lines = markdown(body, styles=styles).split("\n\n")
    assert lines == [f"{'#' * min(n, 6)} Level {n}" for n in range(1, 10)]


def test_a_style_based_on_a_heading_is_one_and_cycles_end():
    styles = part(
        "styles",
        style("Heading2", "heading 2")
        + style("Kapitel", "Kapitel", based_on="Heading2")
        + style("A", "A", based_on="B")
        + style("B", "B", based_on="A"),
    )
    body = paragraph("Vertrag", style="Kapitel") + paragraph("Text", style="A")
    assert markdown(body, styles=styles) == "## Vertrag\n\nText"


def test_outline_levels_make_headings_and_body_text():
    styles = part(
        "styles",
        style("S", "Section", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
        + style("Heading1", "heading 1")
        + style("T", "TOC Heading", '<w:pPr><w:outlineLvl w:val="9"/></w:pPr>', based_on="Heading1"),
    )
    body = paragraph("By style", style="S") + paragraph("By hand", properties='<w:outlineLvl w:val="1"/>')
    body += paragraph("Contents", style="T")
    assert markdown(body, styles=styles) == "### By style\n\n## By hand\n\nContents"


def test_a_long_paragraph_with_an_outline_level_is_no_heading():
    text = "word " * 200
    assert not markdown(paragraph(text, properties='<w:outlineLvl w:val="0"/>')).startswith("#")


@pytest.mark.parametrize("name", ["Überschrift 2", "Titre 2", "заголовок 2", "見出し 2", "标题 2"])
def test_headings_are_known_by_their_translated_names(name: str):
    styles = part("styles", style("X", name))
    assert markdown(paragraph("Title", style="X"), styles=styles) == "## Title"


def test_numbers_of_headings_are_written_as_the_reader_sees_them():
    numbering = levels(("decimal", "%1"), ("decimal", "%1.%2"), ("lowerLetter", "%1.%2.%3"))
    styles = part("styles", "".join(style(f"Heading{n}", f"heading {n}") for n in (1, 2, 3)))

    def heading(text: str, level: int) -> str:
        number = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
        return paragraph(text, style=f"Heading{level + 1}", properties=number)

    body = heading("Purpose", 0) + heading("Scope", 1) + heading("Terms", 1) + heading("Net", 2)
    body += heading("Term", 0) + heading("Renewal", 1)
    assert markdown(body, numbering=numbering, styles=styles).split("\n\n") == [
        "# 1 Purpose", "## 1.1 Scope", "## 1.2 Terms", "### 1.2.a Net", "# 2 Term", "## 2.1 Renewal",
    ]  # fmt: skip


def test_numbering_bound_to_a_style_takes_its_level_from_there():
    numbering = part(
        "numbering",
        '<w:abstractNum w:abstractNumId="0">'
        '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/><w:pStyle w:val="One"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/>'
        '<w:pStyle w:val="Two"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
    )
    number = '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    styles = part("styles", style("One", "One", number) + style("Two", "Two", number))
    body = paragraph("first", style="One") + paragraph("sub", style="Two") + paragraph("second", style="One")
    assert markdown(body, numbering=numbering, styles=styles) == "1. first\n\n   1.1 sub\n\n2. second"


def test_lists_nest_under_their_items():
    numbering = levels(("decimal", "%1."), ("bullet", "•"), ("bullet", "o"))
    body = numbered("one") + numbered("a", 1) + numbered("deep", 2) + numbered("b", 1) + numbered("two")
    assert markdown(body, numbering=numbering) == "1. one\n   - a\n     - deep\n   - b\n2. two"


def test_labels_that_markdown_has_no_form_for_are_written_out():
    numbering = levels(("lowerLetter", "(%1)"), ("lowerRoman", "%2)"))
    body = numbered("first") + numbered("inner", 1) + numbered("second")
    assert markdown(body, numbering=numbering) == "(a) first\n\ni) inner\n\n(b) second"


def test_a_list_that_starts_anew_and_one_that_goes_on():
    numbering = part(
        "numbering",
        '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
        '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="7"/></w:lvlOverride></w:num>',
    )
    body = numbered("a") + paragraph("between") + numbered("b", number=2) + paragraph("between")
    body += numbered("c", number=3) + numbered("d", number=3)
    assert markdown(body, numbering=numbering) == "1. a\n\nbetween\n\n2. b\n\nbetween\n\n7. c\n8. d"


def test_number_zero_takes_a_paragraph_out_of_its_list():
    numbering = levels(("decimal", "%1."))
    styles = part("styles", style("L", "L", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'))
    plain = paragraph("plain", style="L", properties='<w:numPr><w:numId w:val="0"/></w:numPr>')
    body = paragraph("item", style="L") + plain
    assert markdown(body, numbering=numbering, styles=styles) == "1. item\n\nplain"


def test_footnotes_of_a_list_wait_for_its_end():
    notes = part("footnotes", f'<w:footnote w:id="1">{paragraph("Note.")}</w:footnote>')
    item = numbered("one").replace("</w:p>", '<w:r><w:footnoteReference w:id="1"/></w:r></w:p>')
    body = item + numbered("two") + paragraph("End")
    text = markdown(body, numbering=levels(("bullet", "•")), footnotes=notes)
    assert text == "- one[^1]\n- two\n\n[^1]: Note.\n\nEnd"


def test_a_value_merged_over_rows_is_in_each_row_and_one_merged_over_columns_once():
    merged = '<w:vMerge w:val="restart"/>'
    rows = table(
        cell("Region") + cell("Sales", '<w:gridSpan w:val="2"/>'),
        cell("North", merged) + cell("Q1") + cell("10"),
        cell("", "<w:vMerge/>") + cell("Q2") + cell("20"),
    )
    assert markdown(rows) == (
        "| Region | Sales |  |\n| --- | --- | --- |\n| North | Q1 | 10 |\n| North | Q2 | 20 |"
    )


def test_rows_that_start_or_end_inside_the_grid_keep_their_columns():
    short = "<w:trPr><w:gridBefore w:val='1'/></w:trPr>"
    rows = table(cell("a") + cell("b") + cell("c"), short + cell("x") + cell("y"))
    assert markdown(rows) == "| a | b | c |\n| --- | --- | --- |\n|  | x | y |"


def test_cells_in_content_controls_and_deleted_rows():
    control = f"<w:sdt><w:sdtContent>{cell('Acme')}</w:sdtContent></w:sdt>"
    rows = table(
        cell("Client") + control + cell("2024"),
        cell("Other") + cell("Bolt") + cell("2023"),
        "<w:trPr><w:del w:id='1'/></w:trPr>" + cell("gone") + cell("gone") + cell("gone"),
    )
    assert "| Client | Acme | 2024 |" in markdown(rows)
    assert "gone" not in markdown(rows)


def test_pipes_and_paragraphs_in_cells_keep_the_table_whole():
    rows = table(cell("a|b") + cell(paragraph("one") + paragraph("two")), cell("c") + cell("# d"))
    assert markdown(rows) == "| a\\|b | one<br>two |\n| --- | --- |\n| c | # d |"


def test_a_nested_table_is_flattened_into_its_cell():
    inner = table(cell("x") + cell("y"), cell("1") + cell("2"))
    rows = table(cell("A") + cell(inner + paragraph("after")), cell("B") + cell("b"))
    assert markdown(rows) == "| A | x / y<br>1 / 2<br>after |\n| --- | --- |\n| B | b |"


def test_a_box_of_one_cell_is_no_table():
    assert markdown(table(cell(paragraph("Note") + paragraph("Text")))) == "Note\n\nText"


def test_absurd_spans_are_bounded():
    rows = table(cell("a", '<w:gridSpan w:val="99999999"/>') + cell("b"), cell("c") + cell("d"))
    assert len(markdown(rows)) < 20_000


def test_code_styles_become_fences_and_typewriter_text_by_its_look():
    styles = part("styles", style("C", "Source Code") + style("P", "Post Code"))
    body = paragraph("if x:", style="C") + paragraph("    y = *z*", style="C") + paragraph("SW1A", style="P")
    assert markdown(body, styles=styles) == "```\nif x:\n    y = *z*\n```\n\nSW1A"
    mono = '<w:rFonts w:ascii="Courier New"/>'
    code = paragraph(runs=run("def f():", mono)) + paragraph(runs=run("    return 1", mono))
    assert markdown(code) == "```\ndef f():\n    return 1\n```"
    assert markdown(paragraph(runs=run("Dear Sir", mono))) == "Dear Sir"


def test_character_styles_for_code_become_code_spans():
    styles = part("styles", style("V", "Verbatim Char", kind="character"))
    body = paragraph(runs=run("Call ") + run("f_x(*a)", '<w:rStyle w:val="V"/>') + run(" now."))
    assert markdown(body, styles=styles) == "Call `f_x(*a)` now."


def test_quotes_are_quoted():
    styles = part("styles", style("Q", "Intense Quote"))
    body = paragraph("One", style="Q") + paragraph("Two", style="Q") + paragraph("Three")
    assert markdown(body, styles=styles) == "> One\n>\n> Two\n\nThree"


def pages_of(body: str) -> list[tuple[int, str]]:
    result = convert(body)
    return [(p.number, result.markdown[p.start : p.end].strip()) for p in result.pages]


def test_pages_start_at_breaks_even_inside_a_paragraph():
    body = paragraph("One. ", runs=PAGE + run("Two.")) + paragraph("still two") + paragraph(runs=PAGE)
    assert pages_of(body + paragraph("Three")) == [(1, "One."), (2, "Two.\n\nstill two"), (3, "Three")]


def test_a_break_and_the_place_where_it_was_rendered_are_one():
    body = (
        paragraph("One", runs=PAGE)
        + paragraph(runs=RENDERED + run("Two"))
        + paragraph("more", runs=RENDERED + run("Three"))
    )
    assert pages_of(body) == [(1, "One"), (2, "Two\n\nmore"), (3, "Three")]


def test_sections_and_paragraphs_that_start_a_page():
    section = paragraph("One", properties="<w:sectPr/>")
    body = section + paragraph("Two") + paragraph("Three", properties="<w:pageBreakBefore/>") + "<w:sectPr/>"
    assert pages_of(body) == [(1, "One"), (2, "Two"), (3, "Three")]


def test_continuous_sections_start_no_page():
    section = paragraph("One", properties="<w:sectPr/>")
    assert pages_of(section + paragraph("Two") + '<w:sectPr><w:type w:val="continuous"/></w:sectPr>') == []


def test_a_page_that_starts_in_a_table_starts_with_the_row():
    broken = cell(paragraph(runs=run("b") + RENDERED))
    body = table(cell("a") + cell("1"), broken + cell("2"), cell("c") + cell("3"))
    result = convert(body)
    assert result.markdown[result.pages[1].start :].startswith("| b | 2 |")


def test_without_breaks_and_with_impossible_pages_there_is_no_page_map():
    assert convert(paragraph("Text")).pages == ()
    long = "".join(paragraph("word " * 100) for _ in range(30))
    assert convert(paragraph("Title", runs=PAGE) + long).pages == ()


@pytest.mark.parametrize("depth", [30, 80, 400, 20_000])
def test_deep_nesting_costs_structure_at_most_never_text(depth: int):
    start, end = "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"
    body = start * depth + paragraph("deep") + end * depth + paragraph("after")
    result = DOCX.convert(docx(body), Options())
    assert result.markdown == "deep\n\nafter\n"
    assert bool(result.warnings) == (depth > 80)


def test_text_taken_without_structure_still_leaves_out_what_is_deleted():
    deleted = "<w:del><w:r><w:t>gone</w:t></w:r></w:del>"
    body = "<w:sdt><w:sdtContent>" * 300 + paragraph("kept", runs=deleted) + "</w:sdtContent></w:sdt>" * 300
    assert markdown(body) == "kept"


@pytest.mark.parametrize("kind", ["docm", "dotx", "dotm"])
def test_macros_and_templates_are_read_and_macros_never_looked_at(kind):
    code = b"Attribute VB_Name = AutoOpen"
    stream = io.BytesIO(docx(paragraph("Terms of the lease")))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("word/vbaProject.bin", code)
    # Whoever unpacks this member finds that its checksum is wrong.
    damaged = stream.getvalue().replace(code, code[::-1])
    converted = convert_bytes(damaged, f"lease.{kind}", Options())
    assert (converted.status, converted.markdown) == ("ok", "Terms of the lease\n")
