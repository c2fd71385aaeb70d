"""``chunk-assets backfill``: many batches of a source, each a run of its own, that can be taken up again."""

from __future__ import annotations

import os
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.common import SOME_FAILED, Output, home_options

if TYPE_CHECKING:
    from chunk_assets.pipeline import Batch, Session

ONLY = ("all", "stale", "failed", "missing")


@click.command("backfill")
@click.option("--source", "-s", required=True, help="The source.")
@click.option("--from", "first", default="", metavar="SLICE", help="First slice, for example 2024-01.")
@click.option("--to", "last", default="", metavar="SLICE", help="Last slice, itself included.")
@click.option(
    "--only",
    type=click.Choice(ONLY),
    default="stale",
    show_default=True,
    help="Which batches of the range to run.",
)
@click.option(
    "--job",
    type=click.Choice(["ingest", "rechunk", "reembed"]),
    default="ingest",
    show_default=True,
    help="Everything, or from the chunks or the vectors on.",
)
@click.option("--allow-deletions", is_flag=True, help="Confirm that many documents are really gone.")
@home_options
def command(
    out: Output, source: str, first: str, last: str, only: str, job: str, allow_deletions: bool
) -> int:
    """Run the batches of a range one after the other; each succeeds or fails alone.

    The runs carry the tag chunk-assets/backfill in the UI. Interrupted, the same command goes on with
    what is still stale, failed or missing.
    """
    from chunk_assets.defs.home import open_instance
    from chunk_assets.defs.runs import run_batches
    from chunk_assets.pipeline import RunOptions, Session

    mode = os.environ.get("CHUNKING_FACTORY_MODE", "")
    options = RunOptions(
        owner="chunk-assets backfill",
        mode=mode,
        allow_deletions=allow_deletions,
        retry_parked=only == "failed",
    )
    name = f"backfill-{uuid.uuid4().hex[:8]}"
    rows: list[dict[str, Any]] = []
    with closing(Session(out.catalog(), options)) as session:
        batches = _chosen(session, source, first, last, only)
        with open_instance(session.catalog.home) as instance:
            for ran in run_batches(session, batches, instance, job=job, tags={"chunk-assets/backfill": name}):
                problem = str(ran.error or "")
                rows.append(
                    {"batch": str(ran.batch), "ok": ran.success, "run": ran.run_id, "problem": problem}
                )
                if not out.quiet and not out.as_json:
                    click.echo(
                        f"{ran.batch}: {'ok' if ran.success else 'failed'} {problem}".rstrip(), err=True
                    )
    out.result({"backfill": name, "ok": all(row["ok"] for row in rows), "batches": rows})
    failed = sum(not row["ok"] for row in rows)
    out.table(name, ("batches", "ok", "failed"), [(len(rows), len(rows) - failed, failed)])
    return SOME_FAILED if failed else 0


def _chosen(session: Session, source: str, first: str, last: str, only: str) -> list[Batch]:
    from chunk_assets.pipeline import all_batches

    session.catalog.source(source)
    inside = [
        b
        for b in all_batches(session, [source])
        if (not first or b.slice >= first) and (not last or b.slice <= last)
    ]
    return [batch for batch in inside if only == "all" or _is(session, batch, only)]


def _is(session: Session, batch: Batch, only: str) -> bool:
    from chunk_assets.pipeline.overview import batch_status

    context = session.peek(batch.source, batch.slice)
    if only == "missing":
        return context.manifest is None
    if only == "failed":
        return bool(batch_status(session, batch).failures) or context.manifest is None
    return not context.is_current
