"""Markdown files: kept as they are, with front matter as facts."""

from __future__ import annotations

import pytest

from chunk_assets.converters.base import Limits, Options
from chunk_assets.converters.markdown import MARKDOWN
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted


def convert(text: str | bytes) -> Converted:
    return MARKDOWN.convert(text if isinstance(text, bytes) else text.encode(), Options())


def test_markdown_is_kept_to_the_letter():
    text = "# A\n\n*b* __c__ `d`\\*\n\n```\n  code  \n```\n\n| x | y |\n|--|:-:|\n| 1 | 2 |\n"
    assert convert(text).markdown == text


def test_line_ends_marks_and_normal_form_are_mended():
    data = b"\xef\xbb\xbf# Cafe\xcc\x81\r\n\r\nline\x00 two\rthree\n"
    assert convert(data).markdown == "# Café\n\nline two\nthree\n"


def test_front_matter_becomes_facts_and_leaves_the_text():
    text = "---\ntitle: Report\ndate: 2024-03-01\ntags: [a, b]\nowner:\n  name: Ana\nempty:\n---\n\n# Body\n"
    result = convert(text)
    assert result.markdown == "# Body\n"
    assert result.facts == {
        "title": "Report", "date": "2024-03-01", "tags": "a, b", "owner.name": "Ana", "encoding": "utf-8",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "---\nA rule, then text.\n\n---\nmore\n",
        "---\n- a list\n---\n",
        "---\nkey: [unclosed\n---\ntext\n",
        "---\na: &x 1\nb: *x\n---\ntext\n",
        "text\n---\ntitle: no\n---\n",
    ],
)
def test_what_is_no_front_matter_stays_text(text: str):
    assert convert(text).markdown == text


def test_form_feeds_are_pages_that_tile_the_text():
    result = convert("one\n\x0ctwo\n\x0c\x0cfour")
    assert [(p.number, result.markdown[p.start : p.end].strip()) for p in result.pages] == [
        (1, "one"), (2, "two"), (4, "four"),
    ]  # fmt: skip
    assert "\x0c" not in result.markdown


def test_latin_1_is_read():
    result = convert("# Größe\n\nkönnen äöüß\n".encode("latin-1"))
    assert result.markdown == "# Größe\n\nkönnen äöüß\n"
    assert result.facts["encoding"] == "windows-1252"


@pytest.mark.parametrize("text", ["", " \n\t", "---\ntitle: only\n---\n"])
def test_nothing_but_blanks_and_front_matter_is_empty(text: str):
    with pytest.raises(DocumentFailure) as caught:
        convert(text)
    assert caught.value.status == "empty"


def test_the_output_limit_holds():
    with pytest.raises(DocumentFailure) as caught:
        MARKDOWN.convert(b"word " * 100, Options(limits=Limits(max_output_chars=100)))
    assert caught.value.status == "too_large"
    assert "100" in caught.value.reason
