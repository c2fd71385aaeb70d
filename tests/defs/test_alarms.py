"""Every kind of fault is told once, counted while it lasts, and closed by one notice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.scheduler.instigation import TickStatus

from chunk_assets.alerts.outcomes import record
from chunk_assets.defs.places import BATCH_TAG
from chunk_assets.defs.session import BUDGET_TAG
from chunk_assets.storage.layout import Batch, Layout
from tests.defs.running import QUIET, daemon_tick, definitions, execute, tick
from tests.doors.conftest import call, note

if TYPE_CHECKING:
    from pathlib import Path

    from tests.alerts.receiver import Receiver


def told(receiver: Receiver) -> list[tuple[str, str, str]]:
    return [(n["event"], n["kind"], n["name"]) for n in receiver.notices]


def test_a_source_that_cannot_be_listed_is_one_incident_however_many_ticks_meet_it(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    (home / "notes").rename(home / "unmounted")
    for name in ("arrivals", "arrivals", "notes_catch_up", "alerts", "arrivals", "notes_catch_up", "alerts"):
        daemon_tick(home, instance, name)
    assert daemon_tick(home, instance, "notes_catch_up") == TickStatus.FAILURE
    assert told(receiver) == [("opened", "source", "listed")]
    (home / "unmounted").rename(home / "notes")
    for name in ("arrivals", "notes_catch_up", "alerts", "alerts"):
        daemon_tick(home, instance, name)
    assert told(receiver)[1:] == [("recovered", "source", "listed")]


@pytest.mark.parametrize(("name", "kind"), [("arrivals", "sensor"), ("filings_catch_up", "schedule")])
def test_a_sensor_or_schedule_that_fails_is_told_once(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver, name: str, kind: str
) -> None:
    catalog = home / "sources.yaml"
    good = catalog.read_text()
    loaded = definitions(home)  # a daemon has its definitions from before the file was spoilt

    def ticks() -> None:
        for one in (name, name):
            daemon_tick(home, instance, one, loaded)
        for _ in range(2):
            daemon_tick(home, instance, "alerts", loaded)

    catalog.write_text(good + "nonsense: 1\n")
    ticks()
    assert told(receiver) == [("opened", kind, name)]
    assert "nonsense" in receiver.notices[0]["summary"]
    assert receiver.notices[0]["link"].endswith("/automation")
    catalog.write_text(good)
    ticks()
    assert told(receiver)[1:] == [("recovered", kind, name)]


def test_a_run_whose_process_died_is_told_and_closed_by_the_next_one(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    run = instance.create_run_for_job(
        definitions(home).resolve_job_def("ingest_notes"),
        status=dg.DagsterRunStatus.STARTED,
        tags={BATCH_TAG: "notes/bucket-0"},
    )
    instance.report_run_failed(run, "its process is gone")
    for _ in range(2):
        tick(home, instance, "alerts")
    assert told(receiver) == [("opened", "run", "run_alive")]
    assert receiver.notices[0]["batch"] == "notes/bucket-0"
    assert execute(home, instance, "notes", "bucket-0").success
    for _ in range(2):
        tick(home, instance, "alerts")
    assert told(receiver)[1:] == [("recovered", "run", "run_alive")]


def test_a_job_of_the_whole_home_that_fails_says_why(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    assert execute(home, instance, "notes", "bucket-0").success
    part = home / "tables/chunks/source=notes/slice=bucket-0/part-0.parquet"
    part.write_bytes(part.read_bytes()[:-9] + b"nonsense!")
    catalog = home / "sources.yaml"
    catalog.write_text(catalog.read_text() + "operation: {verify_share: 1.0}\n")
    job = definitions(home).resolve_job_def("verify")
    job.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
    tick(home, instance, "alerts")
    runs = [n for n in receiver.notices if n["kind"] == "run"]
    assert [(n["event"], n["name"], n["batch"]) for n in runs] == [("opened", "run_succeeds", "verify")]
    assert "chunks" in runs[0]["summary"]


def test_a_fault_that_nobody_foresaw_is_a_fault_of_its_batch(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    """Something that is neither a bad document nor a reason of ours: a folder where a file should be."""
    assert execute(home, instance, "notes", "bucket-0").success
    (home / "notes/new.md").write_text(note("ferries"))
    (vectors,) = (home / "vectors").glob("*")
    spoil(vectors)
    assert not execute(home, instance, "notes", "bucket-0").success
    for _ in range(2):
        tick(home, instance, "alerts")
    (alert,) = receiver.notices
    assert (alert["event"], alert["kind"], alert["name"]) == ("opened", "run", "run_completed")
    assert alert["batch"] == "notes/bucket-0"


def spoil(folder: Path) -> None:
    """Every file of a vector store becomes a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            path.unlink()
            path.mkdir()


