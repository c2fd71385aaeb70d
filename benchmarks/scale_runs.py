"""What a run costs beside its work, and how the Dagster database grows over thousands of runs."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.scale_homes import fresh_home, peak_mb, spent

# The newest turns count; the first one loads libraries.
TURNS = 3
BATCHES = 100
PRUNED_EVERY = 1_000
# As ``chunk-assets run`` does it, and as a run that the daemon starts.
CORE = (
    "from chunk_assets.catalog import load_catalog; from chunk_assets.pipeline import run_batch; "
    "run_batch(load_catalog({home!r}), 's0', 'bucket-0')"
)
DAGSTER = (
    "from chunk_assets.catalog import load_catalog; from chunk_assets.defs.build import build_definitions; "
    "from chunk_assets.defs.home import open_instance; from chunk_assets.defs.runs import SILENT; "
    "job = build_definitions(load_catalog({home!r})).resolve_job_def('ingest_s0'); "
    "i = open_instance({home!r}); "
    "job.execute_in_process(partition_key='bucket-0', instance=i, run_config=SILENT); i.dispose()"
)


def run_case(documents: int, turns: int) -> dict[str, float]:
    """One batch built from nothing, with Dagster and without, in turns; worker processes count.

    ``record``: what Dagster's records add to the work in a process that is warm. ``start``: what a new
    process with Dagster costs over one without.
    """
    contenders = {"core": core_run, "dagster": dagster_run}
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(turns + 1):
        for name, run in contenders.items():
            found[name].append(run(documents))
    core, dagster = (statistics.median(found[name][1:]) for name in contenders)
    starts = [[process(code) for code in (CORE, DAGSTER)] for _ in range(turns)]
    start = statistics.median(with_it - without for without, with_it in starts)
    figures = {"core": core, "dagster": dagster, "record": dagster - core, "start": start}
    return {"cpu": dagster, **figures, "peak_mb": peak_mb()}


def model_case(documents: int) -> dict[str, float]:
    """The same batch by the core with the default model, once: it takes a minute."""
    return {"cpu": core_run(documents, "bge_small"), "peak_mb": peak_mb()}


def core_run(documents: int, embedder: str = "hash") -> float:
    """Processor seconds of the core alone."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.pipeline import run_batch

    with tempfile.TemporaryDirectory() as folder:
        catalog = load_catalog(fresh_home(folder, documents, embedder))
        return spent(lambda: run_batch(catalog, "s0", "bucket-0"))


def dagster_run(documents: int) -> float:
    """Processor seconds of the same batch as a Dagster run, definitions and database in place."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.defs.build import build_definitions
    from chunk_assets.defs.home import open_instance
    from chunk_assets.defs.runs import SILENT

    with tempfile.TemporaryDirectory() as folder:
        home = fresh_home(folder, documents)
        job = build_definitions(load_catalog(home)).resolve_job_def("ingest_s0")
        with open_instance(home) as instance:
            instance.get_runs_count()
            return spent(
                lambda: job.execute_in_process(partition_key="bucket-0", instance=instance, run_config=SILENT)
            )


def process(code: str) -> float:
    """Processor seconds of a process of its own that runs a batch of one document."""
    with tempfile.TemporaryDirectory() as folder:
        home = str(fresh_home(folder, 1))
        from chunk_assets.defs.home import open_instance

        with open_instance(home) as instance:
            instance.get_runs_count()
        command = [sys.executable, "-c", code.format(home=home)]
        return spent(lambda: subprocess.run(command, check=True, capture_output=True))


def growth_case(runs: int, batches: int = BATCHES, pruned_every: int = PRUNED_EVERY) -> dict[str, float]:
    """Megabytes of the database after ``runs`` runs on ``batches`` batches, pruned again and again.

    One run is made; the others are copies of its rows under other names. ``unpruned`` is what the first
    part of the runs took, times the number of parts.
    """
    from chunk_assets.catalog import load_catalog
    from chunk_assets.defs.home import open_instance
    from chunk_assets.defs.pruning import prune_records, prune_runs
    from chunk_assets.defs.runs import run_batches
    from chunk_assets.pipeline import Batch, RunOptions, Session

    with tempfile.TemporaryDirectory() as folder:
        home = fresh_home(folder, 3)
        figures: dict[str, float] = {"cpu": 0.0}
        with open_instance(home) as instance:
            session = Session(load_catalog(home), RunOptions())
            list(run_batches(session, [Batch("s0", "bucket-0")], instance))
            session.close()
            empty = megabytes(home)
            for number, size in enumerate(parts(runs, pruned_every), start=1):
                copy_runs(instance, newest_of(instance, "s0/bucket-0"), size, batches)
                checkpoint(instance)
                if number == 1:
                    figures["unpruned"] = (megabytes(home) - empty) * runs / size
                figures["cpu"] += spent(lambda: (prune_runs(instance, 5), prune_records(instance)))
                checkpoint(instance)
                figures[f"after {number}"] = megabytes(home)
                figures["runs kept"] = instance.get_runs_count()
    steps = [figures.pop(f"after {n}") for n in range(1, number + 1)]
    return {**figures, "first": steps[0], "last": steps[-1], "largest": max(steps), "peak_mb": peak_mb()}


def parts(whole: int, size: int) -> Iterator[int]:
    """``whole`` in parts of ``size``."""
    while whole > 0:
        yield min(whole, size)
        whole -= size


def megabytes(home: Path) -> float:
    """What the Dagster folder of a home takes on disk, without SQLite's logs of what is going on."""
    return sum(path.stat().st_size for path in (home / "dagster").rglob("*.db")) / 1e6


def newest_of(instance: Any, batch: str) -> str:
    """The newest run on a batch: an older one may have been pruned."""
    import dagster as dg

    found = instance.get_runs(filters=dg.RunsFilter(tags={"chunk-assets/batch": batch}), limit=1)
    return str(found[0].run_id)


def checkpoint(instance: Any) -> None:
    """Moves what SQLite has in its log to the database's file."""
    from sqlalchemy import text

    with instance.event_log_storage.index_connection() as connection:
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))


def copy_runs(instance: Any, run_id: str, count: int, batches: int) -> None:
    """``count`` copies of a finished run, dealt over ``batches`` batches."""
    names = [(str(uuid.uuid4()), f"bucket-{number % batches}") for number in range(count)]
    with instance.run_storage.connect() as runs, instance.event_log_storage.index_connection() as events:
        for new, slice_key in names:
            for connection, table in ((runs, "runs"), (runs, "run_tags"), (events, "event_logs")):
                _copy(connection, table, run_id, new, slice_key)
            _copy(events, "asset_check_executions", run_id, new, slice_key)


def _copy(connection: Any, table: str, run_id: str, new: str, slice_key: str) -> None:
    from sqlalchemy import text

    columns = [row[1] for row in connection.execute(text(f"PRAGMA table_info({table})")) if row[1] != "id"]
    values = ", ".join(
        f"replace(replace({name}, :old, :new), 'bucket-0', :slice)" if name in WORDS else name
        for name in columns
    )
    names = ", ".join(columns)
    statement = f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} WHERE run_id = :old"  # noqa: S608 - our own names
    connection.execute(text(statement), {"old": run_id, "new": new, "slice": slice_key})


# Columns in which the name of a run or batch stands.
WORDS = ("run_id", "run_body", "partition", "value", "event", "evaluation_event")
