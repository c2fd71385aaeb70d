"""What an operator sees of the home as a whole: the summary, evaluations, and runs that people start."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow.parquet as pq

from chunk_assets.alerts.outcomes import failing_checks
from chunk_assets.catalog import load_catalog
from chunk_assets.defs.evaluation import KEY as EVALUATION
from chunk_assets.defs.places import BATCH_TAG, batches_of, busy_batches
from chunk_assets.defs.pruning import end_dead_runs
from chunk_assets.defs.session import BUDGET_TAG
from chunk_assets.defs.summary import KEY as SUMMARY
from chunk_assets.defs.summary import Summaries
from chunk_assets.pipeline import Batch
from chunk_assets.storage.layout import Layout
from chunk_assets.storage.locks import hold
from tests.defs.running import QUIET, definitions, execute, tick

if TYPE_CHECKING:
    from pathlib import Path


GOLDEN = """\
name: golden
root: ../notes
documents: [{file: leases.md}, {file: grain.md}]
questions:
- {id: q1, document: leases.md, question: "What does work on leases cover?",
   any: [{quote: "Our work on leases in part 1 covers intake, storage and release."}]}
- {id: q2, document: grain.md, question: "Who signs the steps for grain?",
   any: [{quote: "Our work on grain in part 2 covers intake, storage and release."}]}
