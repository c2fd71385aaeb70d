"""Writing markdown: what is escaped, what is not, and that tables hold together."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chunk_assets.converters import markup
from chunk_assets.converters.blocks import PAGE, Block, Inline, paged, render
from chunk_assets.converters.cells import cell_text

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TEMPTING = st.text(alphabet="ab 1*_`~[]()<>&#|\\!-+.:;=^$\n", max_size=40)


def inline_text(markdown: str) -> str:
    tokens = PARSER.parseInline(markdown)
    return "".join(
        "\n" if t.type in {"softbreak", "hardbreak"} else t.content for t in tokens[0].children or []
    )


def test_clean_text_normalises_and_drops_what_no_text_has():
    assert markup.clean_text("e\u0301\r\na\rb\x0bc\u2028d\x00\x07\x85e\ufeff\u00ad") == "é\na\nb\nc\nd\ne"
    assert markup.clean_text("\ufdd0x\ufdef\ud800") == "x"


@given(st.text(max_size=60))
def test_clean_text_is_clean_and_stays_so(text: str):
    cleaned = markup.clean_text(text)
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in cleaned if char not in "\n\t")
    assert markup.clean_text(cleaned) == cleaned


@given(TEMPTING)
def test_escaped_inline_text_reads_back(text: str):
    line = " ".join(text.split())
    children = PARSER.parseInline(markup.escape_inline(line))[0].children or []
    kinds = {child.type for child in children} - {"text", "text_special", "softbreak", "hardbreak"}
    assert not kinds
    assert "".join(child.content for child in children) == line


@given(TEMPTING)
def test_an_escaped_paragraph_is_one_block_of_the_same_text(text: str):
    lines = [" ".join(line.split()) for line in text.split("\n")]
    wanted = "\n".join(line for line in lines if line)
    if not wanted:
        return
    tokens = PARSER.parse(markup.escape_text(wanted))
    lists = {"bullet_list_open", "ordered_list_open"}
    if any(token.type in lists for token in tokens):
        # Typed lists are lists for a reader too.
        return
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    shown = "".join(
        "\n" if child.type in {"softbreak", "hardbreak"} else child.content
        for child in tokens[1].children or []
    )
    assert shown == wanted


@given(st.lists(st.lists(TEMPTING, min_size=2, max_size=2), min_size=1, max_size=4))
def test_a_pipe_table_reads_back_cell_by_cell(rows: list[list[str]]):
    table = markup.pipe_table([[markup.escape_cell(text) for text in row] for row in rows])
    tokens = PARSER.parse(table)
    if not any(token.type == "table_open" for token in tokens):
        pytest.fail(table)
    cells = [t.children or [] for t in tokens if t.type == "inline"]
    shown = [
        " ".join("".join("\n" if c.content == "<br>" else c.content for c in cell).split()) for cell in cells
    ]
    assert shown == [" ".join(text.split()) for row in rows for text in row]


def test_short_rows_are_filled_and_no_rows_are_no_table():
    assert markup.pipe_table([["a"], ["b", "c"]]) == "| a |  |\n| --- | --- |\n| b | c |"
    assert markup.pipe_table([]) == ""
    assert markup.pipe_table([[], []]) == ""


def test_addresses_in_angle_brackets_and_comparisons_need_no_escape():
    for text in ("Ana <a@b.example>", "<https://a.example/x>", "1 < 2 > 0", "a<b", "Q&A", "AT&T; x"):
        assert markup.escape_inline(text) == text


def test_fences_and_code_spans_are_longer_than_the_ticks_inside():
    assert markup.fence("a\n```\nb") == "````\na\n```\nb\n````"
    assert markup.code_span("a`b") == "``a`b``"
    assert markup.code_span("`x`") == "`` `x` ``"
    assert inline_text(markup.code_span("`x`")) == "`x`"


def test_links_survive_brackets_and_blanks():
    written = markup.link("a ] b", "https://a.example/x y(1)")
    children = PARSER.parseInline(written)[0].children or []
    assert children[0].attrGet("href") == "https://a.example/x%20y%281%29"
    assert inline_text(written) == "a ] b"
    assert markup.link("x", "") == "x"
    assert markup.link("https://a.example", "https://a.example") == "https://a.example"


def test_scripts_raise_only_digits_and_signs():
    assert markup.superscript("10") == "¹⁰"
    assert markup.subscript("2") == "₂"
    assert markup.superscript("th") == "th"


def test_pages_tile_the_text_and_empty_ones_are_left_out():
    text, pages = paged(f"one\n\n{PAGE}two{PAGE}{PAGE}four")
    assert text == "one\n\ntwofour"
    assert [(p.number, text[p.start : p.end]) for p in pages] == [(1, "one\n\n"), (2, "two"), (4, "four")]
    assert paged("no breaks") == ("no breaks", ())


def test_render_keeps_lists_tight_and_pages_of_empty_blocks():
    blocks = [Block("a", "item"), Block("b", "item"), Block(PAGE), Block("c"), Block(PAGE), Block(PAGE + "d")]
    text, pages = render(blocks)
    assert text == "a\nb\n\nc\n\nd\n"
    assert [(p.number, text[p.start : p.end]) for p in pages] == [(1, "a\nb\n\n"), (2, "c\n\n"), (4, "d\n")]


def test_a_source_cannot_forge_marks():
    inline = Inline()
    inline.text("a\ufdd0b\ufdd1c")
    inline.markdown("[x](y)")
    assert inline.block() == "abc[x](y)"


def test_a_table_in_a_cell_is_flattened():
    table = markup.pipe_table([["a", "b\\|c"], ["1", ""]])
    assert cell_text([Block("before"), Block(table, "table")]) == "before<br>a / b\\|c<br>1"
