"""Results as rows, as a Markdown table and as a plot."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from chunk_assets.evaluation.bootstrap import Scores, mean_interval, paired_interval
from chunk_assets.evaluation.runner import Result

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = ("recall@500tok", "recall@1000tok", "recall@2000tok", "hit@5", "mrr", "precision_omega")
PLOTTED = "recall@1000tok"


class Row(TypedDict):
    """One figure with its 95 % interval; costs have the same value three times."""

    set: str
    strategy: str
    embedder: str
    measure: str
    value: float
    low: float
    high: float
    questions: int


def rows(results: Sequence[Result]) -> list[Row]:
    """One row a measure, with ``strategy`` for the contender and ``embedder`` for the retriever."""
    return [row for result in results for row in _rows(result)]


def _rows(result: Result) -> list[Row]:
    count = len(result.questions)
    found = [_row(result, name, mean_interval(scores), count) for name, scores in result.scores.items()]
    known, unknown = result.best
    if len(known) and len(unknown):
        found.append(_row(result, "tells_unanswerable", _separation(known, unknown), len(unknown)))
    return found + [_row(result, name, (value,) * 3, count) for name, value in result.cost.items()]


def _row(result: Result, measure: str, figure: tuple[float, ...], count: int) -> Row:
    value, low, high = (round(x, 4) for x in figure)
    return Row(
        set=result.set,
        strategy=result.contender,
        embedder=result.retriever,
        measure=measure,
        value=value,
        low=low,
        high=high,
        questions=count,
    )


def _separation(known: Scores, unknown: Scores) -> tuple[float, float, float]:
    """Chance that an answerable question's best score is over an unanswerable one's (area under ROC)."""
    above = (known[None, :] > unknown[:, None]) + 0.5 * (known[None, :] == unknown[:, None])
    return mean_interval(above.mean(axis=1))


class Difference(TypedDict):
    """``ours − theirs`` in one measure, paired by question. ``sure``: the interval has no zero."""

    set: str
    embedder: str
    ours: str
    theirs: str
    measure: str
    value: float
    low: float
    high: float
    sure: bool


def differences(results: Sequence[Result], ours: str, measures: Sequence[str] = SHOWN) -> list[Difference]:
    """What ``ours`` gains over every other contender on the same set with the same retriever."""
    mine = {(r.set, r.retriever): r for r in results if r.contender == ours}
    found = []
    for other in results:
        base = mine.get((other.set, other.retriever))
        if base is None or base is other:
            continue
        found += [_difference(base, other, measure) for measure in measures]
    return found


def _difference(base: Result, other: Result, measure: str) -> Difference:
    value, low, high = (round(x, 4) for x in paired_interval(base.scores[measure], other.scores[measure]))
    return Difference(
        set=base.set,
        embedder=base.retriever,
        ours=base.contender,
        theirs=other.contender,
        measure=measure,
        value=value,
        low=low,
        high=high,
        sure=low > 0 or high < 0,
    )


def markdown(found: Sequence[Row], measures: Sequence[str] = SHOWN) -> str:
    """One table a set: a line a strategy and embedder, percentages with their intervals.

    Cells read ``value [low, high]``; the last columns are chunks and tokens embedded.
    """
    parts = []
    for name in dict.fromkeys(row["set"] for row in found):
        mine = [row for row in found if row["set"] == name]
        count = max(row["questions"] for row in mine)
        parts.append(f"### {name} ({count} questions)\n\n{_table(mine, measures)}")
    return "\n\n".join(parts)


def _table(found: Sequence[Row], measures: Sequence[str]) -> str:
    head = ["strategy", "retriever", *measures, "chunks", "tokens embedded"]
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * (len(head) - 2)]
    for strategy, embedder in dict.fromkeys((r["strategy"], r["embedder"]) for r in found):
        mine = {r["measure"]: r for r in found if (r["strategy"], r["embedder"]) == (strategy, embedder)}
        cells = [_percent(mine[m]) for m in measures]
        costs = [f"{mine[c]['value']:,.0f}" for c in ("chunks", "tokens_embedded")]
        lines.append(f"| {' | '.join([strategy, embedder, *cells, *costs])} |")
    return "\n".join(lines)


def _percent(row: Row) -> str:
    return f"{100 * row['value']:.1f} [{100 * row['low']:.0f}, {100 * row['high']:.0f}]"


def plot(found: Sequence[Row], measure: str = PLOTTED) -> bytes:
    """A PNG: quality of each strategy against the tokens it embeds, one panel a set, with intervals."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["set"] for row in found))
    figure = Figure(figsize=(6.4 * max(1, len(names)), 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        _panel(axes, [row for row in found if row["set"] == name], measure)
    buffer = io.BytesIO()
    # without the metadata the bytes depend on the figures only
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _panel(axes: Any, found: Sequence[Row], measure: str) -> None:
    for strategy, embedder in dict.fromkeys((r["strategy"], r["embedder"]) for r in found):
        mine = {r["measure"]: r for r in found if (r["strategy"], r["embedder"]) == (strategy, embedder)}
        row = mine[measure]
        if math.isnan(row["value"]):
            continue
        spread = [[row["value"] - row["low"]], [row["high"] - row["value"]]]
        cost = mine["tokens_embedded"]["value"]
        axes.errorbar(
            cost, row["value"], yerr=np.array(spread), fmt="o", capsize=3, label=f"{strategy} ({embedder})"
        )
    axes.set_xlabel("tokens embedded")
    axes.set_ylabel(measure)
    axes.set_title(found[0]["set"])
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def arrow(found: Sequence[Row]) -> pa.Table:
    """The rows as an Arrow table, in the order given."""
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("set", "strategy", "embedder", "measure")]
    numbers = [(name, pa.float64()) for name in ("value", "low", "high")]
    schema = pa.schema([*texts, *numbers, ("questions", pa.int32())])
    return pa.Table.from_pylist([dict(row) for row in found], schema=schema)


def by_kind(result: Result, measure: str = PLOTTED) -> Mapping[str, tuple[float, int]]:
    """Mean of a measure and number of questions for each kind of question."""
    kinds = np.array(result.kinds)
    scores = result.scores[measure]
    return {
        kind: (float(scores[kinds == kind].mean()), int((kinds == kind).sum())) for kind in sorted(set(kinds))
    }
