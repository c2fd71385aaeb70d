"""The comparison that the third decision was argued with, on four documents, beside what was said then.

    python -m benchmarks.decision [--json]

Recall and hit rate in per cent with 95 % intervals, bge-small, dense; then what ``auto`` gains over others,
in points, paired by question.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from benchmarks.harness import ROOT, parser
from chunk_assets.evaluation import Bench, Difference, Row, contender, differences, evaluate, load_set, rows

SEED = ROOT / "data" / "golden" / "seed"
OURS = "auto"
# Per cent, for fixed, recursive and semantic; how they were found nobody knows.
SAID_THEN = {"fixed": "62", "recursive": "78", "semantic": "85"}
STRATEGIES = (*SAID_THEN, "sentence_window", "tiered", "section", OURS)
MEASURES = ("recall@500tok", "recall@1000tok", "hit@5")


def main(argv: Sequence[str] | None = None) -> int:
    """Prints both tables, or one JSON object."""
    options = parser(__doc__ or "").parse_args(argv)
    bench = Bench(workers=os.cpu_count() or 1)
    results = evaluate([load_set(SEED)], [contender(name) for name in STRATEGIES], bench=bench)
    bench.close()
    found, gains = rows(results), differences(results, OURS, MEASURES)
    told = json.dumps({"rows": found, "differences": gains}) if options.json else _text(found, gains)
    sys.stdout.write(told + "\n")
    return 0


def _text(found: Sequence[Row], gains: Sequence[Difference]) -> str:
    lines = [
        f"| strategy | said then | {' | '.join(MEASURES)} | chunks | tokens embedded |",
        "|---" * (len(MEASURES) + 4) + "|",
    ]
    for name in STRATEGIES:
        mine = {row["measure"]: row for row in found if row["strategy"] == name}
        cells = [_interval(mine[measure], "") for measure in MEASURES]
        costs = [f"{mine[cost]['value']:,.0f}" for cost in ("chunks", "tokens_embedded")]
        lines.append(f"| {' | '.join([name, SAID_THEN.get(name, ''), *cells, *costs])} |")
    lines += ["", f"| other | {' | '.join(f'{OURS} gains in {m}' for m in MEASURES)} |", "|---" * 4 + "|"]
    for name in STRATEGIES:
        gained = [gain for gain in gains if gain["theirs"] == name]
        if gained:
            cells = [_interval(g, "+") + ("" if g["sure"] else ", may be chance") for g in gained]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _interval(figure: Row | Difference, sign: str) -> str:
    value, low, high = (100 * figure[key] for key in ("value", "low", "high"))
    return f"{value:{sign}.1f} [{low:.1f}, {high:.1f}]"


if __name__ == "__main__":
    sys.exit(main())
