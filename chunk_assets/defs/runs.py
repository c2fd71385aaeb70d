"""Running batches in this process, against the home's Dagster instance, so that the UI shows the runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError
from dagster_shared.error import SerializableErrorInfo

from chunk_assets.defs.asset_checks import blocking
from chunk_assets.defs.build import build_definitions
from chunk_assets.defs.jobs import job_name
from chunk_assets.defs.partitions import partitions_of
from chunk_assets.defs.places import BATCH_TAG
from chunk_assets.defs.session import BatchRun
from chunk_assets.errors import StopRun
from chunk_assets.pipeline import Batch, Session, StageReport
from chunk_assets.pipeline.reports import PublishReport
from chunk_assets.records import Outcome

# Dagster's own log of a run goes to its instance; on the terminal it would drown everything else.
SILENT: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
# What Dagster makes of Ctrl-C while a step runs: an error of that step.
INTERRUPTED = DagsterExecutionInterruptedError.__name__


class Crashed(StopRun):
    """A run failed for a reason that nobody foresaw."""

    exit_code = 1


@dataclass(slots=True)
class Ran:
    """What one run did. ``error`` is why it ended early: a reason of ours, or a fault that is a bug."""

    batch: Batch
    run_id: str = ""
    success: bool = False
    stages: list[StageReport] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    published: PublishReport | None = None
    error: StopRun | None = None


def run_batches(
    session: Session,
    batches: Iterable[Batch],
    instance: dg.DagsterInstance,
    *,
    job: str = "ingest",
    tags: Mapping[str, str] | None = None,
    started: Callable[[Batch], None] = lambda _: None,
) -> Iterator[Ran]:
    """Runs ``job`` on each batch, one after the other; a batch that fails does not stop the next.

    The session's model, listings and worker processes are shared by all of them.
    """
    finished: list[BatchRun] = []
    definitions = build_definitions(session.catalog, session, finished.append)
    for batch in batches:
        started(batch)
        finished.clear()
        labels = {**(tags or {}), BATCH_TAG: str(batch)}
        yield _run(definitions, batch, instance, job, labels, finished)


def _run(
    definitions: dg.Definitions,
    batch: Batch,
    instance: dg.DagsterInstance,
    job: str,
    labels: dict[str, str],
    finished: list[BatchRun],
) -> Ran:
    result = definitions.resolve_job_def(job_name(job, batch.source)).execute_in_process(
        partition_key=batch.slice,
        instance=instance,
        raise_on_error=False,
        run_config=SILENT,
        tags=labels,
    )
    run = finished[-1] if finished else None
    ran = Ran(batch, result.run_id, result.success)
    if run is not None:
        ran.stages, ran.outcomes = run.reports, run.outcomes
        ran.published, ran.error = run.published, run.stopped
    if not result.success and ran.error is None and not blocking(ran.outcomes):
        error = _failure(result)
        if error is not None and error.cls_name == INTERRUPTED:
            raise KeyboardInterrupt
        what = error.message if error is not None else "the run failed before any step"
        ran.error = Crashed(" ".join(what.split()))
    return ran


def _failure(result: dg.ExecuteInProcessResult) -> SerializableErrorInfo | None:
    """The innermost error of the first step that failed."""
    for event in result.all_events:
        error: SerializableErrorInfo | None = getattr(event.event_specific_data, "error", None)
        while error is not None and error.cause is not None:
            error = error.cause
        if error is not None:
            return error
    return None


def has_partition(session: Session, batch: Batch) -> bool:
    """Whether the slice of a batch is a partition now; that of a document dated in the future is not yet."""
    return partitions_of(session.catalog.source(batch.source)).has_partition_key(batch.slice)
