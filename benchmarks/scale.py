"""What book-keeping costs a document: listing, first run, a run with nothing to do, plan, one change.

``python -m benchmarks.scale --documents 100000`` makes tiny files, so that what is measured is what the
pipeline does beside converting and embedding. Every step runs in a process of its own; times are its
processor time with that of its workers, memory is the peak of the process itself.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CATALOG = """
embedder: {{name: hash, dimension: 16}}
sources:
  docs: {{path: docs, slice: {{by: bucket, count: {batches}}}}}
"""
STEPS = ("list", "first run", "nothing to do", "plan", "one changed")
FILES_A_FOLDER = 1_000


def make_home(home: Path, documents: int, batches: int) -> None:
    """``documents`` files of one sentence each, a thousand in a folder."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "sources.yaml").write_text(CATALOG.format(batches=batches))
    for number in range(documents):
        path = home / "docs" / f"{number // FILES_A_FOLDER:04d}" / f"{number:08d}.txt"
        if number % FILES_A_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_text(f"Document {number} has one sentence.\n")


def step(home: Path, name: str) -> None:
    """Does one of ``STEPS``."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.pipeline import RunOptions, Session, run_sources
    from chunk_assets.plan import make_plan
    from chunk_assets.sources import list_source

    catalog = load_catalog(home)
    if name == "list":
        assert list_source(catalog, "docs").complete
    elif name == "plan":
        make_plan(catalog, session=Session(catalog, RunOptions(workers=1)))
    else:
        if name == "one changed":
            (home / "docs/0000/00000000.txt").write_text("This document is another one now.\n")
        assert run_sources(catalog, options=RunOptions(workers=1)).errors == ()


def measured(home: Path, name: str) -> dict[str, float]:
    """Processor seconds, wall seconds and peak megabytes of one step, in a process of its own."""
    code = (
        f"from pathlib import Path; from benchmarks import scale; scale.report(Path({str(home)!r}), {name!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def report(home: Path, name: str) -> None:
    """Prints the figures of a step as JSON."""
    started = time.perf_counter()
    step(home, name)
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    wall = time.perf_counter() - started
    print(json.dumps({"cpu": cpu, "wall": wall, "peak_mb": own.ru_maxrss / 1024}))


def main() -> None:
    """Makes the home, measures the steps, prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--steps", default=",".join(STEPS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        home = Path(folder, "home")
        make_home(home, chosen.documents, chosen.batches)
        print(f"{chosen.documents} documents in {chosen.batches} batches")
        print(f"{'step':<14} {'cpu s':>8} {'wall s':>8} {'ms/document':>12} {'peak MB':>8}")
        for name in chosen.steps.split(","):
            found = measured(home, name)
            each = 1000 * found["cpu"] / chosen.documents
            print(f"{name:<14} {found['cpu']:8.2f} {found['wall']:8.2f} {each:12.3f} {found['peak_mb']:8.0f}")


if __name__ == "__main__":
    main()
