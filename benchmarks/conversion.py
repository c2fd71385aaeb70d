"""Conversion beside the other tools: processor time, what was found, what went wrong.

Every file is converted by every contender in a worker process of its own with limits, in turns; a crash or
time-out costs the contender that file only. Speeds count the files that both sides converted. Where
the corpus has a ``manifest.csv`` with phrases and table rows, the share that each contender's text
holds is counted too.
"""

from __future__ import annotations

import csv
import html
import json
import math
import re
import statistics
import sys
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from dataclasses import field as default
from itertools import product
from pathlib import Path

from benchmarks.conversion_peers import PEERS, installed, ours, timed
from benchmarks.harness import ROOT, SHARED, Result, finish, parser, ratio
from chunk_assets.compute import Finished, Task, WorkerPool
from chunk_assets.converters.base import Limits

OURS = "chunk-assets"
# Wall time that a quick run gives to taking on files, shared by the kinds.
QUICK_SECONDS = 30.0
QUICK_FILES = 5
QUICK_BYTES = 150_000
# Seconds that a file is converted over and over, since clocks are coarse.
AT_LEAST = 0.02
LIMITS = Limits(max_seconds=60.0, max_memory_mb=2_000)
QUICK_LIMITS = Limits(max_seconds=4.0, max_memory_mb=2_000)


@dataclass(slots=True)
class Score:
    """One contender over the files of one kind."""

    seconds: dict[str, float] = default(default_factory=dict)
    failed: int = 0
    killed: int = 0
    peak_mb: float = 0.0
    phrases: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Truth:
    """What a correct text of one file holds."""

    phrases: tuple[tuple[str, ...], ...] = ()
    rows: tuple[tuple[tuple[str, ...], ...], ...] = ()


def main(argv: list[str] | None = None) -> None:
    """Runs the benchmark and writes its result."""
    arguments = parser(__doc__ or "")
    arguments.add_argument(
        "--corpus", type=Path, default=None, help="a folder of documents, in subfolders by kind or not"
    )
    arguments.add_argument(
        "--kinds", default=",".join(PEERS), help="kinds of files, with commas between them"
    )
    options = arguments.parse_args(argv)
    corpus = options.corpus or (SHARED / "corpus" if SHARED.is_dir() else ROOT / "data" / "samples")
    result = Result("conversion")
    truths = read_truths(corpus)
    kinds = chosen(corpus, options.kinds.split(","), quick=options.quick)
    with Field(QUICK_LIMITS if options.quick else LIMITS) as contenders:
        for kind, files in kinds.items():
            seconds = QUICK_SECONDS / len(kinds) if options.quick else math.inf
            measure(kind, files, truths, result, contenders, 1 if options.quick else 3, seconds)
    result.notes.append(f"corpus: {corpus.name}; seconds are processor time of one process")
    finish(result, options)


