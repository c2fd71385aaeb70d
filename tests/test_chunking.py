"""The engine: bounds, repair, pages, facts, and time that grows with the text only."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest

from chunk_assets.chunking import (
    chunk_markdown,
    embedder_text,
    has_clean_paragraphs,
    headings,
    n_tables,
    strategy,
)
from chunk_assets.chunking.repair import complete
from chunk_assets.errors import ConfigurationError
from chunk_assets.strategies import STRATEGIES
from chunk_assets.strategies.base import Piece
from chunk_assets.text import tokens
from chunk_assets.text.document import TextDocument, page_range, pages_by_form_feed
from chunk_assets.text.layout import Layout, Sizes, Vocabulary
from tests.cutting import cut, texts, words
from tests.strategies.promises import check_all, model_tokens, policy_tokens

# bounds


def test_the_models_bound_counts_context_and_special_tokens() -> None:
    markdown = f"# {words(12)}\n\n## Deep\n\n" + " ".join(
        f"Row {at} of the ledger is signed." for at in range(200)
    )
    for most in (40, 128, 512):
        chunks = chunk_markdown(markdown, strategy("sentence_window"), max_model_tokens=most)
        assert all(
            model_tokens(embedder_text(c.context, c.text)) == c.model_token_count <= most for c in chunks
        )
        assert any(chunk.context for chunk in chunks)


def test_without_a_model_tokenizer_its_bound_is_left_alone() -> None:
    markdown = " ".join(f"Zqxj{at}wvk ends." for at in range(400))
    chunks = chunk_markdown(markdown, strategy("sentence_window"), model_tokenizer=None)
    assert {chunk.model_token_count for chunk in chunks} == {0}
    assert max(model_tokens(chunk.text) for chunk in chunks) > 512


def test_a_long_heading_path_costs_words_of_the_path_and_not_of_the_text() -> None:
    markdown = (
        "".join(f"{'#' * level} {words(60)} level {level}\n\n" for level in range(1, 6)) + "It survives."
    )
    chunks = cut(markdown, max_tokens=40)
    last = chunks[-1]
    assert "It survives." in last.text
    assert last.context.endswith("…")
    assert policy_tokens(last.context) <= 10


def test_an_impossible_model_bound_is_refused_before_the_text_is_read() -> None:
    with pytest.raises(ConfigurationError, match="max_model_tokens 5 leaves no room"):
        chunk_markdown("text", strategy("fixed"), max_model_tokens=5)


@pytest.mark.parametrize("argument", ["tokenizer", "model_tokenizer", "splitter"])
def test_an_unknown_tokenizer_or_splitter_names_the_known_ones(argument: str) -> None:
    with pytest.raises(ConfigurationError, match="'nope'; known: "):
        chunk_markdown("text", strategy("fixed"), **{argument: "nope"})


def test_a_single_grapheme_over_the_policys_bound_stays_whole_but_never_breaks_the_models() -> None:
    family = "👩‍👩‍👧‍👦"
    assert texts(cut(family * 3, "fixed", max_tokens=10)) == [family] * 3
    towering = "e" + "\u0301" * 3000
    chunks = chunk_markdown(towering, strategy("fixed"), model_tokenizer="cl100k_base", max_model_tokens=64)
    assert all(chunk.model_token_count <= 64 for chunk in chunks)


# the engine's guarantee, whatever a strategy returns


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [Piece(0, 10_000)],
        [Piece(5, 9), Piece(5, 9), Piece(3, 40), Piece(100, 90), Piece(50, 60)],
        [Piece(0, 30), Piece(10, 20), Piece(25, 28)],
    ],
)
def test_whatever_a_strategy_returns_is_made_to_keep_the_promises(pieces: list[Piece]) -> None:
    text = "# Head\n\n" + " ".join(f"Ship {at} left the harbour." for at in range(60))
    counter = tokens.counter("cl100k_base")
    document = TextDocument(text)
    layout = Layout(document, Sizes(20, 20), [Vocabulary(counter.index(text), counter, 20)])
    found = complete(layout, [Piece(p.start, min(p.end, len(text)), p.reason) for p in pieces])
    spans = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    assert all(policy_tokens(text[a:b]) <= 20 for a, b in spans)
    shown = {at for a, b in spans for at in range(a, b)}
    assert all(text[at].isspace() for at in range(len(text)) if at not in shown)
    assert all(a < c and b < d for (a, b), (c, d) in itertools.pairwise(spans))


# facts and pages


def test_pages_by_form_feed_tile_the_text_and_a_chunk_can_span_two() -> None:
    text = "The clause begins here and\fcontinues on the next page.\fThird page."
    pages = pages_by_form_feed(text)
    assert [(page.number, text[page.start : page.end]) for page in pages] == [
        (1, "The clause begins here and\f"),
        (2, "continues on the next page.\f"),
        (3, "Third page."),
    ]
    first = cut(text, "sentence_window", max_tokens=12)[0]
    assert page_range(pages, first.start_char, first.end_char) == (1, 2)
    assert page_range((), 0, 5) == (None, None)


def test_facts_of_a_text() -> None:
    prose = "The harbour board met on Monday and spoke at length about the new quay, its cost and its use."
    assert has_clean_paragraphs("\n\n".join([prose] * 4))
    assert not has_clean_paragraphs(prose)
    assert not has_clean_paragraphs("\n\n".join(["a fragment", "Page 3 of 9", "more of it"] * 3))
    assert not has_clean_paragraphs("| a |\n|---|\n| b |\n")
    assert not has_clean_paragraphs("")
    assert n_tables("| a |\n|---|\n| b |\n\n<table><tr><td>c</td></tr></table>") == 2
    assert [(h.level, h.title) for h in headings("# A #\n\nB\n---\n")] == [(1, "A"), (2, "B")]


# size


HOSTILE = {
    "no blanks": "abcdefghij" * 20_000,
    "newlines": "x" + "\n" * 200_000 + "y",
    "one sentence": "word " * 40_000,
    "unspaced ideographs": "今日は天気がとても良いので散歩に行きました" * 3_000,
    "table": "| a | b |\n|---|---|\n" + "".join(f"| row {at} | {at} |\n" for at in range(20_000)),
    "one list item": "- " + "A b c. " * 20_000,
    "short sentences": "Go. No. " * 20_000,
    "rules": "---\n" * 8_000,
    "fence marks": "```\n" * 8_000,
    "one long row of dots": "." * 100_000,
    "emoji": "🙂" * 20_000,
    "flags": "🇳🇴" * 6_000,
    "marks": "e" + "\u0301" * 40_000,
    "headings": "".join(f"{'#' * (1 + at % 6)} head {at}\n\nbody {at}\n\n" for at in range(4_000)),
    "one wide table": "|" + " h |" * 3_000 + "\n|" + "---|" * 3_000 + "\n|" + " v |" * 3_000 + "\n",
}


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_cut_in_time_and_within_bounds(kind: str, name: str) -> None:
    chunk_markdown("Warm the caches.", strategy(name))
    begin = time.process_time()
    chunks = chunk_markdown(HOSTILE[kind], strategy(name))
    assert time.process_time() - begin < 4
    sizes = strategy(name).parameters.sizes()
    assert all(chunk.token_count <= (sizes.max_tokens or 1 << 40) for chunk in chunks)
    assert all(chunk.model_token_count <= 512 for chunk in chunks)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_time_grows_with_the_text_and_not_faster(name: str) -> None:
    paragraph = " ".join(f"The keeper of light {at} wrote {at * 7} lines in the book." for at in range(9))

    def seconds(size: int) -> float:
        text = "\n\n".join([paragraph] * (size // len(paragraph)))
        begin = time.process_time()
        chunk_markdown(text, strategy(name))
        return time.process_time() - begin

    seconds(20_000)
    small = min(seconds(50_000) for _ in range(3)) / 50_000
    assert min(seconds(500_000) for _ in range(2)) / 500_000 < 3 * small


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_promise_is_kept_on_real_texts(name: str, shared: Any) -> None:
    for path in sorted((shared / "evalsets" / "chroma").glob("*.md"))[:2]:
        text = path.read_text(encoding="utf-8")[:120_000]
        chosen = strategy(name)
        check_all(text, chunk_markdown(text, chosen), chosen, 512)
