"""Kinds of faults reported against public chunkers: sentences, tables, code and markup cut apart."""

from __future__ import annotations

import re

import pytest

from chunk_assets.chunking import n_tables
from tests.checked_cutting import PACKERS, cut
from tests.cutting import texts

# sentences


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (
            "Water boils at 99.6 degrees here. The ratio was 2.71828 or so. Costs were $4,321.9 million.",
            r"\d[\d.,]*\d",
        ),
        ("The deed was drawn up by K. L. Marsh for the heirs. It was short.", r"K\. L\. Marsh"),
        ("Waiting... still waiting. Build 2.07 is done... or nearly done.", r"\.{3}"),
    ],
)
@pytest.mark.parametrize("name", PACKERS)
def test_numbers_initials_and_ellipses_are_whole(name: str, text: str, whole: str) -> None:
    inside = {at for found in re.finditer(whole, text) for at in range(found.start() + 1, found.end())}
    for chunk in cut(text, name, 12):
        assert not inside & {chunk.start_char, chunk.end_char}


@pytest.mark.parametrize("name", PACKERS)
def test_a_full_stop_stays_with_its_sentence(name: str) -> None:
    chunks = cut(
        "A first gate opened. A second gate closed. A third gate stuck. A fourth gate fell.", name, 7
    )
    assert all(text[0].isupper() and text.endswith(".") for text in texts(chunks))


def test_line_wraps_move_no_border() -> None:
    wrapped = "The train leaves at\nten and arrives at\nfour. The last boat\nleaves at five."
    flat = wrapped.replace("\n", " ")
    both = ([(c.start_char, c.end_char) for c in cut(t, "sentence_window", 12)] for t in (wrapped, flat))
    assert len({tuple(spans) for spans in both}) == 1


def test_sentence_ends_of_other_scripts_are_seen() -> None:
    text = "هل عاد القارب؟ نعم عاد في المساء. كانت الريح قوية! ثم هدأت."
    chunks = cut(text, "sentence_window", 30)
    assert len(chunks) > 1
    assert all(chunk.text[-1] in "؟.!" for chunk in chunks)


# tables, code, markdown


def test_rows_are_whole_and_every_part_has_the_header() -> None:
    rows = [f"| nut {at} | {at}.25 | {at * 4} |" for at in range(30)]
    table = "\n".join(["| Item | Cost | Left |", "|---|---|---|", *rows])
    for name in PACKERS:
        for chunk in cut(f"Intro.\n\n{table}\n\nOutro.", name, 60):
            lines = [line for line in chunk.text.split("\n") if line.startswith("| nut")]
            assert all(line in rows for line in lines)
            assert not lines or "Cost" in chunk.context + chunk.text


def test_html_rows_occur_once_and_know_their_header() -> None:
    rows = "".join(f"<tr><td>n{at}</td><td>{at}</td></tr>" for at in range(30))
    chunks = cut(f"<table><tr><th>Name</th><th>Size</th></tr>{rows}</table>", "section", 60)
    assert sum("<td>n7</td>" in text for text in texts(chunks)) == 1
    assert all("Name" in chunk.context + chunk.text for chunk in chunks)


def test_quoted_cells_with_line_ends_are_whole() -> None:
    chunks = cut('no;note\n1;"one\nor two"\n2;"x; y"\n3;last\n', "row", 40)
    assert len(chunks) == 3
    assert any('"one\nor two"' in text for text in texts(chunks))


def test_a_long_fence_is_cut_between_lines_and_its_parts_are_called_code() -> None:
    lines = [f"cell_{at} = {at}" for at in range(40)]
    chunks = cut("Before.\n\n```\n" + "\n".join(lines) + "\n```\n\nAfter.", "section", 60)
    for chunk in chunks:
        if "cell_" in chunk.text:
            assert chunk.content_kind == "code"
            assert set(chunk.text.split("\n")) <= {*lines, "```"}


def test_a_heading_is_not_in_both_text_and_context() -> None:
    for chunk in cut("# Upper\n\nStart.\n\n## Lower\n\nMore of it.\n", "section", 40):
        assert f"{chunk.context} {chunk.text}".count("Lower") <= 1


def test_blank_lines_between_paragraphs_are_kept() -> None:
    chunks = cut("# H\n\nOne paragraph.\n\nOther paragraph.\n", "section", 60)
    assert "One paragraph.\n\nOther paragraph." in chunks[0].text


@pytest.mark.parametrize(("text", "path"), [
    ("# One\r\n\r\nText one.\r\n\r\n## Two\r\n\r\nText two.\r\n", ("One", "Two")),
    ("\ufeff# One\n\nText two.\n", ("One",)),
])  # fmt: skip
def test_windows_line_ends_and_byte_order_marks_hide_no_heading(text: str, path: tuple[str, ...]) -> None:
    assert next(c for c in cut(text, "section", 9) if "Text two" in c.text).heading_path == path


def test_lists_keep_their_numbers() -> None:
    items = [f"{at}. Move number {at} is told here." for at in range(1, 16)]
    chunks = cut("Do so:\n\n" + "\n".join(items) + "\n", "section", 50)
    assert [line for text in texts(chunks) for line in text.split("\n") if line[:1].isdigit()] == items


@pytest.mark.parametrize("lead", ["  ", "> ", ">> "])
@pytest.mark.parametrize("name", PACKERS)
def test_rows_of_a_table_in_a_list_or_quote_are_whole_and_know_their_header(name: str, lead: str) -> None:
    rows = [f"{lead}| bolt {at} | {at * 4} |" for at in range(20)]
    opening = "- Parts:\n\n" if lead == "  " else ""
    table = "\n".join([f"{lead}| Part | Left |", f"{lead}|---|---|", *rows])
    chunks = cut(f"{opening}{table}\n\nThe end.", name, 48)
    assert len(chunks) > 3
    for chunk in chunks:
        lines = [line.strip() for line in chunk.text.split("\n") if "| bolt" in line]
        assert all(line in [row.strip() for row in rows] for line in lines)
        assert not lines or "Part | Left" in chunk.context + chunk.text


def test_a_table_like_text_in_a_nested_fence_is_code() -> None:
    text = "- Do:\n\n  ```\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n  ```\n"
    assert n_tables(text) == 0
    assert n_tables(text.replace("  ```\n", "")) == 1
