"""The promise of freshness: kept or missed by source, told once, and a check of its own."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import dagster as dg

from chunk_assets.defs.freshness import freshness_key
from tests.defs.running import QUIET, daemon_tick, definitions, execute, tick
from tests.doors.conftest import note

if TYPE_CHECKING:
    from pathlib import Path

    from tests.alerts.receiver import Receiver

FRESH = "  notes:\n    freshness: {within_hours: 2}\n"
HOURS = 3600.0


def told(receiver: Receiver) -> list[tuple[str, str, str]]:
    return [(n["event"], n["kind"], n["name"]) for n in receiver.notices]


def promise(home: Path) -> None:
    """``notes`` are promised to be searchable within two hours."""
    catalog = home / "sources.yaml"
    catalog.write_text(catalog.read_text().replace("  notes:\n", FRESH))


def pass_time(home: Path, hours: float) -> None:
    """What a look wrote down is so much older; the clock itself can't be moved."""
    path = home / "alerts/arrivals.json"
    value = json.loads(path.read_text())
    for row in value["waiting"].values():
        row["seen"] = [[digest, seen - hours * HOURS] for digest, seen in row["seen"]]
    stat = path.stat()
    path.write_text(json.dumps(value))
    os.utime(path, (stat.st_atime, stat.st_mtime))


def freshness(instance: dg.DagsterInstance, source: str) -> dict[str, Any]:
    """The newest verdict on the freshness of a source, as the UI shows it."""
    key = freshness_key(source)
    record = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert record.event is not None
    evaluation = record.event.dagster_event.asset_check_evaluation_data
    return {"passed": evaluation.passed, "words": evaluation.description}


def test_a_missed_promise_of_freshness_is_told_for_its_source_and_closed_when_it_is_kept_again(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    promise(home)
    tick(home, instance, "arrivals")
    tick(home, instance, "alerts")
    assert freshness(instance, "notes")["passed"]
    pass_time(home, 2.5)
    for _ in range(2):
        daemon_tick(home, instance, "arrivals")
        daemon_tick(home, instance, "alerts")
    assert told(receiver) == [("opened", "freshness", "searchable_in_time")]
    alert = receiver.notices[0]
    assert (alert["asset"], alert["count"]) == ("notes/embeddings", 1)  # filings promise nothing
    assert "2.5 h; promised within 2 h" in alert["summary"]
    assert alert["example"].startswith("notes/bucket-0 since ")
    verdict = freshness(instance, "notes")
    assert not verdict["passed"]
    assert "notes/bucket-0" in verdict["words"]

    assert execute(home, instance, "notes", "bucket-0").success
    for _ in range(2):
        daemon_tick(home, instance, "arrivals")
        daemon_tick(home, instance, "alerts")
    assert told(receiver)[1:] == [("recovered", "freshness", "searchable_in_time")]
    assert freshness(instance, "notes")["passed"]


def test_the_check_of_freshness_can_be_run_alone_and_is_no_part_of_a_run_on_a_batch(
    home: Path, instance: dg.DagsterInstance
) -> None:
    promise(home)
    checks = execute(home, instance, "notes", "bucket-0").get_asset_check_evaluations()
    assert len(checks) > 10
    assert "searchable_in_time" not in {check.check_name for check in checks}
    chosen = dg.AssetSelection.checks(freshness_key("notes"))
    job = dg.define_asset_job("alone", selection=chosen)
    found = dg.Definitions.merge(definitions(home), dg.Definitions(jobs=[job])).resolve_job_def("alone")
    (check,) = found.execute_in_process(instance=instance, run_config=QUIET).get_asset_check_evaluations()
    assert (check.check_name, check.passed) == ("searchable_in_time", True)


def test_a_source_in_which_something_arrives_all_the_time_is_not_late_while_each_document_is_quick(
    home: Path, instance: dg.DagsterInstance
) -> None:
    promise(home)
    for number in range(3):
        (home / f"notes/flow{number}.md").write_text(note(f"flow {number}"))
        tick(home, instance, "arrivals")  # sees it
        assert execute(home, instance, "notes", "bucket-0").success
        (home / f"notes/next{number}.md").write_text(note(f"next {number}"))
        tick(home, instance, "arrivals")  # never sees the batch without work
        pass_time(home, 1.5)
    tick(home, instance, "alerts")
    assert freshness(instance, "notes")["passed"]


def test_a_source_that_nobody_looks_at_any_more_is_late(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    promise(home)
    assert execute(home, instance, "notes", "bucket-0").success
    tick(home, instance, "arrivals")
    long_ago = time.time() - 3 * HOURS
    os.utime(home / "alerts/arrivals.json", (long_ago, long_ago))
    tick(home, instance, "alerts")
    assert "nobody has looked for new documents for 3.0 h" in receiver.notices[0]["summary"]
    tick(home, instance, "arrivals")
    tick(home, instance, "alerts")
    assert [n["event"] for n in receiver.notices] == ["opened", "recovered"]


def test_a_changed_policy_is_no_missed_promise(home: Path, instance: dg.DagsterInstance) -> None:
    promise(home)
    assert execute(home, instance, "notes", "bucket-0").success
    catalog = home / "sources.yaml"
    catalog.write_text(catalog.read_text() + "policy: sentence_window\n")
    tick(home, instance, "arrivals")
    pass_time(home, 5)
    tick(home, instance, "alerts")
    assert freshness(instance, "notes")["passed"]
