"""Retrieval quality of our policies beside other libraries' chunkers, same embedder, same questions.

    python -m benchmarks.retrieval [--quick] [--json] [--set FOLDER …] [--cache FOLDER]

The golden set is always measured; ``--set`` adds any folder that ``chunk-assets evaluate`` reads, and
the public sets beside the checkout are added when they are there. Large corpora are left out by size
(smallest documents first, up to ``--max-chars`` a set), which the table's set name says.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, SHARED, parser
from benchmarks.retrieval_peers import peers
from chunk_assets.evaluation import (
    Bench,
    Contender,
    QuestionSet,
    Result,
    contender,
    differences,
    evaluate,
    load_set,
    markdown,
    rows,
)
from chunk_assets.evaluation.contenders import of_policy
from chunk_assets.evaluation.records import HELD_OUT
from chunk_assets.policy import BUILT_IN

EVALSETS = SHARED / "evalsets"
OURS = "auto"
EMBEDDER = "bge_small"
POLICIES = ("auto", "sentence_window", "tiered", "hybrid", "recursive_only")
QUICK_POLICIES = ("auto", "sentence_window", "recursive_only")
QUICK_PEERS = ("LangChain recursive 1000/200 characters", "semchunk 128 tokens")
MEASURES = ("recall@500tok", "recall@1000tok", "hit@5", "mrr", "precision_omega")
DECIDING = ("recall@500tok", "recall@1000tok")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the benchmark and prints a table, or one JSON object."""
    options = _options(argv)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.cache or Path(folder), workers=options.workers)
        results, missing = run(options, bench)
        bench.close()
    found = report(results, missing)
    print(json.dumps(found, indent=1) if options.json else _text(results, found))
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    made = parser(__doc__ or "")
    made.add_argument("--set", action="append", type=Path, default=[], help="another question set's folder")
    made.add_argument("--max-chars", type=int, default=250_000, help="characters of documents a set")
    made.add_argument("--cache", type=Path, help="folder for vectors that later runs may use")
    made.add_argument("--workers", type=int, default=2, help="embedding threads")
    return made.parse_args(argv)


def run(options: argparse.Namespace, bench: Bench) -> tuple[list[Result], list[str]]:
    """Results of all contenders, and the peers that are not installed."""
    others, missing = peers(bench, EMBEDDER)
    if options.quick:
        sets = [_cut_down(load_set(ROOT / "data" / "golden").split(HELD_OUT), 60_000)]
        entries = [*_ours(QUICK_POLICIES), *(entry for entry in others if entry.name in QUICK_PEERS)]
        return evaluate(sets, entries, [EMBEDDER], bench=bench, progress=_tell), missing
    folders = [ROOT / "data" / "golden", *options.set]
    if not options.set and EVALSETS.is_dir():
        folders += sorted(p for p in EVALSETS.iterdir() if p.is_dir())
    sets = [_cut_down(load_set(folder).split(HELD_OUT), options.max_chars) for folder in folders]
    entries = [*_ours(POLICIES), *others]
    return evaluate(sets, entries, [EMBEDDER, f"{EMBEDDER}+bm25"], bench=bench, progress=_tell), missing


def _ours(names: Sequence[str]) -> list[Contender]:
    return [of_policy(BUILT_IN[name]) if name in BUILT_IN else contender(name) for name in names]


def _tell(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr)


def _cut_down(questions: QuestionSet, most: int) -> QuestionSet:
    """The set with its smallest documents up to ``most`` characters, and the questions on them."""
    kept, total = set(), 0
    for document in sorted(questions.documents, key=lambda d: (len(d.markdown), d.name)):
        total += len(document.markdown)
        if total <= most:
            kept.add(document.name)
    documents = tuple(d for d in questions.documents if d.name in kept)
    asked = tuple(
        q for q in questions.questions if all(p.document in kept for a in q.alternatives for p in a)
    )
    name = questions.name
    if len(documents) < len(questions.documents):
        name += f" ({len(documents)} of {len(questions.documents)} documents)"
    return dataclasses.replace(questions, name=name, documents=documents, questions=asked)


def report(results: Sequence[Result], missing: Sequence[str]) -> dict[str, Any]:
    """``ratios`` ours over each other's for the deciding measures; ``figures`` with their intervals."""
    apart = differences(results, OURS, DECIDING)
    means = {
        (r.set, r.contender, r.retriever, m): float(r.scores[m].mean()) for r in results for m in DECIDING
    }
    ratios = {}
    for d in apart:
        theirs = means[d["set"], d["theirs"], d["embedder"], d["measure"]]
        ours = means[d["set"], OURS, d["embedder"], d["measure"]]
        name = f"{d['measure']} over {d['theirs']} ({d['set']}, {d['embedder']})"
        ratios[name] = round(ours / theirs, 4) if theirs else 0.0
    kept = {*MEASURES, "recall@2000tok", "chunks", "tokens_embedded", "truncated"}
    figures = [row for row in rows(results) if row["measure"] in kept]
    notes = [
        f"{r.contender}: {r.cost['truncated']:.0f} chunks cut to fit the model" for r in results if _cut(r)
    ]
    return {
        "name": "retrieval",
        "ratios": ratios,
        "figures": {"rows": figures, "differences": apart},
        "absent": list(missing),
        "notes": sorted(set(notes)),
    }


def _cut(result: Result) -> bool:
    return result.cost.get("truncated", 0.0) > 0


def _text(results: Sequence[Result], found: dict[str, Any]) -> str:
    parts = [markdown(rows(results), MEASURES), _gains(found["figures"]["differences"]), *found["notes"]]
    parts += [f"not installed: {name}" for name in found["absent"]]
    return "\n\n".join(parts)


def _gains(apart: Sequence[Any]) -> str:
    """What ``auto`` gains over each other contender, with the paired 95 % interval, in points."""
    lines = [
        f"### {OURS} less the others, in points with the paired 95 % interval\n",
        f"| set | retriever | other | {' | '.join(DECIDING)} |",
        "|---|---|---|" + "---:|" * len(DECIDING),
    ]
    keys = dict.fromkeys((d["set"], d["embedder"], d["theirs"]) for d in apart)
    for key in keys:
        cells = [
            "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * d[x] for x in ("value", "low", "high")))
            + ("" if d["sure"] else " ~")
            for d in apart
            if (d["set"], d["embedder"], d["theirs"]) == key
        ]
        lines.append(f"| {' | '.join([*key, *cells])} |")
    return "\n".join([*lines, "\n`~`: the interval holds zero, so the difference may be chance."])


if __name__ == "__main__":
    sys.exit(main())
