"""Text of Word documents: runs, tracked changes, hidden text, equations, signs, boxes."""

from __future__ import annotations

import pytest
from office_building import STRICT, convert, docx, markdown, paragraph, part, run, style

from chunk_assets.converters.base import Options
from chunk_assets.converters.docx import DOCX
from chunk_assets.errors import DocumentFailure


def test_insertions_are_kept_and_deletions_dropped():
    body = paragraph(
        runs=run("Pay ")
        + f'<w:ins w:id="1">{run("monthly")}</w:ins>'
        + '<w:del w:id="2"><w:r><w:delText>quarterly</w:delText></w:r></w:del>'
        + f'<w:moveTo w:id="3">{run(" in arrears")}</w:moveTo>'
        + f'<w:moveFrom w:id="4">{run("never")}</w:moveFrom>'
    )
    result = convert(body)
    assert result.markdown == "Pay monthly in arrears\n"
    assert result.facts["tracked_insertions"] == "2"
    assert result.facts["tracked_deletions"] == "2"


def test_a_deleted_paragraph_mark_joins_two_paragraphs():
    first = paragraph("The lease ", properties='<w:rPr><w:del w:id="1"/></w:rPr>')
    assert markdown(first + paragraph("ends.")) == "The lease ends."


def test_a_dropped_capital_belongs_to_its_word():
    capital = paragraph("T", properties='<w:framePr w:dropCap="drop"/>')
    assert markdown(capital + paragraph("he end.")) == "The end."


def test_hidden_text_is_left_out_and_counted():
    result = convert(paragraph(runs=run("seen") + run("unseen", "<w:vanish/>")))
    assert result.markdown == "seen\n"
    assert result.facts["hidden_runs"] == "1"


def test_hidden_text_by_style_is_left_out_and_switched_back_by_the_run():
    styles = part("styles", style("H", "Secret", "<w:rPr><w:vanish/></w:rPr>", kind="character"))
    named = '<w:rStyle w:val="H"/>'
    body = paragraph(runs=run("a") + run("b", named) + run("c", f'{named}<w:vanish w:val="0"/>'))
    assert markdown(body, styles=styles) == "ac"


def test_phonetic_readings_are_not_read_twice():
    reading, base = f"<w:rt>{run('とう')}</w:rt>", f"<w:rubyBase>{run('東')}</w:rubyBase>"
    ruby = f"<w:r><w:ruby><w:rubyPr/>{reading}{base}</w:ruby></w:r>"
    assert markdown(paragraph(runs=ruby + run("京"))) == "東京"


def test_equations_are_linear_text():
    def part_of(name: str, *inner: str) -> str:
        return f"<m:{name}>{''.join(inner)}</m:{name}>"

    def text(content: str) -> str:
        return f"<m:r><m:t>{content}</m:t></m:r>"

    square = part_of("sSup", part_of("e", text("r")), part_of("sup", text("2")))
    fraction = part_of("f", part_of("num", text("a+b")), part_of("den", text("2")))
    root = part_of("rad", part_of("deg"), part_of("e", text("x+1")))
    body = paragraph("Area ", runs=f"<m:oMath>{text('A=π')}{square}</m:oMath>")
    body += paragraph(runs=f"<m:oMathPara><m:oMath>{fraction}{text('+')}{root}</m:oMath></m:oMathPara>")
    assert markdown(body) == "Area A=πr²\n\n(a+b)/2+√(x+1)"


def test_superscript_digits_are_raised_only_after_something():
    raised = '<w:vertAlign w:val="superscript"/>'
    lowered = '<w:vertAlign w:val="subscript"/>'
    body = paragraph(runs=run("10") + run("2", raised) + run(" m, H") + run("2", lowered) + run("O"))
    assert markdown(body) == "10² m, H₂O"
    assert markdown(paragraph(runs=run("1", raised) + run(" See annex."))) == "1 See annex."


def test_symbol_fonts_become_their_signs():
    symbol = '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>'
    greek = run("&#xF061;", '<w:rFonts w:ascii="Symbol"/>')
    assert markdown(paragraph(runs=symbol + run(" yes ") + greek)) == "☑ yes α"


def test_text_boxes_are_read_once_and_after_their_paragraph():
    box = f"<w:txbxContent>{paragraph('In the box')}</w:txbxContent>"
    both = (
        "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:anchor><a:graphic><a:graphicData>"
        f"<wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
        f"</mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{box}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    assert markdown(paragraph("Before", runs=both + run(" and after"))) == "Before and after\n\nIn the box"


def test_content_controls_are_transparent():
    inline = f"<w:sdt><w:sdtPr/><w:sdtContent>{run('value')}</w:sdtContent></w:sdt>"
    block = f"<w:sdt><w:sdtContent>{paragraph('Block')}</w:sdtContent></w:sdt>"
    assert markdown(paragraph("A ", runs=inline) + block) == "A value\n\nBlock"


def test_strict_documents_are_read_like_transitional_ones():
    body = paragraph("Title", style="Heading1") + paragraph("Text")
    assert DOCX.convert(docx(body, space=STRICT), Options()).markdown == "# Title\n\nText\n"


def test_a_byte_order_mark_in_the_xml_does_no_harm():
    data = docx(
        "", **{"word/document.xml": "\ufeff" + part("document", f"<w:body>{paragraph('x')}</w:body>")}
    )
    assert DOCX.convert(data, Options()).markdown == "x\n"


def test_accents_in_another_run_than_their_letter_are_composed():
    assert markdown(paragraph(runs=run("cafe") + run("\u0301"))) == "café"


def test_markdown_signs_are_escaped_only_where_they_would_be_markup():
    body = "".join(
        paragraph(text)
        for text in (
            "# no heading",
            "5 * 3 * 2",
            "*not* bold",
            "snake_case_name",
            "1. typed",
            "a &lt;b&gt; c",
        )
    )
    assert markdown(body).split("\n\n") == [
        "\\# no heading", "5 * 3 * 2", "\\*not\\* bold", "snake_case_name", "1. typed", "a \\<b> c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status"),
    [("", "empty"), (paragraph(" "), "empty")],
)
def test_a_document_without_text_is_no_success(body: str, status: str):
    with pytest.raises(DocumentFailure) as caught:
        convert(body)
    assert caught.value.status == status


def test_a_large_document_reads_like_a_small_one_whatever_its_looks():
    looks = '<w:b/><w:sz w:val="22"/><w:rFonts w:ascii="Symbol"/><w:color w:val="FF0000"/><w:rtl w:val="0"/>'
    tabs = '<w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs><w:ind w:left="720"/><w:rPr><w:b/></w:rPr>'
    one = paragraph(runs=run("a") + run("&lt;w:b/&gt; text", "<w:i/>"), properties=tabs)
    one += paragraph(runs=f"<w:r><w:rPr>{looks}</w:rPr><w:t>b</w:t><w:tab/><w:t>c</w:t></w:r>")
    small = markdown(one)
    assert small == "a\\<w:b/> text\n\nβ χ"
    assert markdown(one * 300) == "\n\n".join([small] * 300)


def test_a_large_document_with_raw_text_keeps_what_looks_like_tags():
    one = paragraph(runs="<w:r><w:t><![CDATA[Write <w:b/> for bold.]]></w:t></w:r>")
    assert markdown(one * 1_500).startswith("Write \\<w:b/> for bold.\n")
