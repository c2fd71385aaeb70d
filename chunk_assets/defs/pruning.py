"""Bounded growth of the Dagster database, and runs that nobody works on any more."""

from collections import defaultdict

import dagster as dg
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES

from chunk_assets.defs.arrivals import BATCH_TAG

PAGE = 500
FINISHED = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)


def prune_runs(instance: dg.DagsterInstance, keep: int, *, dry_run: bool = False) -> int:
    """Deletes finished runs, all but the ``keep`` newest of each job and batch.

    The newest successful one of a batch is never deleted, since Dagster's record that the batch is
    materialized goes with it. Returns how many runs were (or would be) deleted.
    """
    kept: dict[tuple[str, str], int] = defaultdict(int)
    successes: set[tuple[str, str]] = set()
    doomed: list[str] = []
    cursor: str | None = None
    while True:
        runs = instance.get_runs(filters=dg.RunsFilter(statuses=list(FINISHED)), cursor=cursor, limit=PAGE)
        for run in runs:
            place = (run.job_name, run.tags.get(BATCH_TAG) or run.tags.get("dagster/partition", ""))
            first = run.status == dg.DagsterRunStatus.SUCCESS and place not in successes
            if first:
                successes.add(place)
            kept[place] += 1
            if kept[place] > keep and not first:
                doomed.append(run.run_id)
        if len(runs) < PAGE:
            break
        cursor = runs[-1].run_id
    if not dry_run:
        for run_id in doomed:
            instance.delete_run(run_id)
    return len(doomed)


def reap_runs(instance: dg.DagsterInstance, before: float, *, dry_run: bool = False) -> list[str]:
    """Marks runs as failed that are in progress and of which nothing was heard since ``before``.

    A run whose machine died stays started for ever otherwise, and holds its place in the queue. ``before``
    is in seconds since the epoch. Returns their ids.
    """
    found = []
    for record in instance.get_run_records(filters=dg.RunsFilter(statuses=list(IN_PROGRESS_RUN_STATUSES))):
        if record.update_timestamp.timestamp() < before:
            found.append(record.dagster_run.run_id)
            if not dry_run:
                instance.report_run_failed(
                    record.dagster_run, "nothing was heard of this run; its machine died"
                )
    return found
