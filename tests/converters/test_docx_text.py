"""Text of Word documents: runs, fields, links, notes, tracked changes, equations, pictures."""

from __future__ import annotations

import pytest
from office_building import STRICT, convert, docx, markdown, paragraph, part, relations, run, style

from chunk_assets.converters.base import Options
from chunk_assets.converters.docx import DOCX
from chunk_assets.errors import DocumentFailure

LINKS = relations(
    ("rId5", "hyperlink", "https://a.example/x (1)", True), ("rId6", "image", "media/image1.png", False)
)


def field(instruction: str, result: str = "") -> str:
    """A complex field; without a result there is no separator either."""
    shown = f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(result)}' if result else ""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText>{instruction}</w:instrText></w:r>{shown}"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


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


def test_field_instructions_are_left_out_and_results_kept():
    body = paragraph(runs=run("Page ") + field(" PAGE ", "7") + run(" of ") + field(" NUMPAGES ", "9"))
    assert markdown(body) == "Page 7 of 9"


def test_nested_fields_show_only_the_outer_result():
    inner = field(" PAGE ", "3")
    outer = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> IF </w:instrText></w:r>'
        f'{inner}<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("yes")}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert markdown(paragraph(runs=outer)) == "yes"


def test_index_entries_show_nothing():
    assert markdown(paragraph(runs=run("Loans") + field(' XE "loan"'))) == "Loans"


def test_links_keep_their_address():
    by_relation = f'<w:hyperlink r:id="rId5">{run("the rules ")}</w:hyperlink>'
    by_field = field(' HYPERLINK "https://b.example" ', "here")
    body = paragraph(runs=run("See ") + by_relation + run("or ") + by_field)
    assert markdown(body, links=LINKS) == (
        "See [the rules](https://a.example/x%20%281%29) or [here](https://b.example)"
    )


def test_links_inside_the_document_are_text():
    body = paragraph(runs=f'<w:hyperlink w:anchor="_Toc1">{run("Chapter 1")}</w:hyperlink>')
    assert markdown(body) == "Chapter 1"
    assert markdown(paragraph(runs=field(' HYPERLINK \\l "_Toc1" ', "Chapter 1"))) == "Chapter 1"
    outside = paragraph(runs=field(' HYPERLINK "https://a.example" \\l "part" ', "there"))
    assert markdown(outside) == "[there](https://a.example#part)"


def test_parts_in_html_and_plain_text_are_read_and_others_named():
    links = relations(("rId1", "aFChunk", "chunk.html", False), ("rId2", "aFChunk", "chunk.rtf", False))
    body = paragraph("Before") + '<w:altChunk r:id="rId1"/><w:altChunk r:id="rId2"/>'
    html = {"word/chunk.html": "<h2>Inner</h2><p>Text</p>", "word/chunk.rtf": "{\\rtf1}"}
    result = convert(body, links=links, **html)
    assert result.markdown == "Before\n\n## Inner\n\nText\n"
    assert result.warnings == ("an embedded part in another format was left out: word/chunk.rtf",)


def test_documents_within_documents_are_read_but_not_without_end():
    links = relations(("rId1", "aFChunk", "inner.docx", False))
    inner = docx(paragraph("Deepest"))
    for level in (3, 2, 1):
        inner = docx(
            paragraph(f"Level {level}") + '<w:altChunk r:id="rId1"/>',
            links=links,
            **{"word/inner.docx": inner},
        )
    result = convert(
        paragraph("Outer") + '<w:altChunk r:id="rId1"/>', links=links, **{"word/inner.docx": inner}
    )
    assert result.markdown == "Outer\n\nLevel 1\n\nLevel 2\n\nLevel 3\n"
    web = "MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n<h2>Saved</h2><p>Page</p>"
    links = relations(("rId1", "aFChunk", "inner.mht", False))
    result = convert('<w:altChunk r:id="rId1"/>', links=links, **{"word/inner.mht": web})
    assert result.markdown == "## Saved\n\nPage\n"


