"""The engine: bounds, contexts, structure, repair, and time that grows with the text only."""

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
from chunk_assets.records import ChunkSpan
from chunk_assets.strategies import STRATEGIES
from chunk_assets.strategies.base import Piece
from chunk_assets.text import tokens
from chunk_assets.text.document import TextDocument, page_range, pages_by_form_feed
from chunk_assets.text.layout import Layout, Sizes, Vocabulary
from tests.strategies.promises import check_all, model_tokens, policy_tokens


def cut(markdown: str, name: str = "section", **sizes: Any) -> list[ChunkSpan]:
    return chunk_markdown(markdown, strategy(name, sizes))


def texts(chunks: list[ChunkSpan]) -> list[str]:
    return [chunk.text for chunk in chunks]


def words(count: int) -> str:
    names = ("oak", "tar", "rope", "sail", "mast", "keel", "hull", "deck")
    return " ".join(f"{names[at % 8]}{at}" for at in range(count))


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


# structure


def test_a_heading_never_ends_a_chunk_that_its_body_would_fit() -> None:
    markdown = "\n\n".join(
        f"## Port {at}\n\nThe quay of port {at} is {at * 3} metres long." for at in range(60)
    )
    for name in STRATEGIES:
        if name != "fixed":
            for chunk in cut(markdown, name, max_tokens=60):
                assert not chunk.text.rsplit("\n", 1)[-1].startswith("##"), (name, chunk.text)


def test_a_table_is_cut_between_rows_and_each_part_knows_its_columns() -> None:
    table = "| City | Ships |\n|---|---|\n" + "".join(f"| town{at} | {at} |\n" for at in range(60))
    for name in ("section", "recursive", "sentence_window", "paragraph", "semantic", "row"):
        chunks = cut(f"Intro.\n\n{table}\nOutro.", name, max_tokens=60)
        rows = [chunk for chunk in chunks if "| town" in chunk.text]
        assert len(rows) > 5
        for chunk in rows:
            assert "City" in chunk.context + chunk.text, name
            assert "Ships" in chunk.context + chunk.text, name
            body = [line for line in chunk.text.split("\n") if line.startswith("|")]
            assert all(line.count("|") == 3 for line in body), name


def test_an_oversized_row_is_cut_between_cells_and_each_piece_names_its_columns() -> None:
    wide = "| " + " | ".join(f"col{at}" for at in range(12)) + " |\n|" + "---|" * 12
    row = "| " + " | ".join(f"Cell {at} says this much. And a little more." for at in range(12)) + " |"
    chunks = cut(f"{wide}\n{row}", "row", max_tokens=60)
    pieces = [chunk for chunk in chunks if "Cell" in chunk.text and "col0" not in chunk.text]
    assert len(pieces) > 2
    for chunk in pieces:
        named = {int(part[3:]) for part in chunk.context.split() if part.startswith("col")}
        said = {
            int(part)
            for before, part in zip(chunk.text.split(), chunk.text.split()[1:], strict=False)
            if before == "Cell"
        }
        assert said <= named, (chunk.text, chunk.context)


def test_an_oversized_cell_is_cut_between_sentences() -> None:
    cell = " ".join(f"Clause {at} binds both sides." for at in range(40))
    chunks = cut(f"| Id | Terms |\n|---|---|\n| 1 | {cell} |", "row", max_tokens=50)
    inner = [chunk for chunk in chunks if chunk.split_reason == "oversized_cell"]
    assert len(inner) > 3
    assert all(chunk.text.endswith("sides.") for chunk in inner)


def test_a_fence_is_whole_where_it_fits_and_cut_between_lines_where_it_does_not() -> None:
    code = "\n".join(f"value_{at} = {at}" for at in range(40))
    markdown = f"Before.\n\n```python\n{code}\n```\n\nAfter."
    for name in ("section", "recursive", "sentence_window", "paragraph", "semantic"):
        assert any(f"```python\n{code}\n```" in text for text in texts(cut(markdown, name, max_tokens=450)))
        parts = cut(markdown, name, max_tokens=60)
        for chunk in parts:
            if "value_" in chunk.text:
                assert chunk.content_kind == "code"
                assert all(line in markdown.split("\n") for line in chunk.text.split("\n"))


def test_list_items_are_whole_where_they_fit() -> None:
    items = [
        f"{at}. Item {at} comes first. Then it goes on for a while. It ends here." for at in range(1, 20)
    ]
    for chunk in cut("Do this:\n\n" + "\n".join(items), max_tokens=60)[1:]:
        assert all(line in items for line in chunk.text.split("\n"))
        assert chunk.content_kind == "list"


def test_front_matter_is_a_chunk_of_its_own_and_no_heading() -> None:
    markdown = "---\ntitle: Demo\n---\n# Start\n\nBody text."
    for name in STRATEGIES:
        if name != "fixed":
            chunks = cut(markdown, name)
            assert chunks[0].text == "---\ntitle: Demo\n---", name
            assert all("title: Demo" not in chunk.heading_path for chunk in chunks)


