"""The assets of a home on a real Dagster instance: partitions, metadata, checks, sensors and jobs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from chunk_assets.alerts import Ledger
from chunk_assets.defs.pruning import prune_runs, reap_runs
from chunk_assets.records import TABLES
from tests.alerts.receiver import receiving
from tests.defs.running import QUIET, definitions, execute, run_requested, tick
from tests.doors.conftest import note

if TYPE_CHECKING:
    from pathlib import Path


def test_each_source_has_its_chain_of_four_assets_in_its_own_group(home: Path) -> None:
    graph = definitions(home).resolve_asset_graph()
    keys = {key.to_user_string() for key in graph.get_all_asset_keys()}
    assert keys >= {f"{source}/{table}" for source in ("notes", "filings") for table in TABLES}
    node = graph.get(dg.AssetKey(["filings", "chunks"]))
    assert (node.group_name, node.code_version is not None) == ("filings", True)
    assert {key.to_user_string() for key in node.parent_keys} == {"filings/markdown_documents"}
    assert isinstance(node.partitions_def, dg.MonthlyPartitionsDefinition)


def test_a_changed_policy_changes_the_code_version_of_exactly_the_assets_it_touches(home: Path) -> None:
    def versions() -> dict[str, str | None]:
        graph = definitions(home).resolve_asset_graph()
        return {key.to_user_string(): graph.get(key).code_version for key in graph.get_all_asset_keys()}

    before = versions()
    catalog = home / "sources.yaml"
    catalog.write_text(catalog.read_text().replace("  notes:\n", "  notes:\n    policy: tiered\n"))
    after = versions()
    assert {name for name in before if before[name] != after[name]} == {"notes/chunks"}


def test_a_run_materializes_checks_and_publishes_one_batch(home: Path, instance: dg.DagsterInstance) -> None:
    result = execute(home, instance, "filings", "2026-01")
    assert result.success
    for table in TABLES:
        key = dg.AssetKey(["filings", table])
        record = instance.fetch_materializations(key, limit=1).records[0]
        metadata = record.asset_materialization.metadata
        assert record.partition_key == "2026-01"
        assert metadata["dagster/row_count"].value > 0
        assert metadata["dagster/column_schema"].value.columns
    chunks = instance.fetch_materializations(dg.AssetKey(["filings", "chunks"]), limit=1).records[0]
    shown = chunks.asset_materialization.metadata
    assert shown["token histogram"].value.startswith("![tokens](data:image/svg+xml;base64,")
    assert shown["sample chunks"].records[0].data["chunk"].endswith("_chunk_0000")
    checks = result.get_asset_check_evaluations()
    assert {check.check_name for check in checks} >= {"token_bounds", "documents_accounted_for"}
    assert all(check.passed for check in checks)
    assert (home / "tables/chunks/source=filings/slice=2026-01/part-0.parquet").is_file()
    assert not (home / "tables/chunks/source=filings/slice=2026-02").exists()


def test_a_failing_check_blocks_what_is_downstream_and_shows_the_worst_rows(
    home: Path, instance: dg.DagsterInstance
) -> None:
    catalog = home / "sources.yaml"
    rule = "policies: {wide: [{strategy: fixed, parameters: {max_chars: 20000, overlap_chars: 0}}]}\n"
    wide = catalog.read_text().replace("  notes:\n", "  notes:\n    max_tokens: 4000\n    policy: wide\n")
    catalog.write_text(wide + rule)
    (home / "notes/boilers.md").write_text(note("boilers", 60))
    result = execute(home, instance, "notes", "bucket-0")
    assert not result.success
    failed = [check for check in result.get_asset_check_evaluations() if not check.passed]
    assert [check.check_name for check in failed] == ["token_bounds"]
    assert failed[0].metadata["over"].value >= 1
    assert "boilers" in str(failed[0].metadata["examples"].value)
    assert not result.asset_materializations_for_node("notes__embeddings")
    assert not (home / "tables/chunks/source=notes").exists()


def test_embeddings_run_alone_cannot_publish_what_a_check_refused(
    home: Path, instance: dg.DagsterInstance
) -> None:
    test_a_failing_check_blocks_what_is_downstream_and_shows_the_worst_rows(home, instance)
    assert not execute(home, instance, "notes", "bucket-0", job="reembed").success
    assert not (home / "tables/chunks/source=notes").exists()


def test_rechunk_and_reembed_run_on_what_is_published(home: Path, instance: dg.DagsterInstance) -> None:
    assert execute(home, instance, "notes", "bucket-0").success
    assert execute(home, instance, "notes", "bucket-0", job="rechunk").success
    assert execute(home, instance, "notes", "bucket-0", job="reembed").success


def test_the_sensor_asks_for_just_the_batches_with_something_to_do(
    home: Path, instance: dg.DagsterInstance
) -> None:
    assert run_requested(home, instance) == ["filings/2026-01", "filings/2026-02", "notes/bucket-0"]
    assert run_requested(home, instance) == []
    (home / "notes/new.md").write_text(note("ferries"))
    assert run_requested(home, instance) == ["notes/bucket-0"]
    (home / "filings/one.txt").unlink()
    assert run_requested(home, instance) == ["filings/2026-01"]
    assert run_requested(home, instance) == []


def test_a_tick_asked_twice_gives_the_same_run_keys(home: Path, instance: dg.DagsterInstance) -> None:
    keys = [sorted(str(r.run_key) for r in tick(home, instance, "arrivals").run_requests) for _ in (1, 2)]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3


def test_a_failed_document_waits_for_its_next_attempt(home: Path, instance: dg.DagsterInstance) -> None:
    """A document that can't be parsed is not asked for at once again, nor are its healthy neighbours."""
    (home / "notes/bad.pdf").write_bytes(b"%PDF-1.7\nnothing")
    assert "notes/bucket-0" in run_requested(home, instance)
    assert run_requested(home, instance) == []


