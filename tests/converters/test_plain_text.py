"""Plain text: parses back to the same lines."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from chunk_assets.converters.base import Options
from chunk_assets.converters.plain_text import PLAIN_TEXT
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted

PARSER = MarkdownIt("commonmark").enable("table")


def convert(text: str | bytes) -> Converted:
    return PLAIN_TEXT.convert(text if isinstance(text, bytes) else text.encode(), Options())


def shown(markdown: str) -> str:
    """What a markdown reader shows, without any markup."""
    lines = []
    for token in PARSER.parse(markdown):
        if token.type in {"code_block", "fence", "html_block"}:
            lines.append(token.content)
        for child in token.children or []:
            lines += ["\n" if child.type in {"softbreak", "hardbreak"} else child.content]
        if token.type == "inline":
            lines.append("\n")
    return "".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        "# foo", "#hashtag", "####### seven", "Title\n=====", "Title\n-----", "> quoted", "* starred",
        "+ 5 %",
        "- 4.5 %", "---", "***", "___", "```\ncode", "~~~", "a | b\n--|--\n1 | 2", "<b>bold</b>",
        "<DOCUMENT>",
        "[x]: https://a.example", "[a](b)", "![a](b)", "*a* _b_ __c__ `d`", "AT&amp;T", "a\\*b", "C:\\*.*",
        "end\\", "    indented", "\tindented", "**kwargs and *args", "5*3*2", "f(a_b, c_d)", "~~gone~~",
        "[^1]: note", "say [^1]", "x\n    y", "1 < 2 > 0", "Setext\n===\nmore",
    ],
)  # fmt: skip
def test_a_parser_reads_the_same_text_back(text: str):
    tokens = PARSER.parse(convert(text).markdown)
    assert not {t.type for t in tokens} & {
        "heading_open",
        "hr",
        "table_open",
        "html_block",
        "blockquote_open",
        "fence",
    }
    wanted = "\n".join(line.strip() for line in text.split("\n"))
    assert shown(convert(text).markdown).strip() == wanted


@pytest.mark.parametrize(
    "text", ["1. first\n2. second", "- a\n- b", "a * b * c", "x_y_z", "R&D", "(1) one", "2 < 3"]
)
def test_what_needs_no_escape_gets_none(text: str):
    assert convert(text).markdown == f"{text}\n"


def test_lines_stay_lines_and_blank_runs_become_one():
    assert convert("a  \r\nb\r\n\r\n\r\n\r\nc\r\n").markdown == "a\nb\n\nc\n"


def test_prose_is_not_made_code_by_its_indentation_but_columns_keep_theirs():
    assert convert("        CENTRED TITLE\n\n    text\n").markdown == "CENTRED TITLE\n\ntext\n"
    table = "    Name      Price\n    Pen       2.00\n    Ink       3.50"
    assert convert(f"Prices\n\n{table}\n").markdown == f"Prices\n\n{table}\n"


def test_form_feeds_are_pages():
    result = convert("one\n\x0c\ntwo\x0c")
    assert [(p.number, result.markdown[p.start : p.end]) for p in result.pages] == [
        (1, "one\n\n"),
        (2, "two\n"),
    ]


def test_text_without_form_feeds_has_no_pages():
    assert convert("one").pages == ()
    assert convert("one\n<PAGE>\ntwo").pages == ()


def test_page_tags_of_text_filings_start_pages():
    result = convert("<DOCUMENT>\n<TYPE>10-K\nCover\n<PAGE>   2\nBusiness\n")
    assert [(p.number, result.markdown[p.start : p.end]) for p in result.pages] == [
        (1, "\\<DOCUMENT>\n\\<TYPE>10-K\nCover\n\n"), (2, "\\<PAGE>   2\nBusiness\n"),
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "status"), [("", "empty"), (" \n ", "empty"), ("\x0c\x0c", "empty")])
def test_nothing_but_blanks_is_empty(text: str, status: str):
    with pytest.raises(DocumentFailure) as caught:
        convert(text)
    assert caught.value.status == status


def test_a_gigantic_line_is_read_in_linear_time():
    import time

    start = time.process_time()
    for line in (
        "word " * 400_000,
        "*a " * 200_000,
        "<a" * 200_000,
        "[" * 200_000,
        "- " * 200_000,
        "`" * 200_000,
    ):
        convert(line)
    assert time.process_time() - start < 10
