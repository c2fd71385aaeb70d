"""One asset for each vector store of the catalog: the published chunks, delivered by what differs.

Its check only compares, so that it can be run at any time, and runs each night: it sees what somebody did
to the store by hand.
"""

from typing import Any

import dagster as dg

from chunk_assets.catalog import Catalog, VectorIndex
from chunk_assets.catalog.load import resolve_path
from chunk_assets.errors import StopRun
from chunk_assets.export import ExportReport, export
from chunk_assets.records import EMBEDDINGS
from chunk_assets.storage.remote import bring_up_to_date

GROUP = "vector_indexes"
CHECK = "index_equals_table"
PROMISE = "The store holds exactly the published chunks: same ids, same contents, none left over."
# Targets that are connection strings; others are URLs, or paths that may be relative to the home.
CONNECTIONS = ("pgvector",)
COUNTS = ("added", "changed", "removed", "unchanged", "total", "without_vector", "sampled")
COMPARED = ("added", "changed", "removed", "altered", "sampled")
NIGHTLY = "30 3 * * *"


def vector_index_assets(catalog: Catalog) -> list[dg.AssetsDefinition]:
    """``vector_index/<name>`` for each of the catalog's ``vector_indexes``."""
    return [_asset(catalog, name, index) for name, index in catalog.vector_indexes.items()]


def vector_index_checks(catalog: Catalog) -> list[dg.AssetChecksDefinition]:
    """``index_equals_table`` for each of them: after each delivery, and each night."""
    return [_check(catalog, name, index) for name, index in catalog.vector_indexes.items()]


def _key(name: str) -> dg.AssetKey:
    return dg.AssetKey(["vector_index", name])


def _asset(catalog: Catalog, name: str, index: VectorIndex) -> dg.AssetsDefinition:
    sources = index.sources or tuple(catalog.sources)
    for source in sources:
        catalog.source(source)

    @dg.asset(
        key=_key(name),
        deps=[dg.AssetKey([source, EMBEDDINGS]) for source in sources],
        group_name=GROUP,
        kinds={index.to},
        pool="delivery",
        automation_condition=dg.AutomationCondition.any_deps_updated().since_last_handled()
        & ~dg.AutomationCondition.in_progress(),
        description=f"The chunks of {', '.join(sources)} in {index.to}, for whoever answers questions.",
    )
    def _materialize() -> dg.MaterializeResult[None]:
        written = _delivered(catalog, index)
        return dg.MaterializeResult(metadata=_sums(written, COUNTS))

    return _materialize


def _check(catalog: Catalog, name: str, index: VectorIndex) -> dg.AssetChecksDefinition:
    # Typed as that of an asset, though it is one of a check as well.
    delivered: Any = dg.AutomationCondition.any_deps_updated().since_last_handled()

    @dg.asset_check(
        asset=_key(name),
        name=CHECK,
        description=PROMISE,
        pool="delivery",
        automation_condition=delivered | dg.AutomationCondition.cron_tick_passed(NIGHTLY),
    )
    def _compare() -> dg.AssetCheckResult:
        found = _delivered(catalog, index, dry_run=True)
        return dg.AssetCheckResult(
            passed=all(report.equal for report in found),
            severity=dg.AssetCheckSeverity.ERROR,
            metadata=_sums(found, COMPARED),
        )

    return _compare


def _delivered(catalog: Catalog, index: VectorIndex, *, dry_run: bool = False) -> list[ExportReport]:
    """Every source into one collection, or all of the home at once when the index names none."""
    target = index.target if index.to in CONNECTIONS else resolve_path(catalog.home, index.target)
    parts = index.sources or (None,)
    bring_up_to_date(catalog.home)
    try:
        return [export(catalog.home, index.to, target, source=part, dry_run=dry_run) for part in parts]
    except StopRun as error:
        raise dg.Failure(str(error), allow_retries=False) from error


def _sums(reports: list[ExportReport], names: tuple[str, ...]) -> dict[str, int]:
    return {name: sum(getattr(report, name) for report in reports) for name in names}
