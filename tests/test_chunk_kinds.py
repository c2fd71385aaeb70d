"""Kinds of faults reported against public chunkers, each with inputs of our own."""

from __future__ import annotations

import itertools
import re
import time
from typing import Any

import pytest
import regex

from chunk_assets import hashing
from chunk_assets.chunking import chunk_markdown, n_tables, strategy
from chunk_assets.errors import ConfigurationError
from chunk_assets.records import ChunkSpan
from chunk_assets.strategies import STRATEGIES
from chunk_assets.text.document import page_range, pages_by_form_feed
from tests.strategies.promises import check_spans, policy_tokens

PACKERS = tuple(name for name in sorted(STRATEGIES) if name != "fixed")


def cut(text: str, name: str, size: int, overlap: int = 0, **more: Any) -> list[ChunkSpan]:
    chosen = strategy(name, {"max_tokens": size, "overlap_tokens": overlap, "min_tokens": 0, **more})
    chunks = chunk_markdown(text, chosen)
    check_spans(text, chunks)
    single = [c for c in chunks if c.token_count > size]
    assert all(len(regex.findall(r"\X", chunk.text)) == 1 for chunk in single), "over the limit"
    return chunks


def texts(chunks: list[ChunkSpan]) -> list[str]:
    return [chunk.text for chunk in chunks]


# offsets


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_a_chunk_that_is_the_beginning_of_another_has_its_own_offset(name: str) -> None:
    cut("key keys key keyring key keys keyring key", name, 3, 1)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("overlap", [0, 9])
def test_equal_sentences_have_rising_offsets_and_share_nothing_unasked(name: str, overlap: int) -> None:
    chunks = cut("Put the red box on the upper shelf. " * 9, name, 22, overlap)
    if not overlap:
        assert all(a.end_char <= b.start_char for a, b in itertools.pairwise(chunks))


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_characters_of_many_bytes_shift_no_offset(name: str) -> None:
    chunks = cut("Malmö hält Brücken 🚢🚢🚢 für Größe. Łódź 🦉 żyje. " * 4, name, 8, 2)
    assert all("\ufffd" not in text for text in texts(chunks))


# limits


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize(
    "text",
    [
        ", and then ".join(f"we passed buoy {at}" for at in range(50)) + ".",
        "name=first;" * 90,
        "Here is a file: " + "U29tZUJhc2U2NERhdGFPZk5vVXNl" * 30 + " and that was it.",
        "".join(f"Path: dir/part{at}.bin\nBytes: {at * 31}\nType: data\n\n" for at in range(40)),
        "ประชุมเริ่มตอนเช้าและจบตอนเย็นโดยไม่มีใครคัดค้านเรื่องราคาใหม่" * 6,
        "👨‍👩‍👧‍👦🇫🇮e\u0301👋🏾" * 10,
    ],
    ids=["long sentence", "no separator", "blob", "listing", "thai", "clusters"],
)
def test_nothing_is_over_the_limit_and_no_grapheme_is_cut(name: str, text: str) -> None:
    chunks = cut(text, name, 24)
    borders = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    assert all({chunk.start_char, chunk.end_char} <= borders for chunk in chunks)


def test_a_heading_longer_than_the_budget_drops_no_body() -> None:
    heading = "# " + "An endless title goes on and on " * 9
    chunks = cut(f"{heading}\n\nYet these words are kept.", "section", 36)
    assert "these words are kept" in chunks[-1].text


def test_metadata_takes_nothing_from_the_text() -> None:
    # The engine is given no metadata: what a document carries can't shrink its chunks.
    assert len(cut("The buoy broke loose in March. Nobody saw it go. " * 4, "sentence_window", 20)) == 3


# overlap


def test_each_chunk_begins_with_the_last_sentence_of_the_one_before_when_it_fits() -> None:
    sentences = [f"{name} mended nets at the pier." for name in ("Anna", "Bert", "Cleo", "Dora")]
    pairs = [" ".join(pair) for pair in itertools.pairwise(sentences)]
    size, overlap = max(map(policy_tokens, pairs)), max(map(policy_tokens, sentences))
    assert texts(cut(" ".join(sentences), "sentence_window", size, overlap)) == pairs


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("overlap", [20, 21])
def test_an_overlap_of_the_whole_chunk_is_refused_before_any_text_is_read(name: str, overlap: int) -> None:
    with pytest.raises(ConfigurationError, match=f"overlap_tokens {overlap} must be less than"):
        strategy(name, {"max_tokens": 20, "overlap_tokens": overlap})


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_units_between_size_less_overlap_and_size_end(name: str) -> None:
    cut(
        "red orange yellow green blue indigo violet black white grey brown pink teal navy. " * 4, name, 20, 11
    )


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_the_overlap_counts_to_the_limit(name: str) -> None:
    cut("The gull sat on the mast. A seal slept below. " * 9, name, 23, 9)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_no_overlap_copies_nothing(name: str) -> None:
    chunks = cut("No. Go. Do. So. Up.", name, 3)
    assert all(chunk.overlap_chars == 0 for chunk in chunks)


