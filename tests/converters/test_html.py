"""Web pages: content, lists, links, code, pages, encodings, hostile nesting."""

from __future__ import annotations

import pytest
from web_pages import convert, markdown

from chunk_assets.errors import DocumentFailure


def test_headings_paragraphs_and_line_breaks():
    html = "<h1>Title</h1><p>One\n  line<br>two</p><h7>x</h7><div>Div<p>Inner</p>tail</div>"
    assert markdown(html) == "# Title\n\nOne line\ntwo\n\nx\n\nDiv\n\nInner\n\ntail"


def test_two_breaks_are_a_paragraph():
    assert markdown("a<br><br>b<br> <br>c<br>d") == "a\n\nb\n\nc\nd"


def test_programs_styles_and_hidden_elements_are_left_out():
    html = (
        "<head><title>T</title><style>p{}</style></head><body>seen<script>var x</script>"
        "<div style='display: none'>no</div><p hidden>no</p><template>no</template>"
        "<span style='visibility:hidden'>no</span><noscript>no</noscript></body>"
    )
    result = convert(html)
    assert result.markdown == "seen\n"
    assert result.facts["title"] == "T"


def test_head_facts_are_facts():
    html = (
        '<html lang="en"><head><title>A  B</title><meta name="author" content="Ana">'
        '<meta property="article:published_time" content="2024-01-02">'
        '<link rel="canonical" href="https://a.example/x"></head><body>text</body>'
    )
    facts = convert(html).facts
    assert facts["title"] == "A B"
    assert facts["author"] == "Ana"
    assert facts["created"] == "2024-01-02"
    assert facts["url"] == "https://a.example/x"
    assert facts["language"] == "en"


PAGE = (
    "<nav><a href='/'>Home</a></nav><header><a href='/'>Logo</a></header>"
    "<main><h1>Story</h1><p>" + "A long story. " * 30 + "</p></main>"
    "<footer><a href='/imprint'>Imprint</a></footer>"
)


def test_navigation_is_left_out_or_kept_as_asked():
    assert "Home" not in markdown(PAGE)
    assert "Imprint" not in markdown(PAGE)
    assert markdown(PAGE).startswith("# Story")
    assert all(word in markdown(PAGE, "all") for word in ("Home", "Logo", "Story", "Imprint"))


def test_text_outside_a_small_main_element_is_not_lost():
    html = "<main>short</main><div>" + "Real body text. " * 30 + "</div>"
    assert "Real body text." in markdown(html)


def test_a_footer_of_words_is_content_and_one_of_links_is_not():
    words = "<p>Body text here.</p><footer>This report was audited by our auditors.</footer>"
    assert "audited" in markdown(words)
    assert "Terms" not in markdown("<p>Body text here.</p><footer><a href='/t'>Terms</a></footer>")


def test_names_that_only_resemble_page_furniture_cost_no_text():
    html = "<div class='share-price'><a href='/q'>ACME 12.30</a></div><p>Closing prices</p>"
    assert markdown(html) == "ACME 12.30\n\nClosing prices"
    furniture = "<div class='social-links'><a href='/f'>Follow us</a></div><p>Closing prices</p>"
    assert markdown(furniture) == "Closing prices"


def test_a_page_of_nothing_but_links_is_kept():
    assert markdown("<nav><a href='/a'>Only link</a></nav>") == "Only link"


def test_a_heading_in_a_page_header_is_never_lost():
    html = "<header class='top'><h1><a href='/x'>Title</a></h1></header><p>Text</p>"
    assert markdown(html) == "# Title\n\nText"


def test_a_title_outside_the_main_element_is_never_lost():
    html = "<header><nav><a href=/>Home</a></nav><h1>Title</h1></header><main><p>Text of the page</p></main>"
    assert markdown(html) == "# Title\n\nText of the page"


def test_lists_nest_and_number():
    html = (
        "<ol start=3><li>three<ul><li>a<li>b<ul><li>deep</ul></ul><li><p>four</p><p>more</p></ol>"
        "<ol type=a><li>first<li>second</ol>"
    )
    assert markdown(html) == (
        "3. three\n   - a\n   - b\n     - deep\n4. four\n\n   more\n\na. first\n\nb. second"
    )


def test_reversed_and_valued_items_show_their_numbers():
    assert markdown("<ol reversed><li>x<li>y</ol>") == "2. x\n1. y"
    assert markdown("<ol><li value=7>x<li>y</ol>") == "7. x\n8. y"


