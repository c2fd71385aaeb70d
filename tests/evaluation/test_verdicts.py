"""The guards: what is red, what is yellow, and what their messages tell the operator."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation.tables import Row
from chunk_assets.evaluation.verdicts import (
    Baseline,
    accuracy_floor,
    load_baseline,
    regression,
    save_baseline,
    threshold_drift,
    topic_share,
)


def row(measure: str, value: float, strategy: str = "auto") -> Row:
    return Row(
        set="golden",
        strategy=strategy,
        embedder="bge_small",
        measure=measure,
        value=value,
        low=value - 0.05,
        high=value + 0.05,
        questions=100,
    )


def test_the_floor_is_an_error_with_the_way_back() -> None:
    outcome = accuracy_floor([row("hit@5", 0.69), row("mrr", 0.1)])
    assert (outcome.passed, outcome.severity) == (False, "error")
    assert "69.0%" in outcome.summary
    assert "CHUNKING_FACTORY_MODE=recursive_only" in outcome.summary
    assert outcome.examples[0]["document_id"] == "golden: auto × bge_small"


def test_the_floor_itself_passes() -> None:
    assert accuracy_floor([row("hit@5", 0.70)]).passed


@pytest.mark.parametrize("rows", [[], [row("mrr", 0.9)], [row("hit@5", math.nan)]])
def test_a_floor_without_a_figure_is_not_passed(rows: list[Row]) -> None:
    assert not accuracy_floor(rows).passed


def test_a_drop_of_more_than_five_points_is_a_warning_with_the_command() -> None:
    outcome = regression([row("hit@5", 0.84)], [row("hit@5", 0.90)])
    assert (outcome.passed, outcome.severity) == (False, "warn")
    assert "chunk-assets calibrate" in outcome.summary
    assert "6.0 points" in outcome.examples[0]["what"]


def test_a_drop_of_five_points_a_gain_and_other_strategies_pass() -> None:
    base = [row("hit@5", 0.90), row("mrr", 0.5)]
    assert regression([row("hit@5", 0.85), row("mrr", 0.9)], base).passed
    assert regression([row("hit@5", 0.1, "fixed")], base).passed


def test_a_baseline_survives_writing_and_reading(tmp_path: Path) -> None:
    kept = [row("hit@5", 0.9), row("recall@500tok", 0.8)]
    path = tmp_path / "baseline.json"
    save_baseline(path, Baseline([*kept, row("chunks", 12.0)], {"contracts": 0.25}))
    assert load_baseline(path) == Baseline(kept, {"contracts": 0.25})
    assert load_baseline(tmp_path / "none.json") == Baseline()


def test_a_broken_baseline_is_named(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text("[]", "utf-8")
    with pytest.raises(ConfigurationError, match=r"baseline\.json is no baseline"):
        load_baseline(path)


def test_drift_of_the_threshold_is_a_warning() -> None:
    outcome = threshold_drift({"contracts": 0.31, "desk": 0.20}, {"contracts": 0.22, "desk": 0.21})
    assert (outcome.passed, outcome.severity) == (False, "warn")
    assert [e["document_id"] for e in outcome.examples] == ["contracts"]
    assert threshold_drift({"contracts": 0.24}, {"contracts": 0.22}).passed


def test_the_topic_share_counts_chunks_that_semantic_chunking_ended() -> None:
    text = "\n\n".join(
        f"The {name} is cleaned on Monday. The {name} is oiled on Friday. Nobody may paint the {name}."
        for name in ("bridge", "violin", "submarine", "orchard", "telescope", "bakery")
    )
    spans = chunk_markdown(
        text, strategy("semantic", {"threshold": 0.75, "min_tokens": 8, "target_tokens": 60})
    )
    share = topic_share([span.split_reason for span in spans])
    assert 0 < share <= 1
    assert topic_share(["size", "topic", "topic", "end"]) == 0.5
    assert topic_share([]) == 0.0