def test_legacy_form_fields_show_their_value():
    box = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData>'
        '</w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    choice = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/>'
        '<w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList></w:ffData></w:fldChar></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert markdown(paragraph(runs=box + run(" agreed, ") + choice)) == "☒ agreed, blue"


def test_footnotes_stand_apart_from_the_sentence_and_after_it():
    notes = part("footnotes", f'<w:footnote w:id="2">{paragraph("Unaudited.")}</w:footnote>')
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = paragraph(runs=run("Revenue grew") + reference + run(" by 4 %.")) + paragraph("Next.")
    assert markdown(body, footnotes=notes) == "Revenue grew[^1] by 4 %.\n\n[^1]: Unaudited.\n\nNext."


def test_endnotes_come_at_the_end():
    notes = part("endnotes", f'<w:endnote w:id="4">{paragraph("Source: own.")}</w:endnote>')
    body = paragraph("Text", runs='<w:r><w:endnoteReference w:id="4"/></w:r>') + paragraph("More.")
    assert markdown(body, endnotes=notes) == "Text[^i]\n\nMore.\n\n[^i]: Source: own."


def test_a_note_that_refers_to_itself_is_read_once():
    reference = '<w:r><w:footnoteReference w:id="1"/></w:r>'
    notes = part("footnotes", f'<w:footnote w:id="1">{paragraph("note", runs=reference)}</w:footnote>')
    assert markdown(paragraph("x", runs=reference), footnotes=notes) == "x[^1]\n\n[^1]: note[^1]"


def test_a_reference_without_its_note_warns():
    result = convert(paragraph("x", runs='<w:r><w:footnoteReference w:id="9"/></w:r>'))
    assert result.markdown == "x\n"
    assert result.warnings == ("a footnote reference without its note",)


def test_comments_are_counted_but_left_out():
    body = paragraph("Fine.", runs='<w:r><w:commentReference w:id="0"/></w:r>')
    comments = part("comments", f'<w:comment w:id="0">{paragraph("Really?")}</w:comment>')
    result = convert(body, comments=comments)
    assert result.markdown == "Fine.\n"
    assert result.facts["comments"] == "1"


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


def test_pictures_are_read_by_their_alternative_text():
    def picture(description: str) -> str:
        return (
            f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="{description}"/><a:graphic>'
            '<a:graphicData><a:blip r:embed="rId6"/></a:graphicData></a:graphic></wp:inline></w:drawing>'
            "</w:r>"
        )

    body = paragraph("See", runs=run(" ") + picture("A [red] chart")) + paragraph(runs=picture(""))
    result = convert(body, links=LINKS)
    assert result.markdown == "See ![A [red] chart](image1.png)\n"
    assert result.facts["images"] == "2"


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


def test_properties_headers_and_footers_are_facts_and_not_text():
    links = relations(("rId1", "header", "header1.xml", False), ("rId2", "footer", "footer1.xml", False))
    core = (
        '<cp:coreProperties xmlns:cp="x" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<dc:title>Lease</dc:title><dc:creator>Ana</dc:creator></cp:coreProperties>"
    )
    result = convert(
        paragraph("Body"),
        links=links,
        header1=part("hdr", paragraph("Confidential_")),
        footer1=part("ftr", paragraph("Page", runs=field(" PAGE ", "1"))),
        **{"docProps/core.xml": core},
    )
    assert result.markdown == "Body\n"
    assert result.facts == {
        "title": "Lease", "author": "Ana", "header": "Confidential_", "footer": "Page1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status"),
    [("", "empty"), (paragraph(" "), "empty")],
)
def test_a_document_without_text_is_no_success(body: str, status: str):
    with pytest.raises(DocumentFailure) as caught:
        convert(body)
    assert caught.value.status == status


def test_a_document_of_pictures_needs_recognition():
    picture = '<w:r><w:drawing><a:blip r:embed="rId6"/></w:drawing></w:r>'
    with pytest.raises(DocumentFailure) as caught:
        convert(paragraph(runs=picture), links=LINKS)
    assert caught.value.status == "needs_ocr"


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
