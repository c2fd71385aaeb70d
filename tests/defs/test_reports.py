"""The link behind a batch and its checks, the checks run alone, and what the prune job leaves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, SqlEventLogStorageTable
from sqlalchemy import func, select

from chunk_assets.alerts.outcomes import failing_checks
from chunk_assets.defs.home import INSTANCE_FOLDER
from chunk_assets.defs.logs import HomeLogs, report_url
from chunk_assets.defs.pruning import prune_records, prune_runs
from chunk_assets.storage.layout import Layout
from tests.defs.running import QUIET, definitions, execute
from tests.doors.conftest import note

if TYPE_CHECKING:
    from sqlalchemy import Table


def break_bound(home: Path) -> str:
    """The policy of ``notes`` cuts over the embedder's bound; gives the catalog as it was."""
    catalog = home / "sources.yaml"
    good = catalog.read_text()
    rule = "policies: {wide: [{strategy: fixed, parameters: {max_chars: 20000, overlap_chars: 0}}]}\n"
    wide = good.replace("  notes:\n", "  notes:\n    max_tokens: 4000\n    policy: wide\n")
    catalog.write_text(wide + rule)
    (home / "notes/boilers.md").write_text(note("boilers", 60))
    return good


def page_of(home: Path, batch: str) -> Path:
    """The file that the web server sends for the link of a batch."""
    logs = HomeLogs(base_dir=str(home / INSTANCE_FOLDER / "storage"))
    *key, kind = report_url("http://ops:3000", batch).removeprefix("/logs/").split("/")
    return Path(logs.get_captured_local_path(key, kind))


def test_the_link_of_a_batch_opens_its_report_as_it_is_now(home: Path, instance: dg.DagsterInstance) -> None:
    assert not page_of(home, "notes/bucket-0").exists()  # the server answers 404
    result = execute(home, instance, "notes", "bucket-0")
    shown = result.asset_materializations_for_node("notes__chunks")[0].metadata["report"]
    assert shown == dg.MetadataValue.url("/logs/reports/notes/bucket-0/html")
    assert all(check.metadata["report"] == shown for check in result.get_asset_check_evaluations())
    first = page_of(home, "notes/bucket-0").read_text()
    assert "Our work on leases in part 1" in first
    (home / "notes/leases.md").write_text(note("lighthouses"))
    assert page_of(home, "notes/bucket-0").read_text() == first
    assert execute(home, instance, "notes", "bucket-0").success
    assert "Our work on lighthouses in part 1" in page_of(home, "notes/bucket-0").read_text()


def test_the_link_of_a_refused_batch_shows_what_was_refused(home: Path, instance: dg.DagsterInstance) -> None:
    break_bound(home)
    assert not execute(home, instance, "notes", "bucket-0").success
    assert "Our work on boilers in part 60" in page_of(home, "notes/bucket-0").read_text()


@pytest.mark.parametrize("batch", ["notes/..", "%2e%2e/x", "notes/bucket-9"])
def test_a_link_to_no_batch_gives_no_file(home: Path, batch: str) -> None:
    assert not page_of(home, batch).is_file()


def test_a_link_that_leaves_the_folder_is_refused(home: Path) -> None:
    with pytest.raises(ValueError, match="Invalid path"):
        page_of(home, "../../../notes/x")


def test_a_web_address_below_a_path_is_kept_in_the_link() -> None:
    assert report_url("https://ops.example.com/dagster/", "a/b") == "/dagster/logs/reports/a/b/html"


def test_the_checks_of_a_batch_can_be_run_again_alone(home: Path, instance: dg.DagsterInstance) -> None:
    def recheck() -> dict[str, bool]:
        job = definitions(home).resolve_job_def("recheck_notes")
        done = job.execute_in_process(
            partition_key="bucket-0", instance=instance, run_config=QUIET, raise_on_error=True
        )
        assert done.success
        return {f"{c.asset}: {c.name}": False for c in failing_checks(Layout(home), "", ("warn", "error"))}

    def newest(name: str) -> dg.AssetCheckEvaluation:
        key = dg.AssetCheckKey(dg.AssetKey(["notes", "chunks"]), name)
        records = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)
        assert records[0].event is not None
        return records[0].event.dagster_event.asset_check_evaluation_data

    assert recheck() == {}  # nothing is there yet
    assert execute(home, instance, "notes", "bucket-0").success
    before = instance.get_runs_count()
    assert recheck() == {}
    assert (newest("token_bounds").passed, newest("token_bounds").partition) == (True, "bucket-0")
    assert instance.get_runs_count() == before + 1
    break_bound(home)
    assert not execute(home, instance, "notes", "bucket-0").success
    assert recheck() == {"notes/chunks: token_bounds": False}  # of what was refused, not of what is published
    assert not newest("token_bounds").passed
    assert newest("token_bounds").metadata["over"].value >= 1


def rows(instance: dg.DagsterInstance, table: Table) -> int:
    with instance.event_log_storage.index_connection() as connection:
        return int(connection.execute(select(func.count()).select_from(table)).scalar())


def test_pruning_leaves_nothing_of_the_runs_that_it_deletes(home: Path, instance: dg.DagsterInstance) -> None:
    def printed(run_id: str) -> Path:
        folder = home / INSTANCE_FOLDER / "storage" / run_id / "compute_logs"
        folder.mkdir(parents=True)
        return folder

    once = execute(home, instance, "filings", "2026-01")
    kept = [rows(instance, table) for table in (AssetCheckExecutionsTable, SqlEventLogStorageTable)]
    later = [execute(home, instance, "filings", "2026-01").run_id for _ in range(2)]
    folders = [printed(run_id) for run_id in (once.run_id, *later)]
    assert prune_runs(instance, keep=1) == 2
    assert [rows(instance, table) for table in (AssetCheckExecutionsTable, SqlEventLogStorageTable)] == kept
    assert [folder.exists() for folder in folders] == [False, False, True]


def test_records_without_a_run_are_bounded_too(instance: dg.DagsterInstance) -> None:
    summary, other = dg.AssetKey("pipeline_summary"), dg.AssetKey("other")
    for key in (summary, other):
        for number in range(9):
            instance.report_runless_asset_event(dg.AssetMaterialization(key, metadata={"number": number}))
            instance.report_runless_asset_event(dg.AssetCheckEvaluation(key, "well", number % 2 == 0))
    before = rows(instance, SqlEventLogStorageTable)
    assert prune_records(instance, keep=4) > 0
    assert rows(instance, SqlEventLogStorageTable) == before - 2 * 2 * 5
    assert rows(instance, AssetCheckExecutionsTable) == 2 * 4
    newest = instance.fetch_materializations(summary, limit=10).records
    assert [r.asset_materialization.metadata["number"].value for r in newest] == [8, 7, 6, 5]
    assert prune_records(instance, keep=4) == 0