def test_context_never_repeats_a_heading_that_the_text_has() -> None:
    chunks = cut("# Top\n\nIntro.\n\n## Inner\n\nBody one.\n\n## Other\n\nBody two.")
    assert [(chunk.heading_path, chunk.context) for chunk in chunks] == [
        (("Top",), ""),
        (("Top", "Inner"), "Top"),
        (("Top", "Other"), "Top"),
    ]


def test_the_reason_says_what_ended_a_chunk() -> None:
    markdown = "# A\n\nOne is here. Two is there.\n\n" + words(60) + ".\n\n- first\n- second\n\n# B\n\nEnd."
    reasons = {chunk.split_reason for chunk in cut(markdown, "section", max_tokens=24, merge_below_tokens=0)}
    assert {"block", "section", "oversized_sentence", "end"} <= reasons


def test_delimited_text_becomes_rows_with_quoted_cells_whole() -> None:
    chunks = cut('id,remark\n1,"two\nlines"\n2,"a, b"\n3,plain\n', "row", max_tokens=40)
    assert texts(chunks) == ['id,remark\n1,"two\nlines"', '2,"a, b"', "3,plain"]
    assert [chunk.context for chunk in chunks] == ["", "id,remark", "id,remark"]
    assert {chunk.content_kind for chunk in chunks} == {"row"}


def test_prose_with_commas_is_no_delimited_text() -> None:
    assert len(cut("One, two.\nThree.\n\nFour, five, six.", "row")) == 1


# windows


def test_sentence_windows_carry_over_whole_sentences_and_merge_a_short_tail() -> None:
    sentences = [f"Ship {at} left the harbour in good order." for at in range(100)]
    chunks = cut(" ".join(sentences), "sentence_window", target_tokens=100, overlap_tokens=25, min_tokens=40)
    assert all(chunk.overlap_chars for chunk in chunks[1:])
    assert min(chunk.token_count for chunk in chunks) >= 40
    assert all(text.startswith("Ship ") and text.endswith("order.") for text in texts(chunks))


def test_a_short_tail_that_does_not_fit_takes_sentences_from_its_neighbour() -> None:
    for count in range(20, 60):
        text = " ".join(f"Ship {at} left the harbour in good order." for at in range(count))
        chunks = cut(
            text, "sentence_window", target_tokens=100, max_tokens=100, overlap_tokens=0, min_tokens=40
        )
        assert chunks[-1].token_count >= 40
        assert sum(len(chunk.text) for chunk in chunks) + len(chunks) - 1 == len(text)


def test_a_sentence_of_many_words_is_cut_into_windows_of_words() -> None:
    chunks = cut(words(3000) + ".", "sentence_window", target_tokens=400)
    assert {chunk.split_reason for chunk in chunks} == {"oversized_sentence", "end"}
    assert all(len(chunk.text.split()) <= 300 for chunk in chunks)


def test_recursive_rather_ends_with_a_paragraph() -> None:
    markdown = "\n\n".join("A paragraph of some words stands here. It has two sentences." for _ in range(30))
    assert {chunk.split_reason for chunk in cut(markdown, "recursive")} == {"block", "end"}


def test_semantic_ends_where_the_topic_changes() -> None:
    ships = " ".join(f"The ship sailed from the harbour with {at} sailors on deck." for at in range(12))
    bread = " ".join(f"Bake the bread dough in the oven for {at} minutes with butter." for at in range(12))
    chunks = cut(f"{ships} {bread}", "semantic", overlap_sentences=0, min_tokens=40)
    assert not any("sailed" in chunk.text and "dough" in chunk.text for chunk in chunks)
    assert "topic" in {chunk.split_reason for chunk in chunks}


def test_semantic_takes_another_embedder_as_a_function() -> None:
    import numpy as np

    def embed(batch: Any) -> Any:
        return np.array([[1.0, 0.0] if "ship" in text else [0.0, 1.0] for text in batch], dtype=np.float32)

    markdown = " ".join([*["The ship left early today."] * 12, *["The bread was baked today."] * 12])
    chosen = strategy("semantic", {"embedder": "own", "min_tokens": 20, "overlap_sentences": 0})
    chunks = chunk_markdown(markdown, chosen, embed=embed)
    assert not any("ship" in chunk.text and "bread" in chunk.text for chunk in chunks)
    with pytest.raises(ConfigurationError, match="embedder 'own' needs its embed function"):
        chunk_markdown(markdown, chosen)


def test_an_edit_changes_the_chunks_near_it_only() -> None:
    sections = [
        f"## Section {at}\n\nParagraph {at} speaks of item {at} at length. It adds a sentence."
        for at in range(30)
    ]
    before = texts(cut("\n\n".join(sections), max_tokens=60))
    sections[1] = sections[1].replace("\n\n", "\n\nOne more sentence stands here. ")
    after = texts(cut("\n\n".join(sections), max_tokens=60))
    assert len(set(after) - set(before)) == 1


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
