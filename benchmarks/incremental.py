"""What a change costs: a folder of small documents, built, then run again after each kind of change.

Each run is a process of its own; its processor time counts from after the imports, workers included.
``embedded`` is how many texts it sent to the embedder. Contenders chunk the same files recursively to about
1,000 characters with 200 of overlap, embed with the same hash embedder, and write to their own local store.
Ours also counts every chunk by two tokenizers, converts in separate processes and runs all checks.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, Result, finish, parser, ratio

OURS = "chunk-assets"
PEERS = {"cocoindex": "cocoindex", "llama_index": "llama_index.core"}
WORDS = (
    "revenue margin contract party notice clause payment supplier customer delivery warranty liability "
    "renewal price index quarter growth segment market share risk interest currency exposure hedge asset "
    "lease obligation the of and to in for with from under after before between"
)
CATALOG = """
embedder: {{name: {embedder}}}
policies:
  bench: [{{strategy: recursive, parameters: {{max_chars: {size}, overlap_chars: 200}}}}]
policy: bench
sources:
  docs: {{path: docs, slice: {{by: bucket, count: {buckets}}}}}
"""


def document(number: int, version: int) -> str:
    """About 7,600 characters of markdown; a version differs from another one in its second section."""
    words = WORDS.split()
    parts = [f"# Document {number}"]
    for section in range(4):
        parts.append(f"## Section {section} of {number}")
        edition = version if section == 1 else 0
        source = random.Random(f"{number} {section} {edition}")  # noqa: S311 - sample text
        for _ in range(3):
            sentences = (" ".join(source.choices(words, k=14)) for _ in range(6))
            parts.append(" ".join(f"{s.capitalize()} {source.randrange(10**6)}." for s in sentences))
    return "\n\n".join(parts) + "\n"


def write_all(folder: Path, count: int) -> None:
    """The documents of version 0."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"d{number:05d}.md").write_text(document(number, 0), "utf-8")


def edit_share(folder: Path, count: int) -> None:
    """One document in a hundred is edited, at least one."""
    for number in range(0, count, 100):
        (folder / f"d{number:05d}.md").write_text(document(number, 1), "utf-8")


def delete_one(folder: Path, count: int) -> None:
    """One document goes."""
    (folder / f"d{count // 2:05d}.md").unlink()


def touch_all(folder: Path, _: int) -> None:
    """Every file gets another time of modification."""
    for path in folder.iterdir():
        os.utime(path, ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))


def nothing(_: Path, __: int) -> None:
    """No change."""


@dataclass(frozen=True, slots=True)
class Step:
    """A change and the run after it."""

    name: str
    change: Callable[[Path, int], None]
    chunk_chars: int = 1000


STEPS = (
    Step("full", write_all),
    Step("no change", nothing),
    Step("1 % edited", edit_share),
    Step("1 deleted", delete_one),
    Step("all touched", touch_all),
    Step("policy changed", nothing, 800),
)


@dataclass(frozen=True, slots=True)
class Contender:
    """How to run one contender in a folder with ``docs``, and where its Python is."""

    name: str
    python: str
    module: str
    embedder: str = "hash"

    def run(self, home: Path, chunk_chars: int, buckets: int) -> dict[str, Any]:
        """One run in a process of its own; its report."""
        (home / "sources.yaml").write_text(
            CATALOG.format(size=chunk_chars, buckets=buckets, embedder=self.embedder)
        )
        command = [self.python, "-m", self.module, self.name, str(home), str(chunk_chars)]
        # As installed: modules are compiled once (by the first, small run), not by every process.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir(), "chunk-assets-bench-compiled"))
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr[-2000:]}")
        report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return report


