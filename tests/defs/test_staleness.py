"""What the UI shows as unsynced is what ``plan`` would work on and what the sensor asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.definitions.data_version import (
    CachingStaleStatusResolver,
    StaleCauseCategory,
    StaleStatus,
)
from dagster._core.loader import LoadingContextForTest

from chunk_assets.catalog import load_catalog
from chunk_assets.converters import CONVERTERS
from chunk_assets.defs.places import BATCH_TAG
from chunk_assets.plan import make_plan
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, TABLES
from tests.defs.running import definitions, execute, tick

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BATCHES = ("filings/2026-01", "filings/2026-02", "notes/bucket-0")
# The table that a reason of ``plan`` is about.
TABLE_OF = {
    "converter_changed": MARKDOWN_DOCUMENTS,
    "policy_changed": CHUNKS,
    "model_changed": EMBEDDINGS,
}
Places = set[tuple[str, str]]


def unsynced(home: Path, instance: dg.DagsterInstance, why: StaleCauseCategory | None) -> Places:
    """(table, batch) that the UI marks: for a change of their own code, or at all."""
    graph = definitions(home).resolve_asset_graph()
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    found = set()
    for batch in BATCHES:
        source, key = batch.split("/")
        for table in TABLES:
            asset = dg.AssetKey([source, table])
            if why is None and resolver.get_status(asset, key) != StaleStatus.FRESH:
                found.add((table, batch))
            if any(c.category == why and c.asset_key == asset for c in resolver.get_stale_causes(asset, key)):
                found.add((table, batch))
    return found


def planned(home: Path) -> Places:
    """(table, batch) that ``plan`` gives a reason for."""
    plan = make_plan(load_catalog(home))
    return {(TABLE_OF[reason], str(batch.batch)) for batch in plan.batches for reason in batch.reasons}


def asked(home: Path, instance: dg.DagsterInstance) -> set[str]:
    return {r.tags[BATCH_TAG] for r in tick(home, instance, "arrivals").run_requests or []}


def edit(old: str, new: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def change(home: Path, _: pytest.MonkeyPatch) -> None:
        catalog = home / "sources.yaml"
        assert old in catalog.read_text()
        catalog.write_text(catalog.read_text().replace(old, new))

    return change


def new_version(home: Path, patch: pytest.MonkeyPatch) -> None:
    """The next version of this package reads plain text differently."""
    patch.setattr(
        "chunk_assets.converters.plain_text.PLAIN_TEXT", replace(CONVERTERS["plain_text"], version=99)
    )


CHANGES = {
    "policy of one source": (edit("  notes:\n", "  notes:\n    policy: tiered\n"), {CHUNKS}, {"notes"}),
    "model": (edit("name: hash", "name: static"), {EMBEDDINGS}, {"notes", "filings"}),
    "converter": (new_version, {MARKDOWN_DOCUMENTS}, {"filings"}),
}


def test_the_ui_the_plan_and_the_sensor_agree_on_what_each_change_makes_stale(
    home: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settled() -> None:
        nothing: tuple[Places, Places, set[str]] = (set(), set(), set())
        assert (unsynced(home, instance, None), planned(home), asked(home, instance)) == nothing

    for batch in BATCHES:
        assert execute(home, instance, *batch.split("/")).success
    settled()
    for name, (change, tables, sources) in CHANGES.items():
        change(home, monkeypatch)
        marked, worked_on = unsynced(home, instance, StaleCauseCategory.CODE), planned(home)
        assert {table for table, _ in marked} == {table for table, _ in worked_on} == tables, name
        assert {batch.split("/")[0] for _, batch in worked_on} == sources, name
        # Dagster knows one version for all batches of an asset; plan knows which have such documents.
        assert worked_on <= marked, name
        assert asked(home, instance) == {batch for _, batch in marked}, name
        for batch in sorted({batch for _, batch in marked}):
            assert execute(home, instance, *batch.split("/")).success
        settled()
