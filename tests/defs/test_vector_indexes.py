"""One asset a vector store: it follows the tables and says whether it equals them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.defs.vector_indexes import CHECK, vector_index_assets, vector_index_checks
from chunk_assets.errors import ConfigurationError
from chunk_assets.pipeline import RunOptions, run_sources
from tests.doors.conftest import make_home, note

if TYPE_CHECKING:
    from pathlib import Path

INDEXES = """
vector_indexes:
  everything: {to: duckdb, target: index/all.duckdb}
  only_notes: {to: duckdb, target: index/notes.duckdb, sources: [notes]}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    pytest.importorskip("duckdb")
    home = make_home(tmp_path / "home")
    with (home / "sources.yaml").open("a") as file:
        file.write(INDEXES)
    return home


def publish(home: Path) -> None:
    assert run_sources(load_catalog(home), options=RunOptions(workers=1)).errors == ()


QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def deliver(home: Path, name: str) -> tuple[dict[str, int], bool]:
    """The counts of one delivery and the verdict of its check."""
    catalog = load_catalog(home)
    (asset,) = [a for a in vector_index_assets(catalog) if a.key.path[-1] == name]
    done = dg.materialize([asset], run_config=QUIET)
    (event,) = done.asset_materializations_for_node(asset.op.name)
    counts = {key: value.value for key, value in event.metadata.items() if isinstance(value.value, int)}
    return counts, compare(home, name)[1]


def compare(home: Path, name: str) -> tuple[dict[str, int], bool]:
    """The check alone, as Dagster runs it at night: its counts and its verdict."""
    catalog = load_catalog(home)
    checks = [c for c in vector_index_checks(catalog) if next(iter(c.check_keys)).asset_key.path[-1] == name]
    assets = vector_index_assets(catalog)
    chosen = dg.AssetSelection.checks(*checks[0].check_keys)
    job = dg.Definitions(
        assets=assets, asset_checks=checks, jobs=[dg.define_asset_job("compare", selection=chosen)]
    ).resolve_job_def("compare")
    done = job.execute_in_process(run_config=QUIET)
    (verdict,) = done.get_asset_check_evaluations()
    assert verdict.check_name == CHECK
    return {key: value.value for key, value in verdict.metadata.items()}, bool(verdict.passed)


def test_an_index_follows_the_tables_by_what_differs(home: Path) -> None:
    publish(home)
    first, equal = deliver(home, "everything")
    assert equal
    assert first["added"] == first["total"] > 10
    assert (home / "index/all.duckdb").exists()
    (home / "notes/leases.md").write_text(note("meadows", 6))
    publish(home)
    second, equal = deliver(home, "everything")
    assert equal
    assert 0 < second["added"] + second["changed"] < first["total"]
    again, _ = deliver(home, "everything")
    assert (again["added"], again["changed"], again["removed"]) == (0, 0, 0)


def test_an_index_of_one_source_holds_that_source_and_depends_on_it(home: Path) -> None:
    publish(home)
    everything, _ = deliver(home, "everything")
    notes, equal = deliver(home, "only_notes")
    assert equal
    assert 0 < notes["total"] < everything["total"]
    assets = {a.key.path[-1]: a for a in vector_index_assets(load_catalog(home))}
    assert {k.to_user_string() for k in assets["only_notes"].dependency_keys} == {"notes/embeddings"}
    assert len(assets["everything"].dependency_keys) == 2


def test_an_index_of_an_unknown_source_is_refused(home: Path) -> None:
    text = (home / "sources.yaml").read_text()
    (home / "sources.yaml").write_text(text.replace("sources: [notes]", "sources: [nots]"))
    with pytest.raises(ConfigurationError, match="unknown source 'nots'"):
        vector_index_assets(load_catalog(home))


def test_a_store_that_can_not_be_written_fails_the_run(home: Path) -> None:
    publish(home)
    (home / "index").write_text("a file where a folder should be")
    (asset, _) = vector_index_assets(load_catalog(home))
    done = dg.materialize([asset], raise_on_error=False)
    assert not done.success


def test_what_somebody_did_to_the_store_by_hand_is_seen_by_the_check_alone(home: Path) -> None:
    import duckdb

    publish(home)
    total = deliver(home, "everything")[0]["total"]
    with duckdb.connect(str(home / "index/all.duckdb")) as store:
        store.execute("DELETE FROM chunks WHERE chunk_id = (SELECT min(chunk_id) FROM chunks)")
    counts, equal = compare(home, "everything")
    assert (equal, counts["added"], counts["altered"]) == (False, 1, 0)
    counts, equal = deliver(home, "everything")
    assert (counts["added"], counts["total"], equal) == (1, total, True)
    with duckdb.connect(str(home / "index/all.duckdb")) as store:
        store.execute("UPDATE chunks SET vector = (SELECT vector FROM chunks ORDER BY chunk_id LIMIT 1)")
    counts, equal = compare(home, "everything")
    assert (equal, counts["added"]) == (False, 0)
    assert 0 < counts["altered"] < total


def test_the_check_is_due_after_a_delivery_and_at_night(home: Path) -> None:
    publish(home)
    catalog = load_catalog(home)
    (asset, _), (check, _) = vector_index_assets(catalog), vector_index_checks(catalog)
    definitions = dg.Definitions(assets=[asset], asset_checks=[check])
    with dg.DagsterInstance.ephemeral() as instance:

        def due(at: datetime, cursor: object) -> tuple[bool, object]:
            found = dg.evaluate_automation_conditions(
                definitions,
                instance,
                evaluation_time=at,
                cursor=cursor,
                asset_selection=dg.AssetSelection.all(),
            )
            return found.total_requested > 0, found.cursor

        asked, cursor = due(datetime(2026, 3, 1, 12, 0, tzinfo=UTC), None)
        dg.materialize([asset], instance=instance, run_config=QUIET)
        asked, cursor = due(datetime(2026, 3, 1, 12, 1, tzinfo=UTC), cursor)
        assert asked
        asked, cursor = due(datetime(2026, 3, 1, 12, 2, tzinfo=UTC), cursor)
        assert not asked
        asked, cursor = due(datetime(2026, 3, 2, 3, 31, tzinfo=UTC), cursor)
        assert asked
