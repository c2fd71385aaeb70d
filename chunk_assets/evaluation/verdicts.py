"""Guards: is retrieval good enough, is it worse than it was, does the text still look the same?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation.tables import Row
from chunk_assets.records import Outcome
from chunk_assets.text.reasons import TOPIC

TABLE = "retrieval_evaluation"
FLOOR = 0.70
FLOOR_MEASURE = "hit@5"
ALLOWED_DROP = 0.05
ALLOWED_DRIFT = 0.05
WATCHED = ("hit@5", "recall@500tok", "recall@1000tok", "mrr")
REVERSAL = (
    "to go back: set CHUNKING_FACTORY_MODE=recursive_only, run 'chunk-assets run' for the affected sources "
    "(unchanged texts are not embedded again), then 'chunk-assets evaluate'; docs/runbook/failure_modes.md"
)
RECALIBRATE = "recalibrate with 'chunk-assets calibrate', which writes a proposal and changes nothing"


def accuracy_floor(rows: Sequence[Row], floor: float = FLOOR) -> Outcome:
    """Error when ``hit@5`` of any row is under ``floor``; the summary says how to go back."""
    found = [row for row in rows if row["measure"] == FLOOR_MEASURE]
    bad = [row for row in found if not row["value"] >= floor]  # NaN is bad, too
    lowest = min((row["value"] for row in found), default=float("nan"))
    said = f"{FLOOR_MEASURE} {lowest:.1%} at the lowest, the floor is {floor:.0%}"
    summary = f"{said}; {REVERSAL}" if bad or not found else said
    examples = tuple(_example(row, f"{row['value']:.1%} under {floor:.0%}") for row in bad[:10])
    counts = {FLOOR_MEASURE: lowest, "floor": floor}
    return Outcome("retrieval_floor", TABLE, bool(found) and not bad, "error", summary, counts, examples)


def regression(rows: Sequence[Row], baseline: Sequence[Row], allowed: float = ALLOWED_DROP) -> Outcome:
    """Warning when a watched measure fell by more than ``allowed`` below the baseline's figure.

    Only combinations of set, strategy, embedder and measure that both have are compared.
    """
    before = {_key(row): row["value"] for row in baseline if row["measure"] in WATCHED}
    drops = [(before[_key(row)] - row["value"], row) for row in rows if _key(row) in before]
    bad = [(drop, row) for drop, row in drops if drop > allowed + 1e-9]
    worst = max((drop for drop, _ in drops), default=0.0)
    said = f"{len(drops)} figures compared with the baseline, the largest drop {100 * worst:.1f} points"
    summary = f"{said}; {RECALIBRATE}" if bad else said
    ranked = sorted(bad, key=lambda pair: -pair[0])[:10]
    examples = tuple(
        _example(row, f"{row['measure']} fell by {100 * drop:.1f} points") for drop, row in ranked
    )
    counts = {"compared": float(len(drops)), "largest_drop": worst}
    return Outcome("retrieval_regression", TABLE, not bad, "warn", summary, counts, examples)


def topic_share(split_reasons: Sequence[str]) -> float:
    """Share of semantic chunks that end because the topic changes, and not because of their size.

    ``split_reasons`` are those of the chunks of strategy ``semantic``. 0 for none.
    """
    return sum(reason == TOPIC for reason in split_reasons) / len(split_reasons) if split_reasons else 0.0


def threshold_drift(
    shares: Mapping[str, float], baseline: Mapping[str, float], allowed: float = ALLOWED_DRIFT
) -> Outcome:
    """Warning when the semantic threshold cuts more often, or less, than it did.

    ``shares`` maps a source or set to its ``topic_share``. A threshold is chosen for one kind of text;
    where the share moves by more than ``allowed``, the texts have changed, and so have the chunks.
    """
    moved = {name: share - baseline[name] for name, share in shares.items() if name in baseline}
    bad = {name: move for name, move in moved.items() if abs(move) > allowed + 1e-9}
    worst = max((abs(move) for move in moved.values()), default=0.0)
    said = f"{len(moved)} compared, the share cut by topic moved by at most {100 * worst:.1f} points"
    summary = f"{said}; {RECALIBRATE}" if bad else said
    examples = tuple(
        {"document_id": name, "page": "", "what": f"moved by {100 * move:+.1f} points"}
        for name, move in sorted(bad.items())[:10]
    )
    counts = {"compared": float(len(moved)), "largest_move": worst}
    return Outcome("threshold_drift", TABLE, not bad, "warn", summary, counts, examples)


def _key(row: Row) -> tuple[str, str, str, str]:
    return row["set"], row["strategy"], row["embedder"], row["measure"]


def _example(row: Row, what: str) -> dict[str, str]:
    where = f"{row['set']}: {row['strategy']} × {row['embedder']}"
    return {"document_id": where, "page": "", "what": what}


@dataclass(frozen=True, slots=True)
class Baseline:
    """Figures to compare with: watched rows, and the topic share of each source or set."""

    rows: Sequence[Row] = ()
    topic_shares: Mapping[str, float] = field(default_factory=dict)


def load_baseline(path: Path) -> Baseline:
    """The stored baseline; an empty one when there is no file. ``ConfigurationError`` if broken."""
    if not path.exists():
        return Baseline()
    try:
        found = json.loads(path.read_text("utf-8"))
        return Baseline(found["rows"], found["topic_shares"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path} is no baseline: {error}") from error


def save_baseline(path: Path, baseline: Baseline) -> None:
    """Writes the watched figures as the new baseline, in a form that diffs line by line."""
    kept = [row for row in baseline.rows if row["measure"] in WATCHED]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in kept)
    shares = json.dumps(baseline.topic_shares, sort_keys=True)
    path.write_text(f'{{"topic_shares": {shares},\n"rows": [\n{lines}\n]}}\n', "utf-8")
