"""One alert an incident, one notice when it is over, and nothing lost when a delivery fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from chunk_assets.alerts import Condition, Ledger, Target, send_due, targets_from
from chunk_assets.alerts.outcomes import failing_checks, record
from chunk_assets.catalog import Alerts
from chunk_assets.records import Outcome
from chunk_assets.storage.layout import Batch, Layout
from tests.alerts.receiver import receiving

if TYPE_CHECKING:
    from pathlib import Path

FAULT = Condition("check", "notes/chunks", "token_bounds", "notes/b0", "error", "3 of 9 chunks over", 1_000.0)
BATCH = Batch("notes", "b0")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "alerts.json")


def tell(ledger: Ledger, url: str, *conditions: Condition, digest_over: int = 10) -> tuple[int, list[str]]:
    """One tick in a fresh process: the ledger is read from its file again."""
    ledger.save()
    again = Ledger.load(ledger.path)
    again.see(conditions)
    sent = send_due(again, [Target("hook", "webhook", url)], digest_over)
    ledger.incidents, ledger.counts = again.incidents, again.counts
    return sent


def test_a_fault_that_lasts_is_told_once_and_its_end_once(ledger: Ledger) -> None:
    with receiving() as receiver:
        for count in (1, 2, 3):
            tell(ledger, receiver.url, replace(FAULT, count=count))
        tell(ledger, receiver.url)
        tell(ledger, receiver.url)
        told = [(notice["event"], notice["key"]) for notice in receiver.notices]
    key = told[0][1]
    assert told == [("opened", key), ("recovered", f"{key}-over")]
    assert ledger.incidents == {}


def test_the_same_fault_again_is_another_incident_with_another_key(ledger: Ledger) -> None:
    with receiving() as receiver:
        tell(ledger, receiver.url, FAULT)
        tell(ledger, receiver.url)
        tell(ledger, receiver.url, FAULT)
        keys = [notice["key"] for notice in receiver.notices if notice["event"] == "opened"]
    assert len(set(keys)) == 2


def test_a_fault_that_ended_and_began_between_two_looks_is_told_again(ledger: Ledger) -> None:
    with receiving() as receiver:
        tell(ledger, receiver.url, replace(FAULT, serial=1))
        tell(ledger, receiver.url, replace(FAULT, serial=2))
        assert [notice["event"] for notice in receiver.notices] == ["opened", "opened"]


def test_a_delivery_that_fails_is_tried_again_with_the_same_key_and_names_no_secret(ledger: Ledger) -> None:
    with receiving() as receiver:
        receiver.status = 503
        delivered, problems = tell(ledger, receiver.url, FAULT)
        assert (delivered, problems) == (0, ["hook: HTTP 503"])
        key = next(iter(ledger.incidents.values())).key
        receiver.status = 200
        assert tell(ledger, receiver.url, FAULT) == (1, [])
        assert [notice["key"] for notice in receiver.notices] == [key]
    assert "top-secret" not in ledger.path.read_text()


def test_killed_between_sending_and_writing_the_double_has_the_same_key(ledger: Ledger) -> None:
    with receiving() as receiver:
        tell(ledger, receiver.url)
        before = ledger.path.read_bytes()
        ledger.see([FAULT])
        ledger.save()
        after_keys_fixed = ledger.path.read_bytes()
        tell(ledger, receiver.url, FAULT)
        # The process dies before the note of the delivery reaches the disk.
        ledger.path.write_bytes(after_keys_fixed)
        again = Ledger.load(ledger.path)
        again.see([FAULT])
        send_due(again, [Target("hook", "webhook", receiver.url)], 10)
        assert len({notice["key"] for notice in receiver.notices}) == 1
        assert len(receiver.notices) == 2
    assert before != after_keys_fixed


def test_many_at_once_come_as_one_message(ledger: Ledger) -> None:
    faults = [replace(FAULT, batch=f"notes/b{n}") for n in range(5)]
    with receiving() as receiver:
        tell(ledger, receiver.url, *faults, digest_over=3)
        assert [len(body["notices"]) for body in receiver.bodies] == [5]
        assert receiver.bodies[0]["text"].count("token_bounds") == 5


def test_one_target_that_is_down_does_not_keep_the_others_waiting(ledger: Ledger) -> None:
    with receiving() as good, receiving() as bad:
        bad.status = 500
        targets = [Target("bad", "webhook", bad.url), Target("good", "webhook", good.url)]
        ledger.see([FAULT])
        assert send_due(ledger, targets, 10)[0] == 1
        bad.status = 200
        ledger.see([FAULT])
        assert send_due(ledger, targets, 10)[0] == 1
        assert (len(good.notices), len(bad.notices)) == (1, 1)


def test_a_target_that_hangs_comes_last_the_next_time(ledger: Ledger) -> None:
    """Its delivery was begun and never noted: the tick was ended from outside in the middle of it."""
    with receiving() as good, receiving() as hanging:
        order: list[str] = []
        good.heard, hanging.heard = (lambda: order.append("good")), (lambda: order.append("hanging"))
        targets = [Target("hanging", "webhook", hanging.url), Target("good", "webhook", good.url)]
        hanging.status = 503
        for number in range(2):
            ledger.see([replace(FAULT, serial=number)])
            send_due(ledger, targets, 10)
        assert order == ["hanging", "good", "good", "hanging"]
        assert Ledger.load(ledger.path).failing == {"hanging"}
        hanging.status = 200
        send_due(ledger, targets, 10)
        assert Ledger.load(ledger.path).failing == set()


def test_an_incident_that_only_a_removed_target_knew_of_is_forgotten_when_it_is_over(ledger: Ledger) -> None:
    with receiving() as receiver:
        ledger.see([FAULT])
        send_due(ledger, [Target("old", "webhook", receiver.url)], 10)
        ledger.see([])
        send_due(ledger, [], 10)  # no target at all may be a mistake: nothing is forgotten
        assert len(ledger.incidents) == 1
        send_due(ledger, [Target("new", "webhook", receiver.url)], 10)
        assert ledger.incidents == {}


def test_two_homes_with_sources_of_the_same_name_have_different_keys(tmp_path: Path) -> None:
    keys = set()
    for name in ("one", "two"):
        ledger = Ledger(tmp_path / name / "ledger.json")
        ledger.see([FAULT])
        keys.update(incident.key for incident in ledger.incidents.values())
    assert len(keys) == 2


def test_apprise_delivers_to_the_addresses_of_the_environment(ledger: Ledger) -> None:
    with receiving() as receiver:
        port = receiver.server_address[1]
        addresses = {"CHUNK_ASSETS_ALERT_URLS": f"json://127.0.0.1:{port}/", "OTHER": "x"}
        (target,) = targets_from(Alerts(), addresses)
        receiver.bodies.clear()
        ledger.see([FAULT])
        delivered, problems = send_due(ledger, [target], 10)
        assert (delivered, problems) == (1, [])
        body = receiver.bodies[0]
    assert "token_bounds" in body["title"] + body["message"]
    assert "127.0.0.1" not in target.name


def verdict(passed: bool, name: str = "token_bounds") -> Outcome:
    examples = () if passed else ({"document_id": "a", "page": "3", "what": "600 tokens"},)
    return Outcome(name, "chunks", passed, "error", "summary", examples=examples)


def test_verdicts_keep_since_when_a_check_fails_and_how_often(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    for run, (passed, now) in enumerate([(True, 10.0), (False, 20.0), (False, 30.0)]):
        record(layout, BATCH, [verdict(passed)], f"run-{run}", now)
    (condition,) = failing_checks(layout, "http://ui", ("error",))
    assert (condition.since, condition.count, condition.serial) == (20.0, 2, 1)
    assert condition.example == "a, page 3: 600 tokens"
    assert condition.link == "http://ui/runs/run-2"
    record(layout, BATCH, [verdict(True)], "run-3", 40.0)
    assert list(failing_checks(layout, "", ("error",))) == []


def test_a_run_that_stopped_early_is_a_fault_of_its_batch_until_one_completes(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    record(layout, BATCH, [], "run-1", 1.0, stopped="the embedder is down")
    (condition,) = failing_checks(layout, "", ("error",))
    assert (condition.kind, condition.summary) == ("run", "the embedder is down")
    record(layout, BATCH, [], "run-2", 2.0)
    assert list(failing_checks(layout, "", ("error",))) == []


def test_one_good_batch_does_not_hide_a_failing_one(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    record(layout, BATCH, [verdict(False)], "run-1", 1.0)
    record(layout, Batch("notes", "b1"), [verdict(True)], "run-2", 2.0)
    assert [condition.batch for condition in failing_checks(layout, "", ("error",))] == ["notes/b0"]
