"""Which batches a run works on, whoever launched it: a sensor, a person in the UI, a backfill."""

import dagster as dg
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES

from chunk_assets.pipeline import Batch

BATCH_TAG = "chunk-assets/batch"
STATE_TAG = "chunk-assets/state"
# Of the jobs that only run checks again.
RECHECK = "recheck_"
PARTITION_TAG = "dagster/partition"
UNFINISHED = (*IN_PROGRESS_RUN_STATUSES, dg.DagsterRunStatus.QUEUED)


def batches_of(run: dg.DagsterRun) -> tuple[Batch, ...]:
    """The batches of a run, by our own tag, or by its partition and the sources of its assets.

    A person may select assets of several sources that have a partition of the same name.
    """
    source, slash, key = run.tags.get(BATCH_TAG, "").partition("/")
    if slash:
        return (Batch(source, key),)
    partition = run.tags.get(PARTITION_TAG)
    if not partition:
        return ()
    job_source = run.tags.get("source")
    chains = [key.path for key in run.asset_selection or () if len(key.path) == 2]
    sources = {job_source} if job_source else {path[0] for path in chains}
    return tuple(Batch(name, partition) for name in sorted(sources))


def busy_batches(instance: dg.DagsterInstance) -> set[str]:
    """Batches that a run works on, or waits to."""
    runs = instance.get_runs(filters=dg.RunsFilter(statuses=list(UNFINISHED)))
    return {str(batch) for run in runs for batch in batches_of(run)}
