"""Arrivals and alerts: what came, what went wrong."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from chunk_assets.alerts import Condition, Ledger, ledger_file, send_due, targets_from
from chunk_assets.alerts.outcomes import failing_checks
from chunk_assets.catalog import Catalog
from chunk_assets.defs.arrivals import as_written, look, requests
from chunk_assets.defs.evaluation import evaluations_due, has_golden_set
from chunk_assets.defs.freshness import report_freshness
from chunk_assets.defs.incidents import failed_instigators, failed_runs
from chunk_assets.defs.pruning import end_dead_runs
from chunk_assets.defs.summary import Summaries
from chunk_assets.defs.waiting import late_sources, missing_sources, remember
from chunk_assets.errors import SourceUnavailable
from chunk_assets.storage.layout import Layout
from chunk_assets.storage.remote import StoreUnavailable, bring_up_to_date, learn_what_is_published

SEVERITIES = {"warn": ("warn", "error"), "error": ("error",)}


def arrivals_sensor(catalog: Catalog, jobs: Sequence[UnresolvedAssetJobDefinition]) -> dg.SensorDefinition:
    """Looks at all sources and asks for runs on just the batches with something to do."""
    layout = Layout(Path(catalog.home))

    @dg.sensor(
        name="arrivals",
        jobs=jobs,
        minimum_interval_seconds=catalog.operation.sensor_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Lists the sources and asks for a run on each batch that has something to do.",
    )
    def _arrivals(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        now = as_written(catalog)
        for run_id in end_dead_runs(context.instance, layout, time.time()):
            context.log.warning("run %s had no process any more; it was ended", run_id)
        found = look(now)
        remember(layout, found, now.sources)
        for name, what in found.problems.items():
            context.log.error("source %s can't be listed: %s", name, what)
        asked = requests(now, context.instance, found, now.operation.sensor_batches, "arrivals")
        if has_golden_set(now):
            asked += evaluations_due(now, context.instance)
        if asked:
            return dg.SensorResult(run_requests=asked)
        if found.problems:
            raise SourceUnavailable("; ".join(f"{name}: {what}" for name, what in found.problems.items()))
        waiting = (
            f"{len(found.todo)} batches wait for a run or a retry"
            if found.todo
            else "all batches are current"
        )
        return dg.SkipReason(waiting)

    return _arrivals


def alerts_sensor(catalog: Catalog) -> dg.SensorDefinition:
    """Tells the targets of the environment what began to be wrong, and what is over."""
    layout = Layout(Path(catalog.home))
    settings = catalog.alerts
    summaries = Summaries(catalog)

    @dg.sensor(
        name="alerts",
        target=None,
        minimum_interval_seconds=catalog.operation.sensor_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="One alert for each incident, one notice when it is over; deliveries are written down.",
    )
    def _alerts(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        with suppress(StoreUnavailable):  # the arrivals sensor fails for that, which is told below
            learn_what_is_published(catalog.home)
        ledger = Ledger.load(ledger_file(catalog.home))
        conditions, unknown, problems = _looked(_views(context, catalog, layout, ledger))
        ledger.see(conditions, unknown)
        targets = targets_from(settings, os.environ)
        delivered, refused = send_due(ledger, targets, settings.digest_over)
        for problem in refused:
            context.log.error("not delivered, will be tried again: %s", problem)
        # What is shown comes last, so that no fault of it keeps an alert from being sent.
        bring_up_to_date(catalog.home)
        summaries.report(context.instance, catalog)
        report_freshness(context.instance, layout, catalog)
        if problems:
            raise dg.Failure("; ".join(problems))
        still = (
            f"{len(ledger.incidents)} incidents open, {delivered} notices delivered to {len(targets)} targets"
        )
        return dg.SkipReason(still)

    return _alerts


View = Callable[[], Iterable[Condition]]


def _views(
    context: dg.SensorEvaluationContext, catalog: Catalog, layout: Layout, ledger: Ledger
) -> list[tuple[tuple[str, ...], View]]:
    """Where conditions come from, each with the kinds of incidents that it knows of."""
    link = catalog.alerts.link_base
    severities = SEVERITIES[catalog.alerts.severity]
    repository = context.repository_def
    sensors, schedules = (repository.sensor_defs, repository.schedule_defs) if repository else ((), ())
    names = {sensor.name for sensor in sensors} | {schedule.name for schedule in schedules}
    open_now = [i.condition for i in ledger.incidents.values() if i.condition.kind == "run" and not i.over]
    return [
        (("check", "budget", "run"), lambda: failing_checks(layout, link, severities)),
        (("run",), lambda: failed_runs(context.instance, layout, link, open_now)),
        (("sensor", "schedule"), lambda: failed_instigators(context.instance, link, names)),
        (("freshness",), lambda: late_sources(layout, catalog)),
        (("source",), lambda: missing_sources(layout)),
    ]


def _looked(
    views: Iterable[tuple[tuple[str, ...], View]],
) -> tuple[list[Condition], set[str], list[str]]:
    """All conditions, the kinds that could not be looked at, and why; one broken view stops no other."""
    conditions: list[Condition] = []
    unknown: set[str] = set()
    problems = []
    for kinds, view in views:
        try:
            conditions += view()
        except Exception as error:  # noqa: BLE001 - whatever it is, the other alerts must go out
            unknown.update(kinds)
            problems.append(f"{', '.join(kinds)}: {type(error).__name__}: {error}")
    return conditions, unknown, problems