@pytest.mark.parametrize("name", PACKERS)
def test_overlap_and_borders_are_whole_sentences_and_numbers(name: str) -> None:
    text = "Guests came to 4.18 million in May, up 6% on the year. Fares rose by 12%. Fuel fell by 3.5%."
    ends = {found.end() for found in re.finditer(r"year\.|12%\.|3\.5%\.", text)}
    chunks = cut(text, name, 30, 12)
    assert {chunk.end_char for chunk in chunks} <= ends


# nothing lost


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_the_unit_that_closes_a_chunk_is_kept(name: str) -> None:
    middle = "A slow account of ropes, knots, tar, canvas and weather goes on without a stop " * 3
    cut(f"Grey gulls came first. Brown gulls came next. {middle}. White gulls came last.", name, 30)


def test_a_comment_in_a_fence_is_no_heading_and_cuts_nothing() -> None:
    chunks = cut("Words before.\n\n```sh\n# only a comment\nmake all\n```\n\nWords after.", "section", 40)
    whole = "\n".join(texts(chunks))
    assert all(part in whole for part in ("Words before.", "make all", "Words after."))
    assert {chunk.heading_path for chunk in chunks} == {()}
    paths = {
        c.heading_path for c in cut("# Is\n\n```py\n# is not\n```\n\n## Also is\n\nText.", "section", 60)
    }
    assert {title for path in paths for title in path} == {"Is", "Also is"}


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize(
    "text", ["# Yearly plan\n\n## Aims\n\n## Dangers\n", "# One\n# Two\n\nBody.\n", "# Only\n"]
)
def test_headings_without_a_body_are_kept(name: str, text: str) -> None:
    chunks = cut(text, name, 40)
    known = " ".join([*texts(chunks), *(title for chunk in chunks for title in chunk.heading_path)])
    assert all(word in known for word in re.findall(r"\w+", text))


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_a_table_of_one_column_is_kept(name: str) -> None:
    whole = "\n".join(texts(cut("| Port |\n|---|\n| Wick |\n| Leith |\n", name, 40)))
    assert all(port in whole for port in ("Wick", "Leith"))


def test_tabs_and_no_break_spaces_are_kept() -> None:
    assert "\tmove\xa0on" in cut("# T\n\n```make\nall:\n\tmove\xa0on\n```\n", "section", 60)[0].text


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


# odd input


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_the_spelling_of_a_special_token_is_text(name: str) -> None:
    whole = " ".join(texts(cut("The mark <|endoftext|> and [SEP] end parts. The next follows.", name, 20)))
    assert "<|endoftext|>" in whole


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_control_characters_are_kept(name: str) -> None:
    cut("Page one is over.\fPage two\x00 begins.\x0bIt is over. \x1f", name, 12)


def test_many_lines_without_a_blank_one_take_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        text = (
            "\n".join(f"Line {at} of a wrapped book without a blank line" for at in range(count)) + "\n\nEnd."
        )
        begin = time.process_time()
        cut(text, "recursive", 40)
        return time.process_time() - begin

    seconds(50)
    assert min(seconds(1600) for _ in range(2)) < 5 * min(seconds(400) for _ in range(3)) + 0.05


# pages and identity


def test_pages_are_counted_once_and_a_chunk_can_span_two() -> None:
    text = "Page one has words.\fPage two has words.\fPage three has words."
    pages = pages_by_form_feed(text)
    for chunk in cut(text, "sentence_window", 12, 5):
        first = 1 + text.count("\f", 0, chunk.start_char)
        assert page_range(pages, chunk.start_char, chunk.end_char)[0] == first <= 3
    spanning = "The rule begins on one page and\fends on the other without a stop."
    chunk = cut(spanning, "sentence_window", 40)[0]
    assert page_range(pages_by_form_feed(spanning), chunk.start_char, chunk.end_char) == (1, 2)


def test_a_heading_after_a_page_break_is_seen_and_offsets_survive_the_context() -> None:
    text = "# Chart\n\nWest way is shut.\f## Bypass\n\nTake the east way."
    last = cut(text, "section", 12)[-1]
    assert (last.heading_path, last.context) == (("Chart", "Bypass"), "Chart")
    assert page_range(pages_by_form_feed(text), last.start_char, last.end_char) == (2, 2)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_two_runs_give_the_same_hashes(name: str) -> None:
    text = "The lock stuck at noon. A diver went down. " * 9
    runs = [[hashing.sha256_text(text) for text in texts(cut(text, name, 20, 6))] for _ in range(2)]
    assert runs[0] == runs[1]


def test_a_small_edit_changes_few_chunks() -> None:
    def sections(extra: str) -> str:
        parts = (
            f"{extra * (at == 1)}Part {at} is about dock {at}. It has two sentences." for at in range(20)
        )
        return "\n\n".join(f"## Part {at}\n\n{part}" for at, part in enumerate(parts))

    before, after = (
        set(texts(cut(sections(extra), "section", 60))) for extra in ("", "A new sentence is here. ")
    )
    assert len(after - before) <= 3


def test_token_counts_are_those_of_tiktoken() -> None:
    for chunk in cut("Counts must be exact, always. " * 30, "sentence_window", 50, 10):
        assert chunk.token_count == policy_tokens(chunk.text)


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
