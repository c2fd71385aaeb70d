"""Orchestration at scale: sensor ticks, loading the definitions, and what a run costs beside its work.

Every case runs in a process of its own, so that its peak memory is its own. Times are processor time.
"Beside its work" is a Dagster run of one batch of 100 documents, in process, against the same batch done
by the core alone: same stages, same checks, no Dagster.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import Result, finish, parser, ratio

SOURCES = 10
TURNS = 3
DOCUMENTS = 100
TEXT = (
    "Work on item {n} in part {p} covers intake, storage and release. Each of the {p} steps for item {n} is "
    "written down, and the person on duty signs it before noon. "
)


def main() -> None:
    """Measures the cases and prints them."""
    if len(sys.argv) > 2 and sys.argv[1] == "case":
        print(json.dumps(CASES[sys.argv[2]](*map(int, sys.argv[3:]))))
        return
    options = parser(__doc__ or "").parse_args()
    result = Result("scale")
    result.table.append(["case", "cpu s", "peak MB"])
    files = 10_000 if options.quick else 100_000
    tick = add(result, f"sensor tick, {files} files in {SOURCES} sources, no change", "tick", files, SOURCES)
    for batches in (100, 1_000) if options.quick else (100, 1_000, 10_000):
        add(result, f"definitions load, {batches} batches", "load", batches)
    add(result, f"one run, {DOCUMENTS} documents", "run", DOCUMENTS, 1 if options.quick else TURNS)
    run = result.figures[f"one run, {DOCUMENTS} documents"]
    result.ratios["run with Dagster over the core alone"] = ratio(run["dagster"], run["core"])
    result.ratios["sensor tick over its bound of 10 s"] = ratio(tick["cpu"], 10.0 * files / 100_000)
    result.ratios["peak memory of a tick over its bound of 300 MB"] = ratio(tick["peak_mb"], 300.0)
    result.notes.append("hash embedder, the cheapest there is: with a model the share of Dagster is smaller")
    finish(result, options)


def add(result: Result, name: str, case: str, *arguments: int) -> dict[str, float]:
    """Runs a case in its own process and keeps its figures."""
    command = [sys.executable, "-m", "benchmarks.scale", "case", case, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    result.figures[name] = found
    result.table.append([name, found["cpu"], found["peak_mb"]])
    return found


def tick_case(files: int, sources: int) -> dict[str, float]:
    """A tick over sources in which everything is published and nothing has changed."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.defs.arrivals import look

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        names = [f"s{number}" for number in range(sources)]
        rows = "".join(f"  {name}: {{path: {name}, slice: {{by: bucket, count: 16}}}}\n" for name in names)
        (home / "sources.yaml").write_text(f"embedder: {{name: hash}}\nsources:\n{rows}")
        for name in names:
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
        home = Path(folder)
        count = max(1, batches // SOURCES)
        rows = "".join(
            f"  s{n}: {{path: s{n}, slice: {{by: bucket, count: {count}}}}}\n" for n in range(SOURCES)
        )
        (home / "sources.yaml").write_text(f"embedder: {{name: hash}}\nsources:\n{rows}")
        before = time.process_time()
        repository = build_definitions(load_catalog(home)).get_repository_def()
        repository.get_job("ingest_s0")
        return {"cpu": time.process_time() - before, "peak_mb": peak_mb()}


def run_case(documents: int, turns: int) -> dict[str, float]:
    """One batch built from nothing, with Dagster and without, in turns; workers count."""
    found: dict[str, list[float]] = {"core": [], "dagster": []}
    for _ in range(turns + 1):
        for name, run in (("core", core_run), ("dagster", dagster_run)):
            found[name].append(run(documents))
    core, dagster = (statistics.median(found[name][1:]) for name in ("core", "dagster"))
    return {"cpu": dagster, "core": core, "dagster": dagster, "peak_mb": peak_mb()}


def fresh_home(folder: str, documents: int) -> Path:
    """A source of one batch."""
    home = Path(folder)
    (home / "docs").mkdir()
    (home / "sources.yaml").write_text("embedder: {name: hash}\nsources:\n  docs: {path: docs}\n")
    for n in range(documents):
        parts = (f"## Part {p}\n\n{TEXT.format(n=n, p=p) * 6}" for p in range(1, 13))
        (home / "docs" / f"{n}.md").write_text(f"# Item {n}\n\n" + "\n\n".join(parts))
    return home


def core_run(documents: int) -> float:
    """Processor seconds of the core alone."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.pipeline import run_batch

    with tempfile.TemporaryDirectory() as folder:
        catalog = load_catalog(fresh_home(folder, documents))
        return spent(lambda: run_batch(catalog, "docs", "bucket-0"))


def dagster_run(documents: int) -> float:
    """Processor seconds of the same batch as a Dagster run, definitions and database in place."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.defs.build import build_definitions
    from chunk_assets.defs.home import open_instance
    from chunk_assets.defs.runs import SILENT

    with tempfile.TemporaryDirectory() as folder:
        home = fresh_home(folder, documents)
        job = build_definitions(load_catalog(home)).resolve_job_def("ingest_docs")
        with open_instance(home) as instance:
            instance.get_runs_count()
            return spent(
                lambda: job.execute_in_process(partition_key="bucket-0", instance=instance, run_config=SILENT)
            )


def spent(work: Callable[[], Any]) -> float:
    """Processor seconds of this process and of its ended children."""
    before = os.times()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def peak_mb() -> float:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


CASES: dict[str, Callable[..., dict[str, float]]] = {"tick": tick_case, "load": load_case, "run": run_case}

if __name__ == "__main__":
    main()
