"""The promise of freshness of each source as a check on its vectors: what came is searchable in time."""

import json
from pathlib import Path

import dagster as dg

from chunk_assets.catalog import Catalog
from chunk_assets.defs.waiting import CHECK, late_sources
from chunk_assets.hashing import canonical_json
from chunk_assets.records import EMBEDDINGS
from chunk_assets.storage.files import read_if_there, write_atomic
from chunk_assets.storage.layout import Layout

FILE = "freshness.json"


def freshness_key(source: str) -> dg.AssetCheckKey:
    """The check ``searchable_in_time`` on the vectors of a source."""
    return dg.AssetCheckKey(dg.AssetKey([source, EMBEDDINGS]), CHECK)


def freshness_checks(catalog: Catalog) -> list[dg.AssetChecksDefinition]:
    """One check for each source that promises freshness; it can be run alone, and the sensor keeps it."""
    return [_check(catalog, name) for name, source in catalog.sources.items() if source.freshness]


def _check(catalog: Catalog, source: str) -> dg.AssetChecksDefinition:
    freshness = catalog.sources[source].freshness
    hours = freshness.within_hours if freshness else 0.0
    key = freshness_key(source)

    @dg.asset_check(
        asset=key.asset_key,
        name=key.name,
        description=f"A document that comes to {source} is searchable within {hours:g} h.",
    )
    def _searchable() -> dg.AssetCheckResult:
        passed, words = verdicts(Layout(Path(catalog.home)), catalog)[source]
        return dg.AssetCheckResult(passed=passed, severity=dg.AssetCheckSeverity.WARN, description=words)

    return _searchable


def verdicts(layout: Layout, catalog: Catalog) -> dict[str, tuple[bool, str]]:
    """Whether each source that promises freshness keeps it now, and what is late."""
    late = {condition.asset: condition for condition in late_sources(layout, catalog)}
    found = {}
    for name, source in catalog.sources.items():
        if source.freshness is None:
            continue
        missed = late.get(f"{name}/{EMBEDDINGS}")
        said = f"{missed.summary}. {missed.example}".rstrip(" .") if missed else "no document waits too long"
        found[name] = (missed is None, said)
    return found


def report_freshness(instance: dg.DagsterInstance, layout: Layout, catalog: Catalog) -> None:
    """Records the verdicts that are not those recorded last, without a run."""
    path = layout.home / "alerts" / FILE
    before = json.loads(read_if_there(path) or b"{}")
    found = verdicts(layout, catalog)
    now = {name: passed for name, (passed, _) in found.items()}
    for name, (passed, words) in found.items():
        if before.get(name) != passed:
            key = freshness_key(name)
            instance.report_runless_asset_event(
                dg.AssetCheckEvaluation(
                    key.asset_key,
                    key.name,
                    passed,
                    severity=dg.AssetCheckSeverity.WARN,
                    description=words,
                )
            )
    if now != before:
        write_atomic(path, canonical_json(now).encode())
