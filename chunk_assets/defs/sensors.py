"""Arrivals and alerts: what came, what went wrong."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from chunk_assets.alerts import Ledger, ledger_file, send_due, targets_from
from chunk_assets.alerts.outcomes import failing_checks
from chunk_assets.catalog import Catalog
from chunk_assets.defs.arrivals import as_written, look, requests
from chunk_assets.defs.evaluation import evaluations_due, has_golden_set
from chunk_assets.defs.incidents import failed_instigators, failed_runs
from chunk_assets.defs.pruning import end_dead_runs
from chunk_assets.defs.summary import Summaries
from chunk_assets.defs.waiting import late_batches, missing_sources, remember
from chunk_assets.storage.layout import Layout

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
            raise dg.Failure("; ".join(f"{name}: {what}" for name, what in found.problems.items()))
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
        summaries.report(context.instance, catalog)
        ledger = Ledger.load(ledger_file(catalog.home))
        ledger.see(
            [
                *failing_checks(layout, settings.link_base, SEVERITIES[settings.severity]),
                *failed_runs(context.instance, layout, settings.link_base),
                *failed_instigators(context.instance, settings.link_base),
                *late_batches(layout, catalog),
                *missing_sources(layout),
            ]
        )
        targets = targets_from(settings, os.environ)
        delivered, problems = send_due(ledger, targets, settings.digest_over)
        for problem in problems:
            context.log.error("not delivered, will be tried again: %s", problem)
        still = (
            f"{len(ledger.incidents)} incidents open, {delivered} notices delivered to {len(targets)} targets"
        )
        return dg.SkipReason(still)

    return _alerts
