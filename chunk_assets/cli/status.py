"""``chunk-assets status``: batches as they are published, and what the next run would find to do."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.chosen import source_option
from chunk_assets.cli.common import SOME_FAILED, Output, home_options

if TYPE_CHECKING:
    from chunk_assets.pipeline import Batch, Session


@click.command("status")
@source_option
@home_options
def command(out: Output, sources: tuple[str, ...]) -> int:
    """Show each batch: documents by status, chunks, vectors, and whether it is current."""
    from chunk_assets.pipeline import RunOptions, Session

    options = RunOptions(mode=os.environ.get("CHUNKING_FACTORY_MODE", ""))
    with closing(Session(out.catalog(), options)) as session:
        rows, problems = collect(session, sources)
    out.result({"batches": rows, "problems": problems})
    out.table(
        "Batches",
        ("batch", "documents", "chunks", "vectors", "state"),
        [(r["batch"], _counts(r["documents"]), r["chunks"], r["embeddings"], r["state"]) for r in rows],
    )
    failures = [(f["file"], f["status"], f["reason"]) for r in rows for f in r["failures"]]
    if failures:
        out.table("Documents that are not whole", ("document", "status", "reason"), failures)
    for problem in problems:
        click.echo(f"problem: {problem}", err=True)
    return SOME_FAILED if problems else 0


def collect(session: Session, sources: tuple[str, ...] = ()) -> tuple[list[dict[str, Any]], list[str]]:
    """A row a batch, and the sources that can't be listed."""
    from chunk_assets.errors import SourceUnavailable
    from chunk_assets.pipeline import all_batches

    rows, problems = [], []
    for name in sources or session.catalog.sources:
        session.catalog.source(name)
        try:
            rows += [_row(session, batch) for batch in all_batches(session, [name])]
        except SourceUnavailable as error:
            problems.append(f"{name}: {error}")
    return rows, problems


def _row(session: Session, batch: Batch) -> dict[str, Any]:
    from chunk_assets.pipeline.overview import batch_status

    context = session.peek(batch.source, batch.slice)
    found = batch_status(session, batch)
    state = "current" if context.is_current else ("stale" if context.manifest else "missing")
    return {
        "batch": str(batch),
        "source": batch.source,
        "slice": batch.slice,
        "state": state,
        "listed": len(context.documents),
        "documents": dict(found.documents),
        "chunks": found.chunks,
        "embeddings": found.embeddings,
        "failures": [
            {"document_id": f.document_id, "file": f.relative_path, "status": f.status, "reason": f.reason}
            for f in found.failures
        ],
    }


def _counts(documents: dict[str, int]) -> str:
    return ", ".join(f"{number} {status}" for status, number in sorted(documents.items())) or "none"
