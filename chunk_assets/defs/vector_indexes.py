"""One asset for each vector store of the catalog: the published chunks, delivered by what differs."""

from collections.abc import Iterator
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


def vector_index_assets(catalog: Catalog) -> list[dg.AssetsDefinition]:
    """``vector_index/<name>`` for each of the catalog's ``vector_indexes``."""
    return [_asset(catalog, name, index) for name, index in catalog.vector_indexes.items()]


def _asset(catalog: Catalog, name: str, index: VectorIndex) -> dg.AssetsDefinition:
    key = dg.AssetKey(["vector_index", name])
    sources = index.sources or tuple(catalog.sources)
    for source in sources:
        catalog.source(source)

    @dg.asset(
        key=key,
        deps=[dg.AssetKey([source, EMBEDDINGS]) for source in sources],
        check_specs=[dg.AssetCheckSpec(CHECK, asset=key, description=PROMISE)],
        group_name=GROUP,
        kinds={index.to},
        pool="delivery",
        automation_condition=dg.AutomationCondition.any_deps_updated().since_last_handled()
        & ~dg.AutomationCondition.in_progress(),
        description=f"The chunks of {', '.join(sources)} in {index.to}, for whoever answers questions.",
    )
    def _materialize() -> Iterator[Any]:
        try:
            written = _delivered(catalog, index)
            found = _delivered(catalog, index, dry_run=True)
        except StopRun as error:
            raise dg.Failure(str(error), allow_retries=False) from error
        yield dg.MaterializeResult(
            metadata={name: sum(getattr(report, name) for report in written) for name in COUNTS},
            check_results=[_verdict(key, found)],
        )

    return _materialize


def _delivered(catalog: Catalog, index: VectorIndex, *, dry_run: bool = False) -> list[ExportReport]:
    """Every source into one collection, or all of the home at once when the index names none."""
    target = index.target if index.to in CONNECTIONS else resolve_path(catalog.home, index.target)
    parts = index.sources or (None,)
    bring_up_to_date(catalog.home)
    return [export(catalog.home, index.to, target, source=part, dry_run=dry_run) for part in parts]


def _verdict(key: dg.AssetKey, reports: list[ExportReport]) -> dg.AssetCheckResult:
    differing = {n: sum(getattr(report, n) for report in reports) for n in ("added", "changed", "removed")}
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=CHECK,
        passed=all(report.equal for report in reports),
        severity=dg.AssetCheckSeverity.ERROR,
        metadata=differing,
    )
