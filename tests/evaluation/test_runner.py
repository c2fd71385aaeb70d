"""The runner with real chunkers and the bundled static embedding, on a small set of its own."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation import (
    Bench,
    Contender,
    EvalDocument,
    Piece,
    Question,
    QuestionSet,
    Result,
    contender,
    differences,
    evaluate,
    markdown,
    of_strategy,
    plot,
    rows,
)
from chunk_assets.evaluation.calibrate import calibrate, grid, write
from chunk_assets.evaluation.ragas import export, llm_free_scores
from chunk_assets.evaluation.records import Place
from chunk_assets.evaluation.retrievers import fuse, top
from chunk_assets.evaluation.tables import arrow, by_kind
from chunk_assets.evaluation.verdicts import accuracy_floor
from chunk_assets.records import DocumentMetadata

SUBJECTS = {
    "bicycles": "A bicycle left in the yard for more than nine days is taken to the cellar.",
    "heating": "The boiler is serviced each October by the firm whose number hangs beside it.",
    "laundry": "Washing machines may run until ten in the evening, on Sundays until noon.",
    "garbage": "Glass goes to the container at the corner, never into the grey bins.",
    "keys": "A lost key costs forty crowns, and the lock is changed when the address was on it.",
    "parties": "Whoever celebrates past midnight tells the neighbours two days before.",
    "pets": "Dogs are welcome on a lead; snakes need the consent of the whole house.",
    "attic": "The attic is swept in turn, and the list begins anew every January.",
}
ASKED = {
    "bicycles": "When is a bike removed from the yard?",
    "heating": "Who services the boiler?",
    "laundry": "How late can I use the washing machines?",
    "garbage": "Where do I put old glass?",
    "keys": "What does it cost to lose a key?",
    "parties": "What must I do before I celebrate past midnight?",
    "pets": "Which animals need the consent of the house?",
    "attic": "Who sweeps the attic?",
}


def _question_set() -> QuestionSet:
    parts = [f"## About {name}\n\n{text}\n\n" for name, text in SUBJECTS.items()]
    text = "# House rules\n\n" + "".join(parts)
    metadata = DocumentMetadata(file_type="markdown")
    questions = []
    for index, (name, asked) in enumerate(ASKED.items()):
        start = text.index(SUBJECTS[name])
        truth = ((Place("rules", start, start + len(SUBJECTS[name])),),)
        questions.append(Question(name, asked, truth, "rule", "ab"[index % 2]))
    questions.append(Question("none", "What is the capital of Peru?", (), "unanswerable", "a"))
    splits = {"a": "train", "b": "held_out"}
    return QuestionSet("house", (EvalDocument("rules", text, metadata),), tuple(questions), splits)


@pytest.fixture(scope="module")
def house() -> QuestionSet:
    return _question_set()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    found = Bench()
    yield found
    found.close()


@pytest.fixture(scope="module")
def results(house: QuestionSet, bench: Bench) -> list[Result]:
    entries = [contender("section"), contender("recursive"), half_dropped(contender("section"))]
    return evaluate([house], entries, ["static", "bm25", "static+bm25"], bench=bench)


def half_dropped(entry: Contender) -> Contender:
    """A broken chunker: every second chunk is lost."""
    return Contender("half dropped", lambda document: entry.chunk(document)[::2])


def shuffled(entry: Contender) -> Contender:
    """A broken chunker: boundaries are moved by half a chunk, and texts are embedded under others."""

    def chunk(document: EvalDocument) -> list[Piece]:
        made = entry.chunk(document)
        order = np.random.Generator(np.random.PCG64(7)).permutation(len(made))
        moved = []
        for piece, other in zip(made, [made[i] for i in order], strict=True):
            middle = (piece.start + piece.end) // 2
            end = min(len(document.markdown), middle + 20)
            moved.append(Piece(piece.document, middle, end, document.markdown[other.start : other.end]))
        return moved

    return Contender("shuffled", chunk)


def test_every_combination_is_scored_in_the_order_given(results: list[Result]) -> None:
    assert [(r.contender, r.retriever) for r in results][:4] == [
        ("section", "static"),
        ("section", "bm25"),
        ("section", "static+bm25"),
        ("recursive", "static"),
    ]
    assert all(len(values) == len(ASKED) for r in results for values in r.scores.values())


def test_all_shares_lie_between_zero_and_one(results: list[Result]) -> None:
    for result in results:
        for name, values in result.scores.items():
            assert ((values >= 0) & (values <= 1)).all(), name


def test_a_sound_chunker_finds_the_rules_and_one_that_loses_half_the_text_turns_the_floor_red(
    results: list[Result],
) -> None:
    found = rows([r for r in results if r.retriever == "static"])
    sound = accuracy_floor([row for row in found if row["strategy"] == "section"])
    broken = accuracy_floor([row for row in found if row["strategy"] == "half dropped"])
    assert sound.passed, sound.summary
    assert not broken.passed
    assert "CHUNKING_FACTORY_MODE=recursive_only" in broken.summary


def test_shuffled_boundaries_turn_the_floor_red(house: QuestionSet, bench: Bench) -> None:
    found = rows(evaluate([house], [shuffled(contender("section"))], ["static", "bm25"], bench=bench))
    assert not accuracy_floor(found).passed


def test_evaluating_twice_gives_identical_figures_with_and_without_the_cache(
    house: QuestionSet, tmp_path: Path
) -> None:
    runs = []
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        bench = Bench(cache)
        runs.append(rows(evaluate([house], [contender("recursive")], ["static", "static+bm25"], bench=bench)))
        bench.close()
    assert runs[0] == runs[1] == runs[2]
    assert any((tmp_path / "cache").iterdir())


def test_a_cache_that_was_cut_off_in_writing_is_mended(house: QuestionSet, tmp_path: Path) -> None:
    first = Bench(tmp_path)
    before = rows(evaluate([house], [contender("recursive")], ["static"], bench=first))
    (stored,) = tmp_path.glob("*.f32")
    stored.write_bytes(stored.read_bytes()[:-700])
    again = Bench(tmp_path)
    assert rows(evaluate([house], [contender("recursive")], ["static"], bench=again)) == before
    keys = stored.with_suffix(".keys").read_text().split()
    assert stored.stat().st_size == 4 * 256 * len(keys)


def test_rows_have_the_promised_columns_and_costs(results: list[Result]) -> None:
    found = rows(results)
    assert {"set", "strategy", "embedder", "measure", "value", "low", "high"} <= set(found[0])
    assert all(row["low"] <= row["value"] <= row["high"] for row in found)
    assert {"chunks", "tokens_embedded", "tells_unanswerable"} <= {row["measure"] for row in found}
    table = arrow(found)
    assert table.num_rows == len(found)


def test_a_difference_is_paired_and_says_whether_it_is_sure(results: list[Result]) -> None:
    found = differences(results, "section", ["recall@500tok"])
    lost = next(d for d in found if d["theirs"] == "half dropped" and d["embedder"] == "static")
    assert lost["value"] > 0
    assert lost["sure"]
    assert len(found) == 6  # two others with three retrievers


def test_tables_and_plot_come_out(results: list[Result]) -> None:
    found = rows(results)
    table = markdown(found)
    assert table.startswith("### house (8 questions)")
    assert table.count("| section |") == 3
    picture = plot(found)
    assert picture.startswith(b"\x89PNG")
    assert picture == plot(found)


def test_kinds_of_questions_are_told_apart(results: list[Result]) -> None:
    assert by_kind(results[0])["rule"][1] == len(ASKED)


def test_unknown_names_are_refused_with_the_known_ones(house: QuestionSet, bench: Bench) -> None:
    with pytest.raises(ConfigurationError, match=r"unknown strategy or policy 'magic'.*section"):
        contender("magic")
    with pytest.raises(ConfigurationError, match=r"unknown embedder 'magic'.*static"):
        evaluate([house], [contender("recursive")], ["magic"], bench=bench)
    with pytest.raises(ConfigurationError, match="or both as in"):
        evaluate([house], [contender("recursive")], ["static+bge_small"], bench=bench)


def test_a_set_without_answers_is_refused(house: QuestionSet, bench: Bench) -> None:
    with pytest.raises(ConfigurationError, match="house/other has no question"):
        evaluate([house.split("other")], [contender("recursive")], ["bm25"], bench=bench)


def test_texts_too_long_for_the_model_are_cut_and_counted(bench: Bench) -> None:
    long = "word " * 2_000
    document = EvalDocument("long", long)
    question = Question("q", "word?", ((Place("long", 0, 4),),))
    whole = Contender("whole", lambda d: [Piece(d.name, 0, len(d.markdown))])
    (result,) = evaluate([QuestionSet("one", (document,), (question,))], [whole], ["static"], bench=bench)
    assert result.cost["truncated"] == 1
    assert result.scores["recall@500tok"][0] == 1.0


def test_fusion_prefers_what_both_rankings_have_high() -> None:
    first, second = np.array([[0, 1, 2]]), np.array([[2, 1, 3]])
    assert top(fuse(first, second, 4), 4).tolist() == [[2, 1, 0, 3]]


def test_ragas_lines_have_its_columns(house: QuestionSet, bench: Bench) -> None:
    lines = [json.loads(line) for line in export(house, contender("section"), "bm25", 2, bench)]
    assert len(lines) == len(ASKED)
    assert set(lines[0]) == {"user_input", "retrieved_contexts", "reference_contexts", "reference"}
    assert all(len(line["retrieved_contexts"]) == 2 for line in lines)
    assert lines[0]["reference_contexts"] == [SUBJECTS["bicycles"]]


def test_ragas_own_metrics_run_where_it_is_installed_and_else_name_the_extra(
    house: QuestionSet, bench: Bench
) -> None:
    lines = list(export(house, contender("section"), "static", 2, bench))
    if importlib.util.find_spec("ragas") is None:
        with pytest.raises(ConfigurationError, match=r"chunk-assets\[ragas\]"):
            llm_free_scores(lines)
    else:
        found = llm_free_scores(lines)
        assert len(found) == 2
        assert all(0 <= value <= 1 for value in found.values())


def test_calibration_chooses_on_training_questions_and_reports_on_the_others(
    house: QuestionSet, bench: Bench, tmp_path: Path
) -> None:
    proposal = calibrate(
        [house], "recursive", axes={"max_chars": (60, 2000), "overlap_chars": (0,)}, bench=bench
    )
    assert set(proposal.gains) == {"house/held_out"}
    assert set(proposal.best.by_set) == {"house/train"}
    target = tmp_path / "proposal.yaml"
    write(proposal, target)
    assert "A proposal, not a setting" in target.read_text()
    with pytest.raises(ConfigurationError, match="exists"):
        write(proposal, target)


def test_calibration_without_training_questions_says_what_to_do(house: QuestionSet) -> None:
    with pytest.raises(ConfigurationError, match="split: train"):
        calibrate([house.split("held_out")], "recursive", axes={"max_chars": (500,)})


def test_calibrating_an_unknown_strategy_lists_those_that_can_be(house: QuestionSet) -> None:
    with pytest.raises(ConfigurationError, match=r"strategy to calibrate 'magic'; known: recursive, section"):
        calibrate([house], "magic")


def test_a_grid_has_every_combination() -> None:
    assert len(grid({"a": (1, 2, 3), "b": (4, 5)})) == 6


def test_leaving_out_the_context_changes_what_is_embedded_but_not_the_chunks(house: QuestionSet) -> None:
    (document,) = house.documents
    made = [of_strategy("section", context=flag).chunk(document) for flag in (True, False)]
    assert [(p.start, p.end) for p in made[0]] == [(p.start, p.end) for p in made[1]]
    assert any(p.context for p in made[0])
    assert not any(p.context for p in made[1])
