"""Bookkeeping of a million tiny documents: listing, dealing into batches, a run with nothing to do, a plan.

States and manifests say that all documents were published, so that nothing is read, converted, chunked or
embedded: what is left is what a home of that size costs each time it is looked at. A million empty files want
a file system with room for them: ``TMPDIR=/dev/shm`` is quickest.
Every case runs in a process of its own, so that its peak memory is its own. Times are processor time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.harness import Result, finish, parser, ratio
from benchmarks.scale_homes import bucketed, peak_mb

BATCHES = 256
FILES_A_FOLDER = 1_000


def main() -> None:
    """Makes the home, measures the cases on it and prints them."""
    if len(sys.argv) > 2 and sys.argv[1] == "case":
        print(json.dumps(measured(CASES[sys.argv[2]], sys.argv[3])))
        return
    options = parser(__doc__ or "").parse_args()
    documents = 20_000 if options.quick else 1_000_000
    result = Result("bookkeeping")
    result.table.append(
        [f"{documents:,} documents in {BATCHES} batches", "cpu s", "µs a document", "peak MB"]
    )
    with tempfile.TemporaryDirectory() as folder:
        made(Path(folder), documents)
        for name in CASES:
            found = add(folder, name)
            result.figures[name] = found | {"documents": documents}
            each = 1e6 * found["cpu"] / documents
            result.table.append([name, found["cpu"], each, found["peak_mb"]])
    listing = result.figures["listing and batches"]["cpu"]
    for name in ("a run with nothing to do", "a plan with nothing to do"):
        result.ratios[f"{name} over its listing"] = ratio(result.figures[name]["cpu"], listing)
    finish(result, options)


def add(folder: str, name: str) -> dict[str, float]:
    """Runs a case in its own process."""
    command = [sys.executable, "-m", "benchmarks.bookkeeping", "case", name, folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def made(home: Path, documents: int) -> None:
    """One source with so many files."""
    bucketed(home, 1, BATCHES)
    for number in range(documents):
        folder = home / "s0" / f"{number // FILES_A_FOLDER:04d}"
        if not number % FILES_A_FOLDER:
            folder.mkdir()
        os.close(os.open(folder / f"note-{number:07d}.md", os.O_CREAT | os.O_WRONLY))


def measured(case: Callable[[Any], None], home: str) -> dict[str, float]:
    """Processor seconds and peak memory of a case, and its seconds by the clock."""
    from chunk_assets.catalog import load_catalog

    catalog = load_catalog(home)
    cpu, clock = time.process_time(), time.perf_counter()
    case(catalog)
    return {
        "cpu": time.process_time() - cpu,
        "clock": time.perf_counter() - clock,
        "peak_mb": peak_mb(),
    }


def listing(catalog: Any) -> None:
    """Every document with its metadata, id, version and batch."""
    from chunk_assets.pipeline import RunOptions, Session

    with closing(Session(catalog, RunOptions())) as session:
        session.documents("s0", "bucket-0")
        assert len(session.slices["s0"]) == BATCHES


def publishing(catalog: Any) -> None:
    """States, manifests and tables without rows, as if a run had made every document."""
    from chunk_assets.pipeline import RunOptions, Session, all_batches
    from chunk_assets.records import TABLES
    from chunk_assets.storage.commit import Manifest, stamp_of
    from chunk_assets.storage.files import write_atomic
    from chunk_assets.storage.state import BatchState, Seen, save_state
    from chunk_assets.storage.tables import facts_of

    with closing(Session(catalog, RunOptions())) as session:
        for batch in all_batches(session):
            context = session.peek(batch.source, batch.slice)
            paths = {table: session.layout.table_file(table, batch) for table in TABLES}
            for table, path in paths.items():
                without_rows(table, path, context)
            seen = {d.document_id: Seen(d.version, "0" * 64, "text/markdown") for d in context.documents}
            stamps = {table: stamp_of(path) for table, path in paths.items()}
            state = BatchState(seen, listing_digest=context.listing_digest, stamps=stamps)
            save_state(session.layout.state_file(batch), state)
            facts = {table: facts_of(path) for table, path in paths.items()}
            manifest = Manifest(facts, context.recipe.digest, context.recipe.model_fingerprint)
            write_atomic(session.layout.manifest_file(batch), manifest.to_bytes())


def without_rows(table: str, path: Path, context: Any) -> None:
    """A table file of the right columns."""
    from chunk_assets.records import EMBEDDINGS
    from chunk_assets.storage.schemas import schema
    from chunk_assets.storage.tables import write_table

    columns = context.embeddings_schema if table == EMBEDDINGS else schema(table)
    write_table(path, table, columns.empty_table(), columns)


def nothing_to_do(catalog: Any) -> None:
    """A run that finds every batch current."""
    from chunk_assets.pipeline import RunOptions, run_sources

    report = run_sources(catalog, options=RunOptions(workers=1))
    assert not report.errors, report.errors
    assert (
        sum(batch.published is not None and bool(batch.published.files_written) for batch in report.batches)
        == 0
    )
    assert len(report.batches) == BATCHES


def nothing_planned(catalog: Any) -> None:
    """A plan that finds the same."""
    from chunk_assets.plan import make_plan

    assert make_plan(catalog).as_json()["convert"] == 0


CASES: dict[str, Callable[[Any], None]] = {
    "listing and batches": listing,
    "writing the states of all batches": publishing,
    "a run with nothing to do": nothing_to_do,
    "a plan with nothing to do": nothing_planned,
}

if __name__ == "__main__":
    main()
