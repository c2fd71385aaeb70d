"""What Dagster itself knows to be wrong: runs that died, sensors and schedules that fail."""

from collections.abc import Iterable, Iterator

import dagster as dg
from dagster._core.scheduler.instigation import TickStatus

from chunk_assets.alerts import Condition
from chunk_assets.alerts.outcomes import load_verdicts
from chunk_assets.defs.places import PARTITION_TAG, batches_of
from chunk_assets.pipeline import Batch
from chunk_assets.storage.layout import Layout

LOOK_BACK = 500


def failed_runs(instance: dg.DagsterInstance, layout: Layout, link_base: str) -> Iterator[Condition]:
    """A condition for each batch whose newest finished run failed without leaving a verdict (it died)."""
    seen: set[str] = set()
    statuses = [dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS]
    for record in instance.get_run_records(filters=dg.RunsFilter(statuses=statuses), limit=LOOK_BACK):
        run = record.dagster_run
        batches = batches_of(run)
        place = " ".join(map(str, batches)) or run.tags.get(PARTITION_TAG) or run.job_name
        if place in seen:
            continue
        seen.add(place)
        if run.status != dg.DagsterRunStatus.FAILURE or _told_itself(layout, batches, run.run_id):
            continue
        yield Condition(
            kind="run",
            asset=run.job_name,
            name="run_alive",
            batch=place,
            severity="error",
            summary=f"run {run.run_id} of {run.job_name} ended without a verdict; its process died",
            since=record.start_time or record.create_timestamp.timestamp(),
            mend="it is asked for again by itself; look at its log if it dies again",
            link=f"{link_base}/runs/{run.run_id}",
        )


def _told_itself(layout: Layout, batches: Iterable[Batch], run_id: str) -> bool:
    """Whether the run wrote down its verdicts before it ended."""
    return any(
        verdict.run_id == run_id for batch in batches for verdict in load_verdicts(layout, batch).values()
    )


def failed_instigators(instance: dg.DagsterInstance, link_base: str) -> Iterator[Condition]:
    """A condition for each sensor and schedule whose newest tick failed."""
    for state in instance.all_instigator_state():
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=1)
        if not ticks or ticks[0].status != TickStatus.FAILURE:
            continue
        error = ticks[0].error
        kind = state.instigator_type.value.lower()
        yield Condition(
            kind="sensor" if kind == "sensor" else "schedule",
            asset="",
            name=state.instigator_name,
            batch="",
            severity="error",
            summary=" ".join(error.message.split())[:500] if error else "its newest tick failed",
            since=ticks[0].timestamp,
            mend="open its page in the UI; the tick shows the error",
            link=f"{link_base}/automation",
        )