def test_a_tripped_guard_and_a_budget_are_told_once_and_closed(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    assert not execute(home, instance, "filings", "2026-01", **{BUDGET_TAG: "1"}).success
    assert execute(home, instance, "notes", "bucket-0").success
    kept = {path: path.read_text() for path in (home / "notes").glob("*.md")}
    for path in kept:
        path.unlink()
    assert not execute(home, instance, "notes", "bucket-0").success
    for _ in range(2):
        tick(home, instance, "alerts")
    opened = {(n["kind"], n["name"], n["batch"]) for n in receiver.notices}
    assert opened >= {
        ("check", "deletions_within_bounds", "notes/bucket-0"),
        ("budget", "budget_kept", "filings/2026-01"),
    }
    assert len(receiver.notices) == len(opened)
    for path, text in kept.items():
        path.write_text(text)
    assert execute(home, instance, "notes", "bucket-0").success
    assert execute(home, instance, "filings", "2026-01").success
    for _ in range(2):
        tick(home, instance, "alerts")
    assert {n["event"] for n in receiver.notices[len(opened) :]} == {"recovered"}
    assert len(receiver.notices) == 2 * len(opened)


GOLDEN = """\
name: golden
root: ../notes
documents: [{file: leases.md}, {file: grain.md}]
questions:
- {id: q1, document: leases.md, question: "Leases?", any: [{quote: "on leases in part 1 covers intake"}]}
- {id: q2, document: grain.md, question: "Grain?", any: [{quote: "on grain in part 2 covers intake"}]}
"""


def test_retrieval_under_its_floor_and_its_baseline_is_told_once_and_closed(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    """The documents grow, so that what was among the first five chunks is lost among fifty others."""
    (home / "golden").mkdir()
    (home / "golden/questions.yaml").write_text(GOLDEN)
    keep = ("--save-baseline", str(home / "golden/baseline.json"))
    assert call("evaluate", "--home", str(home), "-s", "auto", "-e", "hash", *keep, "--quiet").code == 0

    def measure(parts: int) -> None:
        for name in ("leases", "grain"):
            (home / f"notes/{name}.md").write_text(note(name, parts))
        job = definitions(home).resolve_job_def("evaluate")
        assert job.execute_in_process(partition_key="auto", instance=instance, run_config=QUIET).success
        for _ in range(2):
            tick(home, instance, "alerts")

    measure(60)
    failed = {("opened", "check", "retrieval_floor"), ("opened", "check", "retrieval_regression")}
    assert set(told(receiver)) == failed
    assert len(receiver.notices) == 2
    assert {(n["asset"], n["batch"]) for n in receiver.notices} == {
        ("retrieval_evaluation", "retrieval_evaluation/auto")
    }
    measure(4)
    assert {event for event, _, _ in told(receiver)[2:]} == {"recovered"}
    assert len(receiver.notices) == 4


def test_many_faults_at_once_come_as_one_message_of_bounded_length(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    for number in range(250):
        batch = Batch("notes", f"bucket-{number}")
        record(Layout(home), batch, [], f"run-{number}", time.time(), stopped="the embedder is down")
    tick(home, instance, "alerts")
    assert [len(body["notices"]) for body in receiver.bodies] == [200, 50]
    assert "and 180 more" in receiver.bodies[0]["text"]
    tick(home, instance, "alerts")
    assert len(receiver.bodies) == 2


def test_a_broken_view_keeps_no_other_alert_from_being_sent(
    home: Path, instance: dg.DagsterInstance, receiver: Receiver
) -> None:
    """The notes of what waits can't be read: the other faults are told, and the tick shows its own."""
    (home / "notes/bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    execute(home, instance, "notes", "bucket-0")
    (home / "alerts").mkdir(exist_ok=True)
    (home / "alerts/arrivals.json").write_text("{")
    assert daemon_tick(home, instance, "alerts") == TickStatus.FAILURE
    assert told(receiver) == [("opened", "check", "documents_readable")]
