"""Kinds of faults reported against public chunkers: offsets, limits, overlap, losses, odd input, pages."""

from __future__ import annotations

import itertools
import re
import time

import pytest
import regex

from chunk_assets import hashing
from chunk_assets.chunking import strategy
from chunk_assets.errors import ConfigurationError
from chunk_assets.strategies import STRATEGIES
from chunk_assets.text.document import page_range, pages_by_form_feed
from tests.checked_cutting import PACKERS, cut
from tests.cutting import texts
from tests.strategies.promises import policy_tokens

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
