"""Where chunks begin and end: structure of the text, windows, topics, contexts."""

from __future__ import annotations

from typing import Any

import pytest

from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.errors import ConfigurationError
from chunk_assets.strategies import STRATEGIES
from tests.cutting import cut, texts, words

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
