"""What Dagster itself knows to be wrong: runs that died, sensors and schedules that fail."""

from collections.abc import Collection, Iterable, Iterator

import dagster as dg
from dagster._core.scheduler.instigation import InstigatorStatus, TickStatus
from dagster._core.storage.dagster_run import RunRecord
from dagster_shared.error import SerializableErrorInfo

from chunk_assets.alerts import Condition
from chunk_assets.alerts.outcomes import load_verdicts
from chunk_assets.defs.places import PARTITION_TAG, RECHECK, batches_of
from chunk_assets.errors import SourceUnavailable
from chunk_assets.pipeline import Batch
from chunk_assets.storage.layout import Layout

LOOK_BACK = 500
DIED, FAILED = "run_alive", "run_succeeds"
MESSAGE_CHARACTERS = 500


def failed_runs(
    instance: dg.DagsterInstance, layout: Layout, link_base: str, open_now: Iterable[Condition] = ()
) -> Iterator[Condition]:
    """A condition for each batch or job whose newest finished run failed without leaving a verdict.

    Only the newest runs are looked at: of a place that none of them is on, what was known stays
    (``open_now``).
    """
    seen: set[str] = set()
    statuses = [dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS]
    for record in instance.get_run_records(filters=dg.RunsFilter(statuses=statuses), limit=LOOK_BACK):
        run = record.dagster_run
        batches = batches_of(run)
        place = " ".join(map(str, batches)) or run.tags.get(PARTITION_TAG) or run.job_name
        if run.job_name.startswith(RECHECK):  # it says nothing of whether the batch could be made
            place = f"{run.job_name} {place}"
        if place in seen:
            continue
        seen.add(place)
        if run.status == dg.DagsterRunStatus.FAILURE and not _told_itself(layout, batches, run.run_id):
            yield _failed_run(instance, record, place, link_base)
    yield from (known for known in open_now if known.name in (DIED, FAILED) and known.batch not in seen)


def _failed_run(instance: dg.DagsterInstance, record: RunRecord, place: str, link_base: str) -> Condition:
    run = record.dagster_run
    why = _why(instance, run.run_id)
    died = f"run {run.run_id} of {run.job_name} ended without a verdict; its process died"
    return Condition(
        kind="run",
        asset=run.job_name,
        name=FAILED if why else DIED,
        batch=place,
        severity="error",
        summary=why or died,
        since=record.start_time or record.create_timestamp.timestamp(),
        mend="see the log of the run"
        if why
        else "it is asked for again by itself; look at its log if it dies again",
        link=f"{link_base}/runs/{run.run_id}",
    )


def _why(instance: dg.DagsterInstance, run_id: str) -> str:
    """What the step that failed says; nothing when the run ended without one."""
    kind = dg.DagsterEventType.STEP_FAILURE
    for record in instance.get_records_for_run(run_id, of_type=kind, limit=1).records:
        event = record.event_log_entry.dagster_event
        if event is None:
            continue
        data = event.step_failure_data
        given = data.user_failure_data.description if data.user_failure_data else None
        return _one_line(given or (innermost(data.error).message if data.error else "a step failed"))
    return ""


def innermost(error: SerializableErrorInfo) -> SerializableErrorInfo:
    """The error that was raised first."""
    while error.cause is not None:
        error = error.cause
    return error


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MESSAGE_CHARACTERS]


def _told_itself(layout: Layout, batches: Iterable[Batch], run_id: str) -> bool:
    """Whether the run wrote down its verdicts before it ended."""
    return any(
        verdict.run_id == run_id for batch in batches for verdict in load_verdicts(layout, batch).values()
    )


def failed_instigators(
    instance: dg.DagsterInstance, link_base: str, names: Collection[str] = ()
) -> Iterator[Condition]:
    """A condition for each sensor and schedule whose newest tick failed.

    Only of those that there are now (``names``, all when it is empty) and that nobody has switched off. A
    tick that failed because a source can't be listed is none: that is an incident of the source, told once
    however many sensors and schedules met it.
    """
    for state in instance.all_instigator_state():
        if state.status == InstigatorStatus.STOPPED or (names and state.instigator_name not in names):
            continue
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=1)
        if not ticks or ticks[0].status != TickStatus.FAILURE:
            continue
        error = ticks[0].error
        first = innermost(error) if error else None
        if first is not None and first.cls_name == SourceUnavailable.__name__:
            continue
        sensor = state.instigator_type.value.lower() == "sensor"
        yield Condition(
            kind="sensor" if sensor else "schedule",
            asset="",
            name=state.instigator_name,
            batch="",
            severity="error",
            summary=_one_line(first.message) if first else "its newest tick failed",
            since=ticks[0].timestamp,
            mend="open its page in the UI; the tick shows the error",
            link=f"{link_base}/automation",
        )
