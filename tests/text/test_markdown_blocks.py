"""Blocks against an independent parser (markdown-it-py), and where we depart from it on purpose."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chunk_assets.text.markdown import headings, kinds, n_tables, structure

PARSER = MarkdownIt("commonmark").enable("table")
NAMES = {
    "heading_open": "heading",
    "fence": "fence",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "table_open": "table",
    "hr": "rule",
    "html_block": "html",
    "code_block": "indented",
}


def ours(text: str) -> list[tuple[str, int, int]]:
    """Kind, first and last line of every block."""
    blocks, _ = structure(text)
    return [
        (kinds.NAMES[kind], text.count("\n", 0, start), text.count("\n", 0, end))
        for kind, start, end in zip(
            blocks.kinds.tolist(), blocks.starts.tolist(), blocks.ends.tolist(), strict=True
        )
    ]


def theirs(text: str) -> list[tuple[str, int, int]]:
    found = []
    lines = text.split("\n")
    for token in PARSER.parse(text):
        if token.level == 0 and token.type in NAMES and token.map:
            first, last = token.map[0], token.map[1] - 1
            while last > first and not lines[last].strip() and NAMES[token.type] != "fence":
                last -= 1
            found.append((NAMES[token.type], first, min(last, len(lines) - 1)))
    return found


def joined(blocks: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Lists that follow each other are one: a change of the marker matters to no chunk."""
    found: list[tuple[str, int, int]] = []
    for kind, first, last in blocks:
        if found and kind == found[-1][0] == "list":
            found[-1] = ("list", found[-1][1], last)
        else:
            found.append((kind, first, last))
    return found


