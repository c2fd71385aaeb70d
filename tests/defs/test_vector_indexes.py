"""One asset a vector store: it follows the tables and says whether it equals them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.defs.vector_indexes import CHECK, vector_index_assets
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


def deliver(home: Path, name: str) -> tuple[dict[str, int], bool]:
    """The counts of one delivery and the verdict of its check."""
    (asset,) = [a for a in vector_index_assets(load_catalog(home)) if a.key.path[-1] == name]
    done = dg.materialize([asset], run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}})
    (event,) = done.asset_materializations_for_node(asset.op.name)
    (verdict,) = done.get_asset_check_evaluations()
    assert verdict.check_name == CHECK
    return {key: value.value for key, value in event.metadata.items() if isinstance(value.value, int)}, bool(
        verdict.passed
    )


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