def test_a_source_that_cannot_be_listed_is_an_error_and_the_others_go_on(
    home: Path, instance: dg.DagsterInstance
) -> None:
    (home / "filings").rename(home / "unmounted")
    assert run_requested(home, instance) == ["notes/bucket-0"]
    with pytest.raises(Exception, match="filings"):
        tick(home, instance, "arrivals")


def test_a_fault_is_alerted_once_and_its_recovery_once(
    home: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = home / "notes/bad.pdf"
    bad.write_bytes(b"%PDF-1.7\nnothing")
    with receiving() as receiver:
        monkeypatch.setenv("CHUNK_ASSETS_ALERT_WEBHOOK", receiver.url)
        execute(home, instance, "notes", "bucket-0")
        for _ in range(3):
            tick(home, instance, "alerts")
        bad.unlink()
        execute(home, instance, "notes", "bucket-0")
        for _ in range(2):
            tick(home, instance, "alerts")
        told = [(n["event"], n["name"], n["batch"]) for n in receiver.notices]
        first = receiver.notices[0]
    assert told == [
        ("opened", "documents_readable", "notes/bucket-0"),
        ("recovered", "documents_readable", "notes/bucket-0"),
    ]
    assert "bad.pdf" in first["example"]
    assert first["mend"]
    assert Ledger.load(home / "alerts/ledger.json").incidents == {}


def test_an_emptied_source_fails_its_guard_and_deletes_nothing(
    home: Path, instance: dg.DagsterInstance
) -> None:
    assert execute(home, instance, "notes", "bucket-0").success
    for path in (home / "notes").glob("*.md"):
        path.unlink()
    result = execute(home, instance, "notes", "bucket-0")
    failed = [check.check_name for check in result.get_asset_check_evaluations() if not check.passed]
    assert (result.success, failed) == (False, ["deletions_within_bounds"])
    assert (home / "tables/chunks/source=notes/slice=bucket-0/part-0.parquet").is_file()
    confirmed = {"chunk-assets/allow_deletions": "true"}
    assert execute(home, instance, "notes", "bucket-0", **confirmed).success
    assert not (home / "tables/chunks/source=notes/slice=bucket-0/part-0.parquet").exists()


def test_old_runs_are_pruned_but_the_newest_of_each_batch_is_kept(
    home: Path, instance: dg.DagsterInstance
) -> None:
    for _ in range(3):
        execute(home, instance, "filings", "2026-01")
    execute(home, instance, "filings", "2026-02")
    assert prune_runs(instance, keep=2, dry_run=True) == 1
    assert prune_runs(instance, keep=2) == 1
    assert instance.get_runs_count() == 3
    for key in ("2026-01", "2026-02"):
        status = instance.get_status_by_partition(
            dg.AssetKey(["filings", "chunks"]),
            [key],
            definitions(home).resolve_asset_graph().get(dg.AssetKey(["filings", "chunks"])).partitions_def,
        )
        assert status
        assert str(status[key]).endswith("MATERIALIZED")


def test_a_run_whose_machine_died_is_ended(home: Path, instance: dg.DagsterInstance) -> None:
    job = definitions(home).resolve_job_def("ingest_notes")
    run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    assert reap_runs(instance, time.time() - 60) == []
    assert reap_runs(instance, time.time() + 60) == [run.run_id]
    assert instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_upkeep_jobs_run(home: Path, instance: dg.DagsterInstance) -> None:
    execute(home, instance, "notes", "bucket-0")
    for name in ("plan", "verify", "prune"):
        job = definitions(home).resolve_job_def(name)
        assert job.execute_in_process(instance=instance, run_config=QUIET).success, name