def contenders(result: Result) -> list[Contender]:
    """Ours, and the peers that are installed here or in the environment of ``CHUNK_ASSETS_PEERS``."""
    found = [Contender(OURS, sys.executable, "benchmarks.incremental_run")]
    other = os.environ.get("CHUNK_ASSETS_PEERS", "")
    for name, package in PEERS.items():
        if other:
            found.append(Contender(name, other, "benchmarks.incremental_peers"))
        elif importlib.util.find_spec(package.split(".")[0]):
            found.append(Contender(name, sys.executable, "benchmarks.incremental_peers"))
        else:
            result.absent.append(name)
    return found


def measure(found: Sequence[Contender], count: int, buckets: int) -> dict[str, dict[str, dict[str, Any]]]:
    """All steps of the contenders, each in a fresh folder of its own; in every step all take their turn."""
    reports: dict[str, dict[str, dict[str, Any]]] = {contender.name: {} for contender in found}
    with ExitStack() as stack:
        folders = [
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="chunk-assets-bench-")))
            for _ in range(2 * len(found))
        ]
        for contender, folder in zip(found, folders[len(found) :], strict=True):
            write_all(folder / "docs", 3)
            contender.run(folder, STEPS[0].chunk_chars, 1)
        for step in STEPS:
            for contender, folder in zip(found, folders[: len(found)], strict=True):
                step.change(folder / "docs", count)
                reports[contender.name][step.name] = contender.run(folder, step.chunk_chars, buckets)
    return reports


def main(argv: list[str] | None = None) -> None:
    """Runs the benchmark and writes its result."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--documents", type=int, help="how many documents (default 10,000; quick: 150)")
    arguments.add_argument("--bge", type=int, default=0, help="also with bge-small, over this many documents")
    arguments.add_argument("--peers", nargs="*", choices=PEERS, help="only beside these (default: all)")
    options = arguments.parse_args(argv)
    count = options.documents or (150 if options.quick else 10_000)
    result = Result("incremental")
    result.table.append(["contender", *(step.name for step in STEPS), "ms a document", "peak MB"])
    wanted = [c for c in contenders(result) if not options.peers or c.name in {OURS, *options.peers}]
    reports = measure(wanted, count, max(1, count // 600))
    for name, steps in reports.items():
        add_row(result, name, steps, count)
    compare(result, reports)
    if options.bge:
        bge = Contender(OURS, sys.executable, "benchmarks.incremental_run", "bge_small")
        add_row(result, f"{OURS}, bge-small", measure([bge], options.bge, 1)[OURS], options.bge)
    if not options.quick:
        memory(result, count, reports[OURS])
    result.notes.append(f"{count} documents; shares are of the contender's own full run")
    finish(result, options)


def add_row(result: Result, name: str, steps: dict[str, dict[str, Any]], count: int) -> None:
    """One line of the table, and the figures behind it."""
    full = steps["full"]["cpu"]
    shares = {step: report["cpu"] / full for step, report in steps.items()}
    result.table.append(
        [
            name,
            *(f"{shares[s.name]:.1%} ({steps[s.name]['embedded']})" for s in STEPS),
            round(1000 * full / count, 2),
            steps["full"]["peak_mb"],
        ]
    )
    result.figures[name] = {"shares": {k: round(v, 4) for k, v in shares.items()}, "runs": steps}


def compare(result: Result, reports: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Ours over each peer's, step by step."""
    for name in reports.keys() - {OURS}:
        for step in STEPS:
            ours, other = (reports[n][step.name]["cpu"] for n in (OURS, name))
            result.ratios[f"{step.name} / {name}"] = ratio(ours, other)


def memory(result: Result, count: int, large: dict[str, dict[str, Any]]) -> None:
    """Peak memory of a tenth of the documents, in as many buckets, beside that of all."""
    tenth = Contender(OURS, sys.executable, "benchmarks.incremental_run")
    small = measure([tenth], count // 10, max(1, count // 600))[OURS]
    result.ratios["peak memory, all documents over a tenth"] = ratio(
        large["full"]["peak_mb"], small["full"]["peak_mb"]
    )


if __name__ == "__main__":
    main()
