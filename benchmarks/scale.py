"""Orchestration at scale: ticks, definitions, pages of the UI, what a run costs, how the database grows.

Every case runs in a process of its own, so that its peak memory is its own. Times are processor time.
"Beside its work" is a Dagster run of one batch of 100 documents against the same batch done by the core
alone: same stages, same checks, no Dagster.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import Result, finish, parser, ratio
from benchmarks.scale_homes import bucketed, peak_mb
from benchmarks.scale_runs import TURNS, growth_case, model_case, run_case
from benchmarks.scale_ui import page_case

SOURCES = 10
DOCUMENTS = 100
BOUND_CPU, BOUND_MB = 10.0, 300.0


def main() -> None:
    """Measures the cases and prints them."""
    if len(sys.argv) > 2 and sys.argv[1] == "case":
        print(json.dumps(CASES[sys.argv[2]](*map(int, sys.argv[3:]))))
        return
    options = parser(__doc__ or "").parse_args()
    result = Result("scale")
    result.table.append(["case", "cpu s", "peak MB"])
    ticks(result, options.quick)
    for batches in (100,) if options.quick else (100, 1_000, 10_000):
        add(result, f"definitions load, {batches} batches", "load", batches)
        if not options.quick:
            add(result, f"page of an asset, {batches} batches", "page", batches)
    runs(result, options.quick)
    grown = add(result, "database, pruned", "growth", *((200, 10) if options.quick else (10_000, 100)))
    result.ratios["database pruned over unpruned"] = ratio(grown["largest"], grown["unpruned"])
    result.notes.append("runs with the hash embedder, the cheapest there is, where no model is named")
    finish(result, options)


def add(result: Result, name: str, case: str, *arguments: int) -> dict[str, float]:
    """Runs a case in its own process and keeps its figures."""
    command = [sys.executable, "-m", "benchmarks.scale", "case", case, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    result.figures[name] = found
    result.table.append([name, found["cpu"], found["peak_mb"]])
    print(f"{name}: {found['cpu']:.2f} s", file=sys.stderr)
    return found


def ticks(result: Result, quick: bool) -> None:
    """The bound that is promised, and how a tick grows with the number of batches."""
    files = 10_000 if quick else 100_000
    tick = add(
        result, f"sensor tick, {files} files in {SOURCES} sources, no change", "tick", files, SOURCES, 16
    )
    result.ratios["sensor tick over its bound of 10 s"] = ratio(tick["cpu"], BOUND_CPU * files / 100_000)
    result.ratios["peak memory of a tick over its bound of 300 MB"] = ratio(tick["peak_mb"], BOUND_MB)
    for batches in () if quick else (100, 1_000, 10_000):
        add(
            result,
            f"sensor tick, 10000 files, {batches} batches",
            "tick",
            10_000,
            SOURCES,
            batches // SOURCES,
        )


def runs(result: Result, quick: bool) -> None:
    """What Dagster adds to a run, over its work with the cheapest embedder and with the default one."""
    run = add(result, f"one run, {DOCUMENTS} documents", "run", DOCUMENTS, 1 if quick else TURNS)
    result.ratios["run with Dagster over the core alone"] = ratio(run["dagster"], run["core"])
    if not quick:
        work = add(result, f"the core alone with bge_small, {DOCUMENTS} documents", "model", DOCUMENTS)["cpu"]
        share = (run["record"] + run["start"]) / work
        result.ratios["share of Dagster beside bge_small, start of the process included"] = round(share, 4)


def tick_case(files: int, sources: int, count: int) -> dict[str, float]:
    """A tick over sources in which everything is published and nothing has changed."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.defs.arrivals import look

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name in bucketed(home, sources, count):
            for number in range(files // sources):
                path = home / name / f"{number % 100}" / f"{number}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
        catalog = load_catalog(home)
        pretend_published(catalog)
        before = time.process_time()
        found = look(catalog)
        cpu = time.process_time() - before
        assert not found.todo, found.todo[:3]
        return {"cpu": cpu, "peak_mb": peak_mb()}


def pretend_published(catalog: Any) -> None:
    """State and manifests as if every batch had been run, made in a process that does not count.

    Running 100,000 documents would take the benchmark's whole time; a tick only reads these files.
    """
    if os.fork() == 0:
        from chunk_assets.pipeline import RunOptions, Session, all_batches
        from chunk_assets.storage.commit import Manifest
        from chunk_assets.storage.files import write_atomic
        from chunk_assets.storage.state import BatchState, Seen, save_state

        session = Session(catalog, RunOptions())
        for batch in all_batches(session):
            context = session.peek(batch.source, batch.slice)
            seen = {d.document_id: Seen(d.version, "0" * 64, "text/markdown") for d in context.documents}
            state = BatchState(seen, listing_digest=context.listing_digest)
            save_state(session.layout.state_file(batch), state)
            manifest = Manifest(files={}, recipe=context.recipe.digest)
            write_atomic(session.layout.manifest_file(batch), manifest.to_bytes())
        os._exit(0)
    os.wait()


def load_case(batches: int) -> dict[str, float]:
    """Building the definitions of a home with so many batches, as every run's process does."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.defs.build import build_definitions

    with tempfile.TemporaryDirectory() as folder:
        bucketed(Path(folder), SOURCES, max(1, batches // SOURCES))
        before = time.process_time()
        repository = build_definitions(load_catalog(folder)).get_repository_def()
        repository.get_job("ingest_s0")
        return {"cpu": time.process_time() - before, "peak_mb": peak_mb()}


CASES: dict[str, Callable[..., dict[str, float]]] = {
    "tick": tick_case,
    "load": load_case,
    "page": page_case,
    "run": run_case,
    "model": model_case,
    "growth": growth_case,
}

if __name__ == "__main__":
    main()
