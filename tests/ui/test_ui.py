"""What an operator does in Dagster's UI, done by clicking in a real browser, in this order."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chunk_assets.records import TABLES
from tests.doors.conftest import call_elsewhere, digests
from tests.ui.conftest import LOCATION, ask, write_documents

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.ui.conftest import Ui

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(900)]


def visible(page: Page, text: str) -> Locator:
    """The first visible element with just this text (the UI also keeps hidden ones to measure widths)."""
    return page.get_by_text(text, exact=True).locator("visible=true").first


def group(source: str) -> str:
    return f"/locations/{LOCATION}/asset-groups/{source}"


def check_state(page: Page, name: str) -> Locator:
    """The line under a check's name in the list of checks."""
    return visible(page, name).locator("xpath=ancestor::*[.//text()='Succeeded' or .//text()='Failed'][1]")


@pytest.fixture(scope="module")
def paused(ui: Ui) -> Ui:
    """Documents are there, and the arrivals sensor was switched off on its page before they came."""
    page = ui.open(f"/locations/{LOCATION}/sensors/arrivals")
    visible(page, "0 runs requested").wait_for()
    page.locator("label:has(input[type=checkbox])").first.click()
    visible(page, "Stopped").or_(page.locator("input[type=checkbox]:not(:checked)")).first.wait_for(
        state="attached"
    )
    write_documents(ui.home)
    return ui


@pytest.fixture(scope="module")
def materialized(paused: Ui) -> Ui:
    """One batch of each source was materialized by clicking."""
    launch(paused, "leases", "bucket-0", "Failure")
    launch(paused, "notes", "bucket-1", "Success")
    return paused


def launch(ui: Ui, source: str, slice_key: str, ends: str) -> None:
    """Materializes one batch from the page of its source, and waits on the run's page for its end."""
    page = ui.open(group(source))
    page.get_by_role("button", name="Materialize all…").click()
    page.get_by_text("Select a partition or create one").click()
    page.get_by_role("menuitem", name=slice_key).first.click()
    page.keyboard.press("Escape")
    ui.picture("materialize")
    page.get_by_role("button", name="Launch 1 run").click()
    follow(ui, "Launched run")
    visible(page, ends).wait_for()


def follow(ui: Ui, said: str) -> None:
    """Waits for the message that something was launched, and goes to its page."""
    ui.page.get_by_text(said).first.wait_for()
    if said == "Launched run":
        found = ask(ui.address, "{runsOrError(limit: 1) {... on Runs {results {runId}}}}")
        ui.open(f"/runs/{found['runsOrError']['results'][0]['runId']}")
    else:
        query = "{partitionBackfillsOrError(limit: 1) {... on PartitionBackfills {results {id}}}}"
        found = ask(ui.address, query)
        ui.open(f"/runs/b/{found['partitionBackfillsOrError']['results'][0]['id']}")


def opened_report(page: Page) -> str:
    """What the browser gets when the link to the report is clicked; in this tab, not in a new one."""
    link = page.locator("a[href*='/logs/reports/']").locator("visible=true").first
    link.evaluate("a => a.removeAttribute('target')")
    with page.expect_download() as started:
        link.click()
    return Path(started.value.path()).read_text()


def test_each_source_shows_its_four_assets_with_owners_and_checks(ui: Ui) -> None:
    for source in ("notes", "leases"):
        page = ui.open(group(source))
        for table in TABLES:
            visible(page, table).wait_for()
    page = ui.open("/assets/notes/embeddings?view=checks&checkDetail=searchable_in_time")
    page.get_by_text("searchable within 2 h").locator("visible=true").first.wait_for()


def test_the_web_server_says_whether_the_daemon_is_well(ui: Ui) -> None:
    query = "{instance {daemonHealth {allDaemonStatuses {daemonType healthy lastHeartbeatTime}}}}"
    found = ask(ui.address, query)["instance"]["daemonHealth"]["allDaemonStatuses"]
    assert {"SENSOR", "SCHEDULER"} <= {status["daemonType"] for status in found}


def test_the_automation_page_lists_sensors_and_schedules(ui: Ui) -> None:
    page = ui.open("/automation")
    for name in ("arrivals", "alerts", "notes_catch_up", "leases_catch_up", "verify_on_time"):
        visible(page, name).wait_for()
    ui.picture("automation")


def test_a_sensor_shows_its_ticks(paused: Ui) -> None:
    page = paused.open(f"/locations/{LOCATION}/sensors/arrivals")
    visible(page, "0 runs requested").wait_for()
    page.get_by_role("button", name="View logs").first.wait_for()
    paused.picture("sensor")


