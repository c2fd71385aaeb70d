"""Cuts that leave grapheme clusters whole, at the same cost everywhere."""

from __future__ import annotations

import itertools
import time

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chunk_assets.text import graphemes

PIECES = st.sampled_from(
    [
        *(
            "a",
            "b",
            " ",
            ".",
            "\n",
            "\r\n",
            "\r",
            "e\u0301",
            "\u0301",
            "👩‍👩‍👧‍👦",
            "🇳🇴",
            "🇳",
            "👍🏽",
            "\u200d",
            "❤️",
        ),
        *("क्ष", "नि", "각", "ᄀ", "ᅡ", "ᆨ", "\u0600", "漢", "ก็", "\u200b", "\x00", "é", "ß", "\ud800"),
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


def borders(text: str) -> list[int]:
    return [0, *(match.end() for match in regex.finditer(r"\X", text))]


@given(TEXTS)
@example("\u0600🇳🇴")  # a sign that joins the first flag
@settings(max_examples=150, deadline=None)
def test_a_cut_is_the_last_border_of_uax_29_at_or_before_the_offset(text: str) -> None:
    known = borders(text)
    for offset in range(len(text) + 1):
        assert graphemes.safe_cut(text, offset) == max(border for border in known if border <= offset)
        assert graphemes.is_boundary(text, offset) == (offset in known)


@given(TEXTS)
@settings(max_examples=100, deadline=None)
def test_the_next_cut_after_a_border_is_the_next_border(text: str) -> None:
    known = borders(text)
    for border, following in itertools.pairwise(known):
        assert graphemes.next_cut(text, border) == following


def test_offsets_beyond_the_text_are_clipped() -> None:
    assert graphemes.safe_cut("ab", -3) == 0
    assert graphemes.safe_cut("ab", 9) == 2
    assert graphemes.safe_cut("", 0) == 0


def test_flags_are_paired_from_the_start_of_their_run() -> None:
    text = "x" + "🇳🇴" * 500
    assert graphemes.safe_cut(text, 700) == 699
    assert graphemes.safe_cut(text, 701) == 701


@pytest.mark.parametrize("unit", ["a", "\u0301", "🇳", "👩\u200d", "क्", "\u200d", "漢"], ids=repr)
def test_many_cuts_take_linear_time(unit: str) -> None:
    text = unit * 200_000
    began = time.process_time()
    for offset in range(0, len(text), 97):
        assert 0 <= offset - graphemes.safe_cut(text, offset) <= graphemes.LOOK_BACK
    assert time.process_time() - began < 3
