"""Runs and ticks in the test's own process, as the UI, a sensor and the daemon start them."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import dagster as dg
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import (
    InProcessCodeLocationOrigin,
    RemoteInstigatorOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    ScheduleInstigatorData,
    SensorInstigatorData,
    TickData,
    TickStatus,
)
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._utils.error import serializable_error_info_from_exc_info

from chunk_assets.catalog import load_catalog
from chunk_assets.defs.build import build_definitions
from chunk_assets.defs.jobs import job_name
from chunk_assets.defs.places import BATCH_TAG
from chunk_assets.defs.session import options_from
from chunk_assets.pipeline import Session

if TYPE_CHECKING:
    from pathlib import Path

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def definitions(home: Path) -> dg.Definitions:
    return build_definitions(load_catalog(home))


def execute(
    home: Path, instance: dg.DagsterInstance, source: str, key: str, job: str = "ingest", **tags: str
) -> dg.ExecuteInProcessResult:
    """A run as the UI or a sensor starts it; conversion in a thread, which starts faster than a process."""
    labels = {BATCH_TAG: f"{source}/{key}", **tags}
    with ThreadPoolExecutor(1) as threads:
        options = replace(options_from(labels, ""), executor=threads)
        catalog = load_catalog(home)
        found = build_definitions(catalog, Session(catalog, options)).resolve_job_def(job_name(job, source))
        return found.execute_in_process(
            partition_key=key, instance=instance, raise_on_error=False, run_config=QUIET, tags=labels
        )


def tick(home: Path, instance: dg.DagsterInstance, name: str) -> Any:
    """One evaluation of a sensor, as the daemon does it."""
    defs = definitions(home)
    repository = defs.get_repository_def()
    with dg.build_sensor_context(instance=instance, repository_def=repository) as context:
        return repository.get_sensor_def(name).evaluate_tick(context)


def run_requested(home: Path, instance: dg.DagsterInstance) -> list[str]:
    """Ticks the arrivals sensor and runs what it asks for; gives the batches."""
    asked = tick(home, instance, "arrivals").run_requests or []
    for request in asked:
        source, key = request.tags[BATCH_TAG].split("/")
        execute(home, instance, source, key, **request.tags)
    return sorted(request.tags[BATCH_TAG] for request in asked)


def daemon_tick(
    home: Path, instance: dg.DagsterInstance, name: str, loaded: dg.Definitions | None = None
) -> TickStatus:
    """One tick of a sensor or schedule, with what the daemon writes down of it; runs are not launched."""
    repository = (loaded or definitions(home)).get_repository_def()
    is_sensor = repository.has_sensor_def(name)
    status, error = TickStatus.SKIPPED, None
    try:
        if is_sensor:
            with dg.build_sensor_context(instance=instance, repository_def=repository) as context:
                repository.get_sensor_def(name).evaluate_tick(context)
        else:
            with dg.build_schedule_context(
                instance=instance,
                repository_def=repository,
                scheduled_execution_time=datetime.now(UTC),
            ) as when:
                repository.get_schedule_def(name).evaluate_tick(when)
    except Exception:  # noqa: BLE001 - as the daemon does: whatever a tick raises is kept with it
        status, error = TickStatus.FAILURE, serializable_error_info_from_exc_info(sys.exc_info())
    state = _instigator(instance, name, is_sensor)
    tick = TickData(
        state.instigator_origin_id,
        name,
        state.instigator_type,
        status,
        time.time(),
        selector_id=state.selector_id,
        error=error,
    )
    instance.create_tick(tick)
    return status


def _instigator(instance: dg.DagsterInstance, name: str, is_sensor: bool) -> InstigatorState:
    target = LoadableTargetOrigin(executable_path=sys.executable, module_name="chunk_assets.definitions")
    location = InProcessCodeLocationOrigin(target, location_name="home")
    origin = RemoteInstigatorOrigin(RemoteRepositoryOrigin(location, "__repository__"), name)
    known = instance.get_instigator_state(origin.get_id(), origin.get_selector().get_id())
    if known is not None:
        return known
    kind = InstigatorType.SENSOR if is_sensor else InstigatorType.SCHEDULE
    data = SensorInstigatorData() if is_sensor else ScheduleInstigatorData(cron_schedule="0 0 * * *")
    return instance.add_instigator_state(
        InstigatorState(origin, kind, InstigatorStatus.DECLARED_IN_CODE, data)
    )
