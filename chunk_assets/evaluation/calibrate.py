"""Sweeps parameters on training questions and proposes what did best; it changes no setting."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chunk_assets.errors import ConfigurationError, unknown
from chunk_assets.evaluation.bootstrap import Scores, paired_interval
from chunk_assets.evaluation.contenders import Contender, of_strategy
from chunk_assets.evaluation.records import HELD_OUT, TRAIN, QuestionSet
from chunk_assets.evaluation.runner import Bench, Progress, Result, evaluate

Parameters = Mapping[str, Any]
# What is swept when nothing else is asked for.
GRIDS: Mapping[str, Mapping[str, Sequence[Any]]] = {
    "semantic": {
        "threshold": (0.3, 0.45, 0.6, 0.75),
        "target_tokens": (150, 250, 350),
        "min_tokens": (32, 64),
    },
    "section": {"target_tokens": (64, 96, 112, 128, 192, 256), "merge_below_tokens": (16, 32)},
    "sentence_window": {
        "target_tokens": (96, 128, 192, 256),
        "overlap_tokens": (0, 32, 64),
        "min_tokens": (32,),
    },
    "recursive": {"max_chars": (500, 1000, 1500), "overlap_chars": (0, 200)},
}
# Reading little and reading more count alike.
GOAL = ("recall@500tok", "recall@1000tok")


@dataclass(frozen=True, slots=True)
class Trial:
    """One point of the grid with its goal on each training set and their mean."""

    parameters: Parameters
    by_set: Mapping[str, float]
    goal: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """The best point of the grid, and what it is worth on questions that had no part in the choice.

    ``gains`` maps a held-out set to the paired difference in the goal (value, low, high) over the
    parameters in force.
    """

    strategy: str
    retriever: str
    current: Parameters
    best: Trial
    trials: tuple[Trial, ...]
    gains: Mapping[str, tuple[float, float, float]]

    @property
    def worth_it(self) -> bool:
        """Whether some held-out set gains for sure and none loses for sure."""
        intervals = self.gains.values()
        return any(low > 0 for _, low, _ in intervals) and not any(high < 0 for _, _, high in intervals)


def grid(axes: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of the axes, in order.

    >>> grid({"a": (1, 2), "b": (3,)})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    """
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def calibrate(
    sets: Sequence[QuestionSet],
    strategy: str,
    *,
    current: Parameters | None = None,
    axes: Mapping[str, Sequence[Any]] | None = None,
    retriever: str = "static",
    bench: Bench | None = None,
    progress: Progress = lambda _: None,
) -> Proposal:
    """Sweeps ``axes`` on the training questions of ``sets`` and weighs the best on the others.

    Sets without training questions have no part in the choice and all in the weighing. Ties go to the
    first point of the grid. Raises ``ConfigurationError`` when there is nothing to train on, or no grid
    for the strategy.
    """
    if axes is None and strategy not in GRIDS:
        raise unknown("strategy to calibrate", strategy, GRIDS)
    bench = bench or Bench()
    training = [s for s in (s.split(TRAIN) for s in sets) if s.questions]
    if not training:
        raise ConfigurationError("none of the sets has training questions; mark some documents split: train")
    points = grid(axes or GRIDS[strategy])
    contenders = [of_strategy(strategy, point, str(i)) for i, point in enumerate(points)]
    results = evaluate(training, contenders, [retriever], bench=bench, progress=progress)
    trials = tuple(
        _trial(point, [r for r in results if r.contender == str(i)]) for i, point in enumerate(points)
    )
    best = max(trials, key=lambda trial: trial.goal)
    gains = _gains([s.split(HELD_OUT) for s in sets], strategy, current or {}, best, retriever, bench)
    return Proposal(strategy, retriever, current or {}, best, trials, gains)


def _trial(point: Parameters, results: Iterable[Result]) -> Trial:
    by_set = {r.set: round(float(_goal(r).mean()), 6) for r in results}
    return Trial(point, by_set, round(float(np.mean(list(by_set.values()))), 6))


def _goal(result: Result) -> Scores:
    found: Scores = np.mean([result.scores[name] for name in GOAL], axis=0)
    return found


def _gains(
    sets: Sequence[QuestionSet],
    strategy: str,
    current: Parameters,
    best: Trial,
    retriever: str,
    bench: Bench,
) -> dict[str, tuple[float, float, float]]:
    found = {}
    for questions in sets:
        if any(q.answerable for q in questions.questions):
            pair: list[Contender] = [of_strategy(strategy, best.parameters), of_strategy(strategy, current)]
            new, old = evaluate([questions], pair, [retriever], bench=bench)
            found[questions.name] = paired_interval(_goal(new), _goal(old))
    return found


def write(proposal: Proposal, path: Path) -> None:
    """Writes the proposal as YAML beside the settings, never over an existing file.

    Raises ``ConfigurationError`` when ``path`` exists, since somebody may still want to read it.
    """
    import yaml

    if path.exists():
        raise ConfigurationError(f"{path} exists; move it away or name another file")
    head = (
        "# A proposal, not a setting: nothing reads this file. To take it over, put 'parameters' into the\n"
        f"# rule of your policy in sources.yaml that uses '{proposal.strategy}'; 'chunk-assets plan' shows\n"
        "# what that would change.\n"
    )
    content = {
        "strategy": proposal.strategy,
        "retriever": proposal.retriever,
        "parameters": dict(proposal.best.parameters),
        "instead_of": dict(proposal.current) or "defaults",
        "worth_it": proposal.worth_it,
        "gain_on_held_out_questions": {
            name: {"value": round(v, 4), "low": round(low, 4), "high": round(high, 4)}
            for name, (v, low, high) in proposal.gains.items()
        },
        "trials": [
            {"parameters": dict(t.parameters), "goal": t.goal, **t.by_set}
            for t in sorted(proposal.trials, key=lambda t: -t.goal)
        ],
    }
    path.write_text(head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True), "utf-8")
