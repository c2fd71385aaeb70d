"""Bounded growth of the Dagster database, and runs that nobody works on any more."""

import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
from dagster._core.instance.utils import RUNLESS_RUN_ID
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from sqlalchemy import delete, func, select
from sqlalchemy.engine import Connection

from chunk_assets.defs.places import PARTITION_TAG, batches_of
from chunk_assets.defs.sqlite import HomeEvents
from chunk_assets.storage.layout import Layout
from chunk_assets.storage.remote import is_worked_on

PAGE = 500
# Records without a run that are kept of each asset and check.
RECORDS = 200
# A run says nothing while it loads its code, and its batch is not locked yet.
SILENT_SECONDS = 60.0
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
            batches = " ".join(map(str, batches_of(run)))
            place = (run.job_name, batches or run.tags.get(PARTITION_TAG, ""))
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
            shutil.rmtree(Path(instance.storage_directory(), run_id), ignore_errors=True)
        _forget_checks(instance, doomed)
    return len(doomed)


def _forget_checks(instance: dg.DagsterInstance, run_ids: Sequence[str]) -> None:
    """Deletes the verdicts of deleted runs, which Dagster keeps for ever."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return
    checks = AssetCheckExecutionsTable
    for start in range(0, len(run_ids), PAGE):
        with storage.index_connection() as connection:
            connection.execute(delete(checks).where(checks.c.run_id.in_(run_ids[start : start + PAGE])))


def prune_records(instance: dg.DagsterInstance, keep: int = RECORDS) -> int:
    """Deletes what was recorded without a run (summaries, freshness), all but the newest of each.

    Returns how many records were deleted. They belong to no run, so nothing else deletes them.
    """
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        return 0
    with storage.index_connection() as connection:
        checks = _prune_checks(connection, keep)
        deleted = checks + _prune_evaluations(connection) + _prune_events(connection, keep)
    if isinstance(storage, HomeEvents):
        storage.compact()
    return deleted


def _prune_checks(connection: Connection, keep: int) -> int:
    checks = AssetCheckExecutionsTable
    place = (checks.c.asset_key, checks.c.check_name, checks.c.partition)
    newest = func.row_number().over(partition_by=place, order_by=checks.c.id.desc()).label("newest")
    rows = select(checks.c.id, newest).where(checks.c.run_id == RUNLESS_RUN_ID).subquery()
    old = select(rows.c.id).where(rows.c.newest > keep)
    return int(connection.execute(delete(checks).where(checks.c.id.in_(old))).rowcount)


def _prune_evaluations(connection: Connection) -> int:
    """The events of verdicts that are no longer kept; they name their check only in their body."""
    events, checks = SqlEventLogStorageTable, AssetCheckExecutionsTable
    kept = select(checks.c.evaluation_event_storage_id).where(checks.c.run_id == RUNLESS_RUN_ID)
    old = delete(events).where(
        events.c.run_id == RUNLESS_RUN_ID,
        events.c.dagster_event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
        events.c.id.not_in(kept),
    )
    return int(connection.execute(old).rowcount)


def _prune_events(connection: Connection, keep: int) -> int:
    events, tags = SqlEventLogStorageTable, AssetEventTagsTable
    place = (events.c.asset_key, events.c.dagster_event_type, events.c.partition)
    newest = func.row_number().over(partition_by=place, order_by=events.c.id.desc()).label("newest")
    of_assets = (events.c.run_id == RUNLESS_RUN_ID, events.c.asset_key.is_not(None))
    rows = select(events.c.id, newest).where(*of_assets).subquery()
    old = select(rows.c.id).where(rows.c.newest > keep)
    connection.execute(delete(tags).where(tags.c.event_id.in_(old)))
    return int(connection.execute(delete(events).where(events.c.id.in_(old))).rowcount)


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


def end_dead_runs(
    instance: dg.DagsterInstance, layout: Layout, now: float, silent: float = SILENT_SECONDS
) -> list[str]:
    """Marks runs as failed whose process is gone: nobody holds the locks of their batches. Gives their ids.

    The kernel frees a lock with its process, so a free lock and ``silent`` seconds without an event mean
    that nobody works on the run. Dagster itself learns of a lost machine only after a day.
    """
    started = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])
    found = []
    for record in instance.get_run_records(filters=started):
        run = record.dagster_run
        batches = batches_of(run)
        if not batches or any(is_worked_on(layout, batch) for batch in batches):
            continue
        if now - max(record.start_time or 0.0, _last_heard(instance, run.run_id)) >= silent:
            instance.report_run_failed(run, "the process of this run is gone; its batch is not locked")
            found.append(run.run_id)
    return found


def _last_heard(instance: dg.DagsterInstance, run_id: str) -> float:
    newest = instance.get_records_for_run(run_id, limit=1, ascending=False).records
    return newest[0].timestamp if newest else time.time()
