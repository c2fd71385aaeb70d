"""The SQLite files of an instance: one for the events of all runs, written by many processes at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage

from chunk_assets.defs.home import INSTANCE_FOLDER, open_instance
from chunk_assets.defs.sqlite import HomeEvents

if TYPE_CHECKING:
    from pathlib import Path

WRITERS, EVENTS = 3, 40
# Forked before anything is opened, in a process without threads: six imports of Dagster would take longer.
WRITER = """
import os, sys
import dagster as dg
from chunk_assets.defs.home import open_instance

home, writers, events = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
number = next((n for n in range(writers) if os.fork() == 0), None)
if number is None:
    sys.exit(sum(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(writers)))
with open_instance(home) as instance:
    for _ in range(events):
        instance.report_runless_asset_event(dg.AssetMaterialization(f"writer_{number}"))
"""
FORKED = """
import os, sys
import dagster as dg
from chunk_assets.defs.home import open_instance

with open_instance(sys.argv[1]) as instance:
    instance.report_runless_asset_event(dg.AssetMaterialization("parent"))
    if os.fork() == 0:
        instance.report_runless_asset_event(dg.AssetMaterialization("child"))
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.wait()[1])
    instance.report_runless_asset_event(dg.AssetMaterialization("parent"))
sys.exit(code)
"""


def elsewhere(code: str, *arguments: object) -> None:
    """Runs code in a process of its own."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr


def materialized(instance: dg.DagsterInstance, name: str) -> int:
    return len(instance.fetch_materializations(dg.AssetKey(name), limit=10_000).records)


def report(instance: dg.DagsterInstance, name: str) -> None:
    instance.report_runless_asset_event(dg.AssetMaterialization(name))


def test_many_processes_write_to_a_new_home_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    """They also create the databases together, as web server, daemon and code server do."""
    elsewhere(WRITER, tmp_path, WRITERS, EVENTS)
    with open_instance(tmp_path) as instance:
        assert [materialized(instance, f"writer_{n}") for n in range(WRITERS)] == [EVENTS] * WRITERS


def test_a_run_leaves_no_file_of_its_own(home: Path, instance: dg.DagsterInstance) -> None:
    run = instance.create_run(**RUN)
    instance.report_engine_event("started", run)
    assert len(instance.all_logs(run.run_id)) == 1
    files = {path.name for path in (home / INSTANCE_FOLDER / "history/runs").iterdir()}
    assert files <= {"index.db", "index.db-wal", "index.db-shm"}


RUN: dict[str, object] = {
    "job_name": "job",
    "run_id": None,
    "run_config": {},
    "status": dg.DagsterRunStatus.STARTED,
    "tags": {},
    "root_run_id": None,
    "parent_run_id": None,
    "step_keys_to_execute": None,
    "execution_plan_snapshot": None,
    "job_snapshot": None,
    "parent_job_snapshot": None,
    "asset_selection": None,
    "asset_check_selection": None,
    "resolved_op_selection": None,
    "op_selection": None,
    "remote_job_origin": None,
    "job_code_origin": None,
    "asset_graph": None,
}


def test_a_page_that_watches_a_run_hears_of_each_event(instance: dg.DagsterInstance) -> None:
    run = instance.create_run(**RUN)
    heard: list[str] = []
    enough = threading.Event()

    def hear(entry: dg.EventLogEntry, _cursor: str) -> None:
        heard.append(entry.dagster_event.message if entry.dagster_event else "")
        if len(heard) == 3:
            enough.set()

    instance.watch_event_logs(run.run_id, None, hear)
    for number in range(3):
        instance.report_engine_event(f"step {number}", run)
    assert enough.wait(20)
    instance.end_watch_event_logs(run.run_id, hear)
    assert heard == ["step 0", "step 1", "step 2"]


def test_a_home_from_before_shows_its_assets_still(tmp_path: Path) -> None:
    """Dagster's own layout has the events of assets in one file and those of each run in another."""
    folder = tmp_path / INSTANCE_FOLDER
    folder.mkdir()
    with dg.instance_for_test(temp_dir=str(folder), overrides=storage(folder)) as before:
        assert isinstance(before.event_log_storage, SqliteEventLogStorage)
        report(before, "old")
    with open_instance(tmp_path) as instance:
        assert isinstance(instance.event_log_storage, HomeEvents)
        report(instance, "old")
        assert materialized(instance, "old") == 2


def storage(folder: Path) -> dict[str, object]:
    return {"storage": {"sqlite": {"base_dir": str(folder)}}}


def test_a_forked_process_has_connections_of_its_own(home: Path, instance: dg.DagsterInstance) -> None:
    elsewhere(FORKED, home)
    assert (materialized(instance, "parent"), materialized(instance, "child")) == (2, 1)
