"""Sentence borders: quality on cases of every kind, and promises on any text."""

from __future__ import annotations

import bisect
import itertools
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunk_assets.errors import ConfigurationError
from chunk_assets.text.sentences import rules, sentence_starts, splitter
from chunk_assets.text.sentences.candidates import look
from chunk_assets.text.sentences.decisions import NO, decide
from chunk_assets.text.sentences.places import ALWAYS, MARKS, Place
from chunk_assets.text.spans import codes

CASES = [
    line.split(" | ")
    for line in Path(__file__).with_name("sentence_cases.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
MEGABYTE = 1_000_000
# Pieces of text that the rules care about, to be joined at random.
PIECES = st.sampled_from(
    [
        *(
            "Word",
            "word",
            "the",
            "The",
            "It",
            "Inc",
            "Corp",
            "U.S",
            "No",
            "p",
            "Fig",
            "J",
            "etc",
            "e.g",
            "a.m",
        ),
        *(
            "12",
            "3.5",
            "$1.5bn",
            "1",
            "2",
            "Item",
            "iPhone",
            "Mr",
            "et al",
            "I",
            "v",
            "2019",
            "III",
            "`x`",
            "(b)",
        ),
        *(
            ".",
            ".",
            ".",
            "?",
            "!",
            "...",
            "…",
            ". . .",
            ",",
            ":",
            '"',
            "'",
            "”",
            "“",
            ")",
            "(",
            "[4]",
            "*",
            "_",
        ),
        *(
            " ",
            " ",
            " ",
            " ",
            "\n",
            "  ",
            "\n\n",
            "\t",
            "\u00a0",
            "\x0c",
            "。",
            "」",
            "「",
            "漢字",
            "؟",
            "السفينة",
            "।",
        ),
        *("Übung", "É", "я", "Я", "👍🏽", "e\u0301", "\ud800", "\x00", "-", "—", "=", "|", "#"),
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)


def sentences(text: str) -> list[str]:
    starts = [*sentence_starts(text).tolist(), len(text)]
    return [text[a:b].strip() for a, b in itertools.pairwise(starts)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0][:40])
def test_a_case_is_split_where_a_reader_would_split_it(case: list[str]) -> None:
    assert sentences(" ".join(case)) == case


def test_there_are_enough_cases_with_one_and_with_more_sentences() -> None:
    assert sum(len(case) == 1 for case in CASES) >= 60
    assert sum(len(case) > 1 for case in CASES) >= 60


def test_all_cases_as_paragraphs_of_one_text_are_split_alike() -> None:
    # One case in small letters only would not be alone in that.
    text = "\n\n".join(" ".join(case) for case in CASES)
    assert sentences(text) == [sentence for case in CASES for sentence in case]


@given(TEXTS)
@settings(max_examples=120, deadline=None)
def test_the_spans_tile_any_text(text: str) -> None:
    starts = sentence_starts(text).tolist()
    assert starts == sorted(set(starts))
    assert starts[:1] == ([0] if text else [])
    assert all(0 <= start < len(text) for start in starts)


@given(TEXTS)
@settings(max_examples=120, deadline=None)
def test_no_start_but_the_first_stands_at_a_blank_or_inside_a_number(text: str) -> None:
    for start in sentence_starts(text).tolist()[1:]:
        assert not text[start].isspace()
        assert not re.fullmatch(r"\d[.,]?\d", text[start - 1 : start + 1])


@given(st.lists(st.sampled_from(CASES), max_size=8))
@settings(max_examples=40, deadline=None)
def test_hard_wrapped_text_has_the_borders_of_flowing_text(cases: list[list[str]]) -> None:
    flowing = " ".join(" ".join(case) for case in cases)
    wrapped = flowing.replace(" ", "\n")
    assert sentence_starts(wrapped).tolist() == sentence_starts(flowing).tolist()


@given(TEXTS)
@settings(max_examples=120, deadline=None)
def test_the_fast_look_never_contradicts_the_slow_rules(text: str) -> None:
    caseless = rules.is_caseless(text)
    starts = sentence_starts(text).tolist()
    ends, begins, left = (found.tolist() for found in look(codes(text), caseless))
    open_marks = set(left)
    sure = dict(zip(ends, begins, strict=True))
    for mark in (at for at, char in enumerate(text) if char in MARKS + ALWAYS):
        if mark in open_marks:
            continue
        place = Place(text, starts[bisect.bisect_right(starts, mark) - 1], mark, caseless)
        if mark in sure:
            assert decide(place) == sure[mark]
        elif not re.match(rf"[{MARKS}{ALWAYS}]|\s[{MARKS}{ALWAYS}]|\n\n", text[mark + 1 : mark + 3]):
            assert decide(place) in {NO, *starts}


def test_borders_do_not_depend_on_where_blocks_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(" ".join(case) for case in CASES)
    whole = sentence_starts(text).tolist()
    for size in (64, 101, 1000):
        monkeypatch.setattr(rules, "_BLOCK", size)
        assert sentence_starts(text).tolist() == whole


@pytest.mark.parametrize("gap", ["\n\n", "\n \t\n", "\r\n\r\n", "\n\n\n\n"])
def test_a_blank_line_ends_a_sentence_without_a_mark(gap: str) -> None:
    assert sentences(f"A heading of some kind{gap}and a body, e.g.{gap}an item") == [
        "A heading of some kind",
        "and a body, e.g.",
        "an item",
    ]


def test_a_hard_break_is_a_start_and_an_atomic_span_holds_none() -> None:
    text = "Title\nBody one. Body two.\na. Cell. Next. | More. Text.\nAfter it. End."
    table = text.index("a. Cell"), text.index("After")
    starts = sentence_starts(
        text,
        hard_breaks=np.array([text.index("Body one"), *table]),
        atomic=np.array([table]),
    )
    bounds = [*starts.tolist(), len(text)]
    assert [text[a:b] for a, b in itertools.pairwise(bounds)] == [
        "Title\n",
        "Body one. ",
        "Body two.\n",
        "a. Cell. Next. | More. Text.\n",
        "After it. ",
        "End.",
    ]


def test_a_text_without_capitals_is_split_before_small_letters() -> None:
    text = (
        "the loss was small. a gain is expected in the u.s. market. "
        "corning inc. and its units agree. it was so."
    )
    assert sentences(text) == [
        "the loss was small.",
        "a gain is expected in the u.s. market.",
        "corning inc. and its units agree.",
        "it was so.",
    ]


def test_stops_of_other_scripts_need_no_blank_and_particles_after_quotes_go_on() -> None:
    assert sentences("今天下雨。我们不去了！真的？好。") == ["今天下雨。", "我们不去了！", "真的？", "好。"]
    assert sentences("「はい。」と彼は言った。次に進む。") == ["「はい。」と彼は言った。", "次に進む。"]
    assert sentences("圆周率是３．１４。完") == ["圆周率是３．１４。", "完"]


@pytest.mark.parametrize(
    "text",
    [
        "x" * MEGABYTE,
        "\n" * MEGABYTE,
        " " * MEGABYTE,
        "1. a" + " " * MEGABYTE,
        "• 1. a" + "• " * 100_000,
        "." * MEGABYTE,
        ". " * (MEGABYTE // 2),
        ".)" * 100_000,
        "\n " * (MEGABYTE // 2),
        "word " * (MEGABYTE // 5) + ".",
        "1. a " * 40_000,
        "本語日" * 100_000,
        "U.S. Mr. e.g. No. 4. " * 10_000,
        "(" * MEGABYTE,
        '." ' * 60_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_hostile_text_is_split_in_linear_time(text: str) -> None:
    began = time.process_time()
    sentence_starts(text)
    assert time.process_time() - began < 3


def test_unknown_splitters_are_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="unknown splitter 'magic'; known: rules"):
        splitter("magic")
    assert splitter() is splitter("rules")