def test_links_keep_absolute_addresses_only():
    html = (
        '<p>See <a href="https://a.example/p(1)"> the rules </a>, <a href="/x">here</a>, '
        '<a href="#y">there</a>, <a href="https://b.example/">b.example</a>, '
        '<a href="javascript:x()">js</a></p>'
    )
    assert markdown(html) == ("See [the rules](https://a.example/p%281%29) , here, there, b.example, js")


def test_code_is_kept_as_it_is():
    html = "<p>Use <code>a_b*c*</code>.</p><pre><code class='language-py'>if x:\n    y = *z*\n</code></pre>"
    assert markdown(html) == "Use `a_b*c*`.\n\n```\nif x:\n    y = *z*\n```"


def test_a_page_of_preformatted_text_is_text_and_not_code():
    html = "<pre>\n            TITLE\n\nFirst paragraph\nof text.\n\n" + "More text.\n\n" * 10 + "</pre>"
    text = markdown(html)
    assert "```" not in text
    assert text.startswith("TITLE\n\nFirst paragraph\nof text.")


def test_scripts_entities_and_ruby():
    html = "<p>10<sup>2</sup> m, H<sub>2</sub>O, 5&nbsp;&lt;&nbsp;6 &amp;amp; &euro; "
    html += "<ruby>東<rt>とう</rt></ruby></p>"
    assert markdown(html) == "10² m, H₂O, 5 < 6 \\&amp; € 東"


def test_images_are_read_by_their_alternative_text():
    html = '<p><img alt="A chart" src="/i/c.png?x=1"><img src="y.png"><img alt="logo.jpg" src="logo.jpg"></p>'
    assert markdown(html) == "![A chart](c.png)"


def test_form_fields_show_what_is_filled_in():
    html = "<p><input type=checkbox checked>Yes <input type=checkbox>No <input value='Ana'></p>"
    assert markdown(html) == "☒ Yes ☐ No Ana"


def test_page_breaks_make_pages_that_tile_the_text():
    html = (
        "<p>One</p><hr style='page-break-after:always'><p>Two</p>"
        "<p style='break-before: page'>Three</p><div style='page-break-before:auto'>still</div>"
    )
    result = convert(html)
    texts = [result.markdown[page.start : page.end].strip() for page in result.pages]
    assert texts == ["One", "Two", "Three\n\nstill"]
    assert [page.number for page in result.pages] == [1, 2, 3]


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("<meta charset=windows-1251><p>Договор</p>".encode("cp1251"), "windows-1251"),
        ('<meta content="text/html; charset=shift_jis"><p>契約</p>'.encode("cp932"), "cp932"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><html><p>Größe €</p>".encode("cp1252"), "windows-1252"),
        ("<meta charset=iso-8859-1><p>Größe</p>".encode(), "utf-8"),
        ("<p>Größe</p>".encode("utf-16"), "utf-16-le"),
    ],
)  # fmt: skip
def test_the_declared_charset_is_heeded_unless_the_bytes_say_otherwise(data: bytes, encoding: str):
    result = convert(data)
    assert result.facts["encoding"] == encoding
    assert result.markdown.strip() in {"Договор", "契約", "Größe €", "Größe"}


@pytest.mark.parametrize("depth", [100, 1_000, 5_000])
@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td", "blockquote"])
def test_deep_nesting_never_costs_text(depth: int, tag: str):
    html = "<body>" + f"<{tag}>" * depth + "deep" + "<p>after</p>"
    text = markdown(html)
    assert "deep" in text
    assert "after" in text


@pytest.mark.parametrize("html", ["", "  ", "<html></html>", "<script>x</script>", "<p>&nbsp;</p>"])
def test_a_page_without_visible_text_is_no_success(html: str):
    with pytest.raises(DocumentFailure) as caught:
        convert(html)
    assert caught.value.status == "empty"


@pytest.mark.shared
def test_every_web_page_of_the_corpus_keeps_every_word_that_it_shows(shared):
    import re

    from lxml import html as parser

    skipped = ("script", "style", "head", "noscript", "template", "header")
    for path in sorted((shared / "corpus" / "html").glob("*.html")):
        data = path.read_bytes()
        text = re.sub(r"\s+", "", convert(data, "all").markdown)
        tree = (
            parser.fromstring(data)
            if not data.startswith(b"\xff\xfe")
            else parser.fromstring(data.decode("utf-16"))
        )
        for element in tree.xpath("//p"):
            if any(a.tag in skipped or "none" in (a.get("style") or "") for a in element.iterancestors()):
                continue
            for word in re.findall(r"[A-Za-z]{4,}", element.text or ""):
                assert word in text, f"{path.name}: {word}"