def test_a_batch_materialized_by_clicking_turns_its_checks_green(materialized: Ui) -> None:
    page = materialized.open("/assets/notes/chunks?view=checks")
    for name in ("token_bounds", "text_covered", "hash_stability"):
        assert "Succeeded" in check_state(page, name).inner_text()
    page = materialized.open(group("notes"))
    visible(page, "6 / 6 Passed").wait_for()
    materialized.picture("graph")


def test_the_metadata_shows_the_histogram_of_chunk_sizes(materialized: Ui) -> None:
    page = materialized.open("/assets/notes/chunks?view=partitions&partition=bucket-1")
    visible(page, "token histogram").wait_for()
    materialized.picture("batch")
    page.get_by_text("[Show Markdown]").first.click()
    picture = page.get_by_role("dialog").locator("img[src^='data:image/svg+xml']")
    picture.wait_for()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 100")
    materialized.picture("histogram")


def test_a_failing_check_is_red_with_its_examples(materialized: Ui) -> None:
    page = materialized.open("/assets/leases/chunks?view=checks&checkDetail=token_bounds")
    assert "Failed" in check_state(page, "token_bounds").inner_text()
    visible(page, "examples").wait_for()
    page.get_by_text(re.compile(r"warehouse.*has \d+ tokens")).locator("visible=true").first.wait_for()
    materialized.picture("failing_check")
    assert "Our work on leases in part 60" in opened_report(page)
    page = materialized.open("/assets/leases/embeddings?view=partitions")
    page.get_by_text("Materialized (0)").wait_for()


def test_a_backfill_from_the_asset_page_finishes_with_a_status_for_each_partition(materialized: Ui) -> None:
    page = materialized.open(group("notes"))
    page.get_by_role("button", name="Materialize all…").click()
    page.get_by_role("button", name="Missing", exact=True).click()
    page.get_by_role("button", name="Launch backfill").click()
    follow(materialized, "Created backfill")
    page.get_by_text("100% completed").nth(3).wait_for()
    materialized.picture("backfill")
    page = materialized.open("/assets/notes/embeddings?view=partitions")
    page.get_by_text("Materialized (3)").wait_for()
    page.get_by_text("Failed (0)").wait_for()
    for key in ("bucket-0", "bucket-1", "bucket-2"):
        visible(page, key).wait_for()
    materialized.picture("partitions")


def test_the_summary_shows_what_fails_in_the_whole_home(materialized: Ui) -> None:
    page = materialized.open("/assets/pipeline_summary?view=checks&checkDetail=every_check_passes")
    page.get_by_text("token_bounds on leases/bucket-0").locator("visible=true").first.wait_for()
    page = materialized.open("/assets/pipeline_summary")
    page.get_by_text("what is wrong").locator("visible=true").first.wait_for()
    materialized.picture("summary")


def test_a_backfill_from_a_shell_gives_the_tables_of_the_one_from_the_ui(
    materialized: Ui, tmp_path: Path
) -> None:
    for name in ("notes", "leases"):
        shutil.copytree(materialized.home / name, tmp_path / name)
    shutil.copy(materialized.home / "sources.yaml", tmp_path)
    # In a process of its own, as the driver of the browser keeps this thread's event loop.
    chosen = ("--source", "notes", "--only", "missing")
    done = call_elsewhere("backfill", *chosen, "--home", str(tmp_path), "--json")
    assert done.code == 0, done.err
    assert len(done.json["batches"]) == 3
    assert notes(tmp_path) == notes(materialized.home)


def notes(home: Path) -> dict[str, str]:
    return {name: digest for name, digest in digests(home).items() if "source=notes" in name}


def test_a_backfill_by_graphql_gives_the_same_tables(materialized: Ui) -> None:
    before = notes(materialized.home)
    keys = ", ".join(f'{{path: ["notes", "{table}"]}}' for table in TABLES)
    mutation = f"""mutation {{launchPartitionBackfill(backfillParams: {{assetSelection: [{keys}],
        partitionNames: ["bucket-0", "bucket-2"]}}) {{... on LaunchBackfillSuccess {{backfillId}}}}}}"""
    name = ask(materialized.address, mutation)["launchPartitionBackfill"]["backfillId"]
    page = materialized.open(f"/runs/b/{name}")
    page.get_by_text("100% completed").nth(3).wait_for()
    assert notes(materialized.home) == before


def test_a_schedule_shows_its_ticks_and_the_runs_it_asked_for(materialized: Ui) -> None:
    page = materialized.open(f"/locations/{LOCATION}/schedules/letters_on_time")
    page.get_by_text("1 run requested").first.wait_for()
    visible(page, "Running").or_(page.locator("input[type=checkbox]:checked")).first.wait_for(
        state="attached"
    )
    materialized.picture("schedule")