def chosen(corpus: Path, kinds: Sequence[str], *, quick: bool) -> dict[str, list[Path]]:
    """The files of each kind in order of name; for a quick run a few small ones."""
    found: dict[str, list[Path]] = {kind: [] for kind in kinds if kind in PEERS}
    for path in sorted(corpus.rglob("*")):
        kind = {"htm": "html"}.get(path.suffix[1:].lower(), path.suffix[1:].lower())
        if kind in found and path.is_file() and path.stat().st_size and path.name != "manifest.csv":
            found[kind].append(path)
    if quick:
        small = {k: [p for p in files if p.stat().st_size <= QUICK_BYTES] for k, files in found.items()}
        found = {
            kind: files[:: max(1, len(files) // QUICK_FILES)][:QUICK_FILES] for kind, files in small.items()
        }
    return {kind: files for kind, files in found.items() if files}


class Field(ExitStack):
    """The contenders, each with one warm worker for all kinds of files."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits
        self._pools: dict[str, WorkerPool] = {}

    def run(self, name: str, task: Task) -> Finished:
        """What became of the task in the contender's own worker."""
        if name not in self._pools:
            self._pools[name] = self.enter_context(WorkerPool(1, self._limits))
        return self._pools[name].run(task).result()


def measure(
    kind: str,
    files: list[Path],
    truths: Mapping[str, Truth],
    result: Result,
    field: Field,
    turns: int,
    limit: float,
) -> None:
    """Adds the figures of one kind of file to the result; takes no new file after ``limit`` seconds."""
    contenders = {OURS: ours} | {n: run for n, (package, run) in PEERS[kind].items() if installed(package)}
    missing = [name for name in PEERS[kind] if name not in contenders]
    result.absent += [name for name in missing if name not in result.absent]
    scores = {name: Score() for name in contenders}
    started = time.perf_counter()
    for name, run in contenders.items():
        field.run(name, Task(run, (str(files[0]),)))  # loads its libraries
    measured = []
    for path in files:
        if measured and time.perf_counter() - started > limit:
            result.notes.append(f"{kind}: {len(measured)} of {len(files)} files in the time")
            break
        measured.append(path)
        truth = truths.get(f"{path.parent.name}/{path.name}", Truth())
        _take_turns(path, contenders, field, scores, truth, turns)
    _report(kind, measured, scores, truths, result)


def _take_turns(
    path: Path,
    contenders: Mapping[str, Callable[[str], str]],
    field: Field,
    scores: Mapping[str, Score],
    truth: Truth,
    turns: int,
) -> None:
    """Every contender converts the file, ``turns`` times round."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for turn, (name, run) in product(range(turns), contenders.items()):
        finished = field.run(name, Task(timed, (run, str(path), AT_LEAST)))
        scores[name].peak_mb = max(scores[name].peak_mb, finished.peak_mb)
        if finished.status == "ok":
            seconds[name].append(finished.value[1])
        if turn == 0:
            _count(scores[name], finished, truth)
    for name, values in seconds.items():
        scores[name].seconds[path.name] = statistics.median(values)


def _count(score: Score, finished: Finished, truth: Truth) -> None:
    if finished.status != "ok":
        score.failed += finished.error is not None
        score.killed += finished.error is None
        return
    text = finished.value[0]
    flat = plain(text)
    lines = [plain(line) for line in text.split("\n")]
    score.phrases += sum(any(option in flat for option in phrase) for phrase in truth.phrases)
    score.rows += sum(any(has_row(line, row) for line in lines) for row in truth.rows)


def _report(
    kind: str, files: list[Path], scores: Mapping[str, Score], truths: Mapping[str, Truth], result: Result
) -> None:
    known = [truths.get(f"{path.parent.name}/{path.name}", Truth()) for path in files]
    phrases, rows = sum(len(t.phrases) for t in known), sum(len(t.rows) for t in known)
    if not result.table:
        header = (
            "kind",
            "contender",
            "files",
            "refused",
            "killed",
            "cpu s",
            "speed",
            "peak MB",
            "phrases",
            "rows",
        )
        result.table.append(header)
    mine = scores[OURS].seconds
    for name, score in scores.items():
        shared = [file for file in score.seconds if file in mine]
        speed = ratio(sum(score.seconds[f] for f in shared), sum(mine[f] for f in shared))
        total = round(sum(score.seconds.values()), 6)
        result.table.append((
            kind, name, len(files), score.failed, score.killed, total, speed, score.peak_mb,
            f"{score.phrases}/{phrases}", f"{score.rows}/{rows}",
        ))  # fmt: skip
        result.figures[f"{kind}: {name}"] = {
            "files": len(files), "refused": score.failed, "killed": score.killed, "cpu_seconds": total,
            "peak_mb": score.peak_mb, "phrases": score.phrases, "phrases_of": phrases,
            "rows": score.rows, "rows_of": rows,
        }  # fmt: skip
        if name != OURS:
            result.ratios[f"{kind} speed over {name}"] = speed


# -- truths ------------------------------------------------------------------------------------------


def read_truths(corpus: Path) -> dict[str, Truth]:
    """Phrases and rows by ``folder/name``, from the corpus's manifest; empty when it has none."""
    manifest = corpus / "manifest.csv"
    if not manifest.is_file():
        return {}
    csv.field_size_limit(sys.maxsize)
    with manifest.open(encoding="utf-8", newline="") as stream:
        return {
            row["file"]: _truth(row)
            for row in csv.DictReader(stream)
            if row["expected"].startswith("convert")
        }


def _truth(row: Mapping[str, str]) -> Truth:
    phrases = [
        p for column in ("contains", "contains_across_lines") for p in json.loads(row.get(column) or "[]")
    ]
    rows = json.loads(row.get("row_values") or "[]")
    return Truth(
        tuple(tuple(_options(phrase)) for phrase in phrases),
        tuple(tuple(tuple(_options(value)) for value in values) for values in rows),
    )


def _options(value: str | list[str]) -> Iterator[str]:
    """The accepted forms of a truth, normalised: a list, or a text with bars between them."""
    forms = value if isinstance(value, list) else value.split("|")
    return (plain(form.lstrip("# ")) for form in forms)


_MARKUP = re.compile(r"[*_`~|\\]+|<br ?/?>|</?[a-z]{1,10}>")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^()\s]*\)")
_ESCAPED = re.compile(r"\\([^\w\s])")
# What typesetters and word processors write for the signs of a typewriter.
_TYPOGRAPHY = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"}
)
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\u00ad]")


def plain(text: str) -> str:
    """Text without markup, case, and kinds of blanks, quotes and dashes: tools have different habits."""
    text = html.unescape(_LINK.sub(r"\1", text))
    text = _MARKUP.sub(" ", _ESCAPED.sub(r"\1", text.replace("<br>", " ")))
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_TYPOGRAPHY)
    return " ".join(text.casefold().split())


def has_row(line: str, row: tuple[tuple[str, ...], ...]) -> bool:
    """Whether the line has the values of the row in order, each in one of its forms."""
    at = 0
    for forms in row:
        ends = [found + len(form) for form in forms if (found := line.find(form, at)) >= 0]
        if not ends:
            return False
        at = min(ends)
    return True


if __name__ == "__main__":
    main()
