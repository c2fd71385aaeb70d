"""What the text of Word documents refers to: fields, links, notes, pictures, other parts."""

from __future__ import annotations

import pytest
from office_building import convert, docx, markdown, paragraph, part, relations, run

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


def test_a_document_of_pictures_needs_recognition():
    picture = '<w:r><w:drawing><a:blip r:embed="rId6"/></w:drawing></w:r>'
    with pytest.raises(DocumentFailure) as caught:
        convert(paragraph(runs=picture), links=LINKS)
    assert caught.value.status == "needs_ocr"
