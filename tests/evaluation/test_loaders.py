"""Question sets: each truth is in its document, exactly and once, or loading says where it isn't."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation import QuestionSet, load_set
from chunk_assets.evaluation.locate import fold, locate
from chunk_assets.evaluation.records import HELD_OUT, TRAIN

TEXT = (
    "# Rules\n\nThe fee is **12,5** crowns.\n\n| When | Fee |\n|---|---|\n| Sunday | 20 |\n\nThe end of it.\n"
)


@pytest.fixture(scope="module")
def golden(root: Path) -> QuestionSet:
    return load_set(root / "data" / "golden")


def test_a_quote_is_found_through_markup_white_space_and_case() -> None:
    place = locate("the fee is 12,5\ncrowns", fold(TEXT), "rules")
    assert TEXT[place.start : place.end] == "The fee is **12,5** crowns"
    row = locate("Sunday 20", fold(TEXT), "rules")
    assert TEXT[row.start : row.end] == "Sunday | 20"


@pytest.mark.parametrize(
    ("quote", "said"), [("fee", "more than once"), ("no such words", "not in the text"), ("—", "not")]
)
def test_a_quote_must_be_there_once(quote: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        locate(quote, fold(TEXT), "rules")


def _golden_folder(folder: Path, truth: dict[str, object]) -> Path:
    (folder / "rules.md").write_text(TEXT, "utf-8")
    question = {"id": "q1", "document": "rules.md", "question": "What is due?", **truth}
    content = {"root": ".", "documents": [{"file": "rules.md", "split": "train"}], "questions": [question]}
    (folder / "questions.yaml").write_text(yaml.safe_dump(content), "utf-8")
    return folder


def test_spans_that_do_not_read_as_quoted_are_refused(tmp_path: Path) -> None:
    folder = _golden_folder(tmp_path, {"all": [{"quote": "The fee", "span": [0, 7]}]})
    with pytest.raises(ConfigurationError, match=r"q1: rules\.md\[0:7\] reads '# Rules'"):
        load_set(folder)


def test_all_spans_make_one_alternative_and_any_spans_one_each(tmp_path: Path) -> None:
    both = [{"quote": "The fee is"}, {"quote": "The end of it"}]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (joined,) = load_set(_golden_folder(tmp_path / "a", {"all": both})).questions
    (either,) = load_set(_golden_folder(tmp_path / "b", {"any": both})).questions
    assert [len(a) for a in joined.alternatives] == [2]
    assert [len(a) for a in either.alternatives] == [1, 1]


def test_a_folder_in_chromas_format_loads_with_its_offsets(tmp_path: Path) -> None:
    (tmp_path / "talk.md").write_bytes(TEXT.encode())
    references = [{"content": TEXT[9:15], "start_index": 9, "end_index": 15}]
    with (tmp_path / "questions_df.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["question", "references", "corpus_id"])
        writer.writerow(["What?", json.dumps(references), "talk"])
    found = load_set(tmp_path)
    (question,) = found.questions
    place = question.alternatives[0][0]
    assert found.documents[0].markdown[place.start : place.end] == "The fe"


def test_a_question_with_wrong_offsets_in_chromas_format_is_dropped_and_named(tmp_path: Path) -> None:
    (tmp_path / "talk.md").write_bytes(TEXT.encode())
    references = [{"content": "else", "start_index": 9, "end_index": 15}]
    with (tmp_path / "questions_df.csv").open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(
            [["question", "references", "corpus_id"], ["What?", json.dumps(references), "talk"]]
        )
    found = load_set(tmp_path)
    assert found.questions == ()
    assert found.dropped == ("question 0: talk[9:15] is not the reference",)


def test_snippets_may_lie_in_different_documents(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nLogs are kept for 400 days.\n", "utf-8")
    (tmp_path / "b.md").write_text("# B\n\nBadges are kept for a year.\n", "utf-8")
    entry = {
        "id": "x",
        "query": "How long?",
        "gold_snippets": ["kept for 400 days", "kept for a year"],
        "tags": ["cross"],
    }
    (tmp_path / "questions.yaml").write_text(yaml.safe_dump({"questions": [entry]}), "utf-8")
    (question,) = load_set(tmp_path).questions
    assert [place.document for place in question.alternatives[0]] == ["a.md", "b.md"]


def test_a_snippet_that_is_nowhere_drops_its_question_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nLogs are kept for 400 days.\n", "utf-8")
    entries = [
        {"query": "How long are logs kept?", "gold_snippets": ["kept for 400 days"], "tags": ["x"]},
        {"query": "How long are badges kept?", "gold_snippets": ["kept for a year"], "tags": ["x"]},
    ]
    (tmp_path / "questions.yaml").write_text(yaml.safe_dump({"questions": entries}), "utf-8")
    found = load_set(tmp_path)
    assert [q.text for q in found.questions] == ["How long are logs kept?"]
    assert "question 1" in found.dropped[0]


def test_a_folder_without_questions_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"questions_df\.csv"):
        load_set(tmp_path)


def test_the_golden_set_is_large_enough_and_mixed(golden: QuestionSet) -> None:
    answerable = [q for q in golden.questions if q.answerable]
    seed = [q for q in answerable if q.group.startswith("seed/")]
    assert len(seed) >= 40
    assert len(answerable) >= 160
    assert len(golden.questions) - len(answerable) >= 10
    kinds = Counter(q.kind for q in golden.questions)
    wanted = {
        "figure",
        "table",
        "faq",
        "definition",
        "procedure",
        "two_span",
        "boilerplate",
        "near_duplicate",
    }
    assert all(kinds[kind] >= 5 for kind in wanted)
    assert len({q.id for q in golden.questions}) == len(golden.questions)
    assert len({q.text for q in golden.questions}) == len(golden.questions)


def test_the_four_seed_documents_are_a_set_of_their_own(root: Path, golden: QuestionSet) -> None:
    seed = load_set(root / "data" / "golden" / "seed")
    assert seed.name == "seed"
    assert sorted(d.name for d in seed.documents) == [
        "seed/long_handbook.md",
        "seed/noisy_release_notes.md",
        "seed/short_faq.md",
        "seed/structured_pricing.md",
    ]
    assert set(seed.questions) == {q for q in golden.questions if q.group.startswith("seed/")}


def test_golden_answers_vary_in_length(golden: QuestionSet) -> None:
    lengths = sorted(p.end - p.start for q in golden.questions for a in q.alternatives for p in a)
    assert lengths[len(lengths) // 10] < 50
    assert lengths[-1] > 400


def test_the_golden_split_is_by_document_and_both_halves_can_carry_a_figure(golden: QuestionSet) -> None:
    halves = [golden.split(name).questions for name in (TRAIN, HELD_OUT)]
    assert all(sum(q.answerable for q in half) >= 80 for half in halves)
    assert not {q.group for q in halves[0]} & {q.group for q in halves[1]}


def test_golden_questions_are_not_in_the_words_of_the_answer(golden: QuestionSet) -> None:
    """No run of six words of a question stands in its document."""
    texts = {d.name: " ".join(d.markdown.casefold().split()) for d in golden.documents}
    copied = []
    for question in golden.questions:
        words = question.text.casefold().rstrip("?").split()
        runs = [" ".join(words[i : i + 6]) for i in range(len(words) - 5)]
        copied += [question.id for run in runs if run in texts[question.group]]
    assert copied == []


@pytest.mark.shared
def test_the_public_sets_load_with_every_truth(shared: Path) -> None:
    chroma = load_set(shared / "evalsets" / "chroma")
    assert (len(chroma.documents), len(chroma.questions)) == (5, 472)
    snippets = load_set(shared / "evalsets" / "chunklab")
    assert (len(snippets.documents), len(snippets.questions)) == (5, 129)
    assert all(q.answerable for q in snippets.questions)
    assert chroma.dropped == snippets.dropped == ()
