"""When things run by themselves: sources on their own hours, the catch-up at night, the weekly checks."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from chunk_assets.catalog import Catalog, Schedule
from chunk_assets.defs.arrivals import as_written, look, requests
from chunk_assets.defs.evaluation import strategies
from chunk_assets.defs.waiting import remember
from chunk_assets.errors import SourceUnavailable
from chunk_assets.storage.layout import Layout


def schedules(
    catalog: Catalog,
    ingest: Mapping[str, UnresolvedAssetJobDefinition],
    upkeep: Sequence[dg.JobDefinition],
    evaluate: UnresolvedAssetJobDefinition | None = None,
) -> list[dg.ScheduleDefinition]:
    """Every schedule of a home; all of them are on when the home is loaded for the first time.

    A schedule has one job in Dagster, and sources are partitioned differently, so that the nightly
    catch-up is one schedule a source, each with its share of the batches a night.
    """
    share = ceil(catalog.operation.catch_up_batches / len(ingest))
    found = []
    for name, job in ingest.items():
        own = catalog.sources[name].schedule
        if own:
            found.append(_ingest(catalog, name, job, own, "on_time", catalog.operation.catch_up_batches))
        found.append(_ingest(catalog, name, job, catalog.operation.catch_up, "catch_up", share))
    if evaluate is not None:
        found.append(_evaluate(catalog, evaluate))
    times = {"verify": catalog.operation.verify, "prune": catalog.operation.prune}
    return [*found, *(_job(job, times[job.name]) for job in upkeep if job.name in times)]


def _ingest(
    catalog: Catalog, source: str, job: UnresolvedAssetJobDefinition, when: Schedule, why: str, most: int
) -> dg.ScheduleDefinition:
    """Asks for runs on what is stale or failed, oldest first, at most ``most`` at a time."""
    layout = Layout(Path(catalog.home))

    @dg.schedule(
        name=f"{source}_{why}",
        cron_schedule=when.cron,
        execution_timezone=when.timezone,
        target=job,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Runs on batches of {source} that are stale or failed, oldest first, at most {most}.",
    )
    def _schedule(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        now = as_written(catalog)
        if source not in now.sources:
            return dg.SkipReason(f"{source} is not in the catalog any more")
        found = look(now, (source,))
        remember(layout, found, (source,))
        if source in found.problems:
            raise SourceUnavailable(f"{source}: {found.problems[source]}")
        asked = requests(now, context.instance, found, most, why)
        return asked or dg.SkipReason("nothing is stale or failed, or it waits for its next attempt")

    return _schedule


def _job(job: dg.JobDefinition, when: Schedule) -> dg.ScheduleDefinition:
    return dg.ScheduleDefinition(
        name=f"{job.name}_on_time",
        job=job,
        cron_schedule=when.cron,
        execution_timezone=when.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )


def _evaluate(catalog: Catalog, job: UnresolvedAssetJobDefinition) -> dg.ScheduleDefinition:
    @dg.schedule(
        name="evaluate_on_time",
        cron_schedule=catalog.operation.evaluate.cron,
        execution_timezone=catalog.operation.evaluate.timezone,
        target=job,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Measures retrieval of every strategy on the golden questions.",
    )
    def _schedule(_context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        return [dg.RunRequest(partition_key=name) for name in strategies(as_written(catalog))]

    return _schedule