"""


def checks_of_summary(instance: dg.DagsterInstance) -> dict[str, bool]:
    keys = [dg.AssetCheckKey(SUMMARY, name) for name in ("every_check_passes", "every_source_is_listed")]
    found = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    return {key.name: record.status.value == "SUCCEEDED" for key, record in found.items()}


def test_the_summary_shows_which_batch_fails_which_check_although_others_are_green(
    home: Path, instance: dg.DagsterInstance
) -> None:
    (home / "notes/bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    execute(home, instance, "filings", "2026-01")
    execute(home, instance, "notes", "bucket-0")
    execute(home, instance, "filings", "2026-02")
    tick(home, instance, "alerts")
    shown = instance.fetch_materializations(SUMMARY, limit=10).records
    metadata = shown[0].asset_materialization.metadata
    (row,) = [record.data for record in metadata["what is wrong"].records]
    assert (row["batch"], row["check"], row["severity"]) == ("notes/bucket-0", "documents_readable", "warn")
    sources = {record.data["source"]: record.data for record in metadata["sources"].records}
    assert (sources["notes"]["documents"], sources["notes"]["not whole"]) == (7, 1)
    assert (sources["filings"]["batches"], sources["filings"]["documents"]) == (2, 2)
    assert checks_of_summary(instance) == {"every_check_passes": False, "every_source_is_listed": True}

    tick(home, instance, "alerts")
    assert len(instance.fetch_materializations(SUMMARY, limit=10).records) == len(shown)  # nothing new to say
    (home / "notes/bad.pdf").unlink()
    execute(home, instance, "notes", "bucket-0")
    tick(home, instance, "alerts")
    assert checks_of_summary(instance)["every_check_passes"]


def test_the_summary_can_be_materialized_by_hand(home: Path, instance: dg.DagsterInstance) -> None:
    job = definitions(home).resolve_job_def("summarize")
    result = job.execute_in_process(instance=instance, run_config=QUIET)
    assert result.success
    assert {check.check_name for check in result.get_asset_check_evaluations()} >= {"searchable_in_time"}


def test_a_budget_that_is_reached_is_an_incident_of_its_own_kind(
    home: Path, instance: dg.DagsterInstance
) -> None:
    assert not execute(home, instance, "notes", "bucket-0", **{BUDGET_TAG: "1"}).success
    layout = Layout(home)
    (condition,) = failing_checks(layout, "", ("error",))
    assert (condition.kind, condition.name) == ("budget", "budget_kept")
    assert "budget" in condition.summary
    assert execute(home, instance, "notes", "bucket-0").success
    assert list(failing_checks(layout, "", ("error",))) == []
    assert Summaries(load_catalog(home)).overview(load_catalog(home)).failing == ()


def test_retrieval_is_measured_by_strategy_and_again_after_a_change_of_policy(
    home: Path, instance: dg.DagsterInstance
) -> None:
    (home / "golden").mkdir()
    (home / "golden/questions.yaml").write_text(GOLDEN)
    job = definitions(home).resolve_job_def("evaluate")
    for name in ("auto", "fixed"):
        result = job.execute_in_process(partition_key=name, instance=instance, run_config=QUIET)
        assert result.success
        verdicts = {check.check_name: check for check in result.get_asset_check_evaluations()}
        assert set(verdicts) == {"retrieval_floor", "retrieval_regression", "threshold_drift"}
    record = instance.fetch_materializations(EVALUATION, limit=1).records[0]
    shown = record.asset_materialization.metadata
    assert any(name.startswith("hit@5") for name in shown)
    beside = shown["all strategies"].value
    assert "| auto |" in beside
    assert "| fixed |" in beside
    assert shown["quality against tokens"].value.startswith("![quality](data:image/png;base64,")
    kept = pq.read_table(home / "evaluation")
    assert set(kept["strategy"].to_pylist()) == {"auto", "fixed"}
    for condition in failing_checks(Layout(home), "", ("error", "warn")):
        assert condition.batch == "retrieval_evaluation/auto"  # nobody is woken for a strategy not in use
    assert not [r for r in tick(home, instance, "arrivals").run_requests if r.job_name == "evaluate"]
    catalog = home / "sources.yaml"
    catalog.write_text(catalog.read_text() + "splitter: rules\ntokenizer: o200k_base\n")
    asked = [r for r in tick(home, instance, "arrivals").run_requests if r.job_name == "evaluate"]
    assert [request.partition_key for request in asked] == ["auto"]


def test_a_batch_that_a_person_runs_is_busy_for_the_sensor(home: Path, instance: dg.DagsterInstance) -> None:
    run = instance.create_run_for_job(
        definitions(home).resolve_job_def("ingest_notes"),
        status=dg.DagsterRunStatus.STARTED,
        tags={"dagster/partition": "bucket-0"},
        asset_selection=frozenset({dg.AssetKey(["notes", "chunks"])}),
    )
    assert batches_of(run) == (Batch("notes", "bucket-0"),)
    assert busy_batches(instance) == {"notes/bucket-0"}
    asked = tick(home, instance, "arrivals").run_requests
    assert "notes/bucket-0" not in {request.tags[BATCH_TAG] for request in asked}


def test_a_run_without_a_process_is_ended_and_one_that_holds_its_lock_is_not(
    home: Path, instance: dg.DagsterInstance
) -> None:
    layout = Layout(home)
    run = instance.create_run_for_job(
        definitions(home).resolve_job_def("ingest_notes"),
        status=dg.DagsterRunStatus.STARTED,
        tags={BATCH_TAG: "notes/bucket-0"},
    )
    instance.report_engine_event("started", run)
    with hold(layout.batch_lock(Batch("notes", "bucket-0")), "the batch"):
        assert end_dead_runs(instance, layout, time.time() + 3600) == []
    assert end_dead_runs(instance, layout, time.time()) == []
    assert end_dead_runs(instance, layout, time.time() + 3600) == [run.run_id]
    assert instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_a_run_that_the_system_killed_is_asked_for_again_a_bounded_number_of_times(
    home: Path, instance: dg.DagsterInstance
) -> None:
    catalog = home / "sources.yaml"
    catalog.write_text(catalog.read_text() + "retries: {max_attempts: 3, first_wait_minutes: 0}\n")
    keys = []
    for _ in range(5):
        asked = {r.tags[BATCH_TAG]: r for r in tick(home, instance, "arrivals").run_requests or []}
        if "notes/bucket-0" not in asked:
            break
        keys.append(asked["notes/bucket-0"].run_key)
        run = instance.create_run_for_job(
            definitions(home).resolve_job_def("ingest_notes"),
            status=dg.DagsterRunStatus.STARTED,
            tags=dict(asked["notes/bucket-0"].tags),
        )
        instance.report_engine_event("started", run)
        assert end_dead_runs(instance, Layout(home), time.time() + 3600) == [run.run_id]
    assert len(set(keys)) == 3
    (home / "notes/boilers.md").unlink()  # another state has attempts of its own
    asked = {r.tags[BATCH_TAG] for r in tick(home, instance, "arrivals").run_requests}
    assert "notes/bucket-0" in asked