SAMPLES = {
    "headings": "# One\n\nText.\n\nTwo\n===\n\nThree\nmore\n---\n###### Six ######\n####### seven\n#hash\n",
    "no space": "#\n\n# \n\n## a #b #\n",
    "list": "- a\n- b\n\n  more\n  - c\n    text\n- d\nlazy\n\nafter\n",
    "ordered": "text\n2. no list\n\n2. list\n3) other\n\n12345678901. no\n",
    "item ends": "- a\n\n\n- b\n\ntext\n",
    "dashes": "- - a\n---\n* * *\n+ x\n_ _ _\n__ _\n",
    "fences": "```py\n# no\n\n```\ntext\n~~~~\n```\n~~~\n~~~~\n``` a`b\n```\nopen\n",
    "fence in list": "1. a\n\n   ```\n   # no\n   ```\n2. b\n\n```\nx\n```\n",
    "table": "| a | b |\n|---|:-:|\n| 1 | 2 |\nrest\n\n| x |\n|---|\n| y |\n> q\n",
    "table without pipes at the ends": "text\na | b\n--|--\n1 | 2\n\nafter\n",
    "no table": "a | b\n---\n\n| a | b |\n|---|\n| c |\n",
    "escaped pipe": "a \\| b | c\n--|--\n1 | 2\n",
    "quote": "> a\nlazy\n> - b\n\n> c\n# d\n> ```\n> x\ny\n",
    "html": "<div>\ntext\n\n# h\n<!-- a\n\nb -->\n<b>alone</b> text\n<i>\nx\n\ntext <div>\n<p>\n",
    "script": "<script>\n\n# no\n</script>\n# yes\n",
    "rule": "a\n\n***\n- - -\nb\n___\n",
    "indented": "    code\n\n    more\ntext\n    no code\n\n\ttab\n",
    "setext after list": "- a\n===\n\nb\n===\n",
    "empty item": "-\n  a\n- \n\n  b\n",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_blocks_are_those_of_markdown_it(sample: str) -> None:
    text = SAMPLES[sample]
    assert joined(ours(text)) == joined(theirs(text))


PIECES = (
    "# h\n", "## h ##\n", "text\n", "more text. And more\n", "\n", "\n", "- a\n", "* b\n", "1. c\n", "2) d\n",
    "  in\n", "    deep\n", "```\n", "~~~\n", "===\n", "---\n", "***\n",
    "> q\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "   - x\n",
    "-\n", "#no\n", "a | b\n", "<div>\n", "<!-- c -->\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_headings_and_fences_are_those_of_markdown_it_on_any_text(text: str) -> None:
    if text.startswith("---\n"):
        text = "\n" + text  # front matter is ours alone
    mine = [block for block in ours(text) if block[0] in {"heading", "fence"}]
    other = [block for block in theirs(text) if block[0] in {"heading", "fence"}]
    if any(kind == "list" for kind, _, _ in theirs(text)):
        # A fence right after a list may be in its last item or not: containers are not nested here.
        mine, other = ([b for b in found if b[0] == "heading"] for found in (mine, other))
        same = [first for _, first, _ in mine] == [first for _, first, _ in other]
        assert same or "```" in text or "~~~" in text
    else:
        assert mine == other


def test_front_matter_is_a_block_of_its_own_and_no_heading() -> None:
    text = "---\ntitle: Demo\ntags:\n  - a\n---\n# Start\n"
    assert ours(text) == [("front_matter", 0, 4), ("heading", 5, 5)]
    assert [heading.title for heading in headings(text)] == ["Start"]


@pytest.mark.parametrize("text", ["---\n\ntext\n---\n", "---\nplain prose here\n---\n", "---\n"])
def test_a_rule_at_the_top_is_not_front_matter(text: str) -> None:
    assert "front_matter" not in {kind for kind, _, _ in ours(text)}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r", "\f"])
def test_every_line_end_ends_a_heading(newline: str) -> None:
    text = newline.join(["# One", "", "Text.", "", "Two", "---", "end"])
    assert [(h.level, h.title) for h in headings(text)] == [(1, "One"), (2, "Two")]


def test_a_byte_order_mark_hides_no_heading() -> None:
    assert [h.title for h in headings("\ufeff# First\n\nText.")] == ["First"]


def test_html_tables_go_on_over_blank_lines_and_know_their_own_rows() -> None:
    text = (
        "<table><tr><th>K</th></tr>\n\n<tr><td>a</td></tr>\n"
        "<tr><td><table><tr><td>in</td></tr></table></td></tr></table>\n\nEnd."
    )
    blocks, _ = structure(text)
    assert [kinds.NAMES[kind] for kind in blocks.kinds.tolist()] == ["html_table", "paragraph"]
    assert [text[at : at + 10] for at in blocks.rows.tolist()] == ["<tr><td>a<", "<tr><td><t"]
    assert [text[a:b] for a, b in blocks.headers.tolist()] == ["<tr><th>K</th></tr>\n\n"]
    assert n_tables(text) == 1


def test_table_rows_and_header_have_exact_spans() -> None:
    text = "Intro.\n\n| Town |\n|---|\n| Oban |\n| Tain |\n\nOutro."
    blocks, _ = structure(text)
    assert [text[a:b] for a, b in blocks.headers.tolist()] == ["| Town |"]
    assert [text[at : at + 8] for at in blocks.rows.tolist()] == ["| Oban |", "| Tain |"]


def test_blocks_hold_every_visible_character() -> None:
    text = "\n".join(SAMPLES.values())
    blocks, _ = structure(text)
    shown = "".join(text[a:b] for a, b in zip(blocks.starts.tolist(), blocks.ends.tolist(), strict=True))
    assert "".join(shown.split()) == "".join(text.split())


HOSTILE = {
    "newlines": "\n",
    "unclosed tables": "<table>\n",
    "unclosed fences": "```\n\n~~~\n",
    "list items": "- a b c\n",
    "quotes": "> a\n",
    "blanks": " ",
    "carriage returns": "ab\r",
    "table rows": "| 1 | 2 |\n",
    "delimiters": "|---|---|\n",
    "dashes": "-",
    "headings": "# a\n",
    "comments": "<!--\n",
    "underlines": "a\n---\n",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_time_grows_with_the_text_and_not_faster(kind: str) -> None:
    def seconds(size: int) -> float:
        text = HOSTILE[kind] * (size // len(HOSTILE[kind]))
        begin = time.process_time()
        structure(text)
        return time.process_time() - begin

    small = min(seconds(50_000) for _ in range(3))
    assert seconds(400_000) < 8 * 4 * small + 0.1
