"""``chunk-assets prune``: drop vectors that nothing needs, and old runs of the Dagster instance."""

from __future__ import annotations

import time

import click

from chunk_assets.cli.common import Output, home_options

DAY_SECONDS = 86_400


@click.command("prune")
@click.option("--dry-run", is_flag=True, help="Say what would be dropped, and drop nothing.")
@click.option("--runs/--no-runs", default=True, show_default=True, help="Also delete old Dagster runs.")
@click.option("--reap", is_flag=True, help="Also end runs that have not been heard of for a day.")
@home_options
def command(out: Output, dry_run: bool, runs: bool, reap: bool) -> int:
    """Drop vectors that no published chunk needs, and all but the newest runs of each batch."""
    from chunk_assets.pipeline.pruning import prune

    catalog = out.catalog()
    report = prune(catalog.home, dry_run=dry_run)
    deleted, reaped = 0, 0
    if runs or reap:
        from chunk_assets.defs.home import open_instance
        from chunk_assets.defs.pruning import prune_records, prune_runs, reap_runs

        with open_instance(catalog.home) as instance:
            if reap:
                reaped = len(reap_runs(instance, time.time() - DAY_SECONDS, dry_run=dry_run))
            if runs:
                deleted = prune_runs(instance, catalog.operation.keep_runs_per_batch, dry_run=dry_run)
            if runs and not dry_run:
                prune_records(instance)
    value = {"vectors": report.dropped, "bytes": report.bytes_freed, "runs": deleted, "reaped": reaped}
    out.result(value | {"dry_run": dry_run})
    out.table("Would be dropped" if dry_run else "Dropped", list(value), [list(value.values())])
    return 0
