"""The chain of four assets of a source, made by one factory."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dagster as dg

from chunk_assets.catalog import Catalog
from chunk_assets.checks import run_checks
from chunk_assets.checks.base import BatchTables
from chunk_assets.defs.asset_checks import blocking, check_results, check_specs
from chunk_assets.defs.logs import report_url
from chunk_assets.defs.metadata import batch_metadata, column_schema
from chunk_assets.defs.partitions import partitions_of
from chunk_assets.defs.session import BatchRun
from chunk_assets.errors import MassDeletion
from chunk_assets.pipeline import (
    BatchContext,
    Session,
    StageReport,
    batch_tables,
    deletions_within_bounds,
    publish,
    published_intact,
    stage_chunks,
    stage_embeddings,
    stage_markdown,
    stage_raw,
)
from chunk_assets.pipeline.evidence import stage_tables
from chunk_assets.pipeline.guard import failed_guard
from chunk_assets.pipeline.overview import code_versions
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, TABLES, Outcome
from chunk_assets.storage.schemas import schema

STAGES: Mapping[str, Callable[[BatchContext], StageReport]] = {
    RAW_DOCUMENTS: stage_raw,
    MARKDOWN_DOCUMENTS: stage_markdown,
    CHUNKS: stage_chunks,
    EMBEDDINGS: stage_embeddings,
}
DESCRIPTIONS = {
    RAW_DOCUMENTS: "What is in the source: one row a file, hashed, dated and described, with a status.",
    MARKDOWN_DOCUMENTS: "The text of each document as markdown, with headings, page map and warnings.",
    CHUNKS: "Exact spans of the markdown, within the embedder's limit, with provenance and payload.",
    EMBEDDINGS: "One unit vector a chunk. Materializing it publishes all four tables of the batch together.",
}
POOLS = {MARKDOWN_DOCUMENTS: "conversion", EMBEDDINGS: "embedding"}
KINDS = {
    RAW_DOCUMENTS: {"file", "parquet"},
    MARKDOWN_DOCUMENTS: {"markdown", "parquet"},
    CHUNKS: {"python", "parquet"},
    EMBEDDINGS: {"onnx", "parquet"},
}


def source_assets(catalog: Catalog, name: str, session: Session) -> list[dg.AssetsDefinition]:
    """``raw_documents`` → ``markdown_documents`` → ``chunks`` → ``embeddings`` of one source."""
    versions = code_versions(session, name)
    before: Mapping[str, str | None] = dict(zip(TABLES, (None, *TABLES), strict=False))
    return [_asset(catalog, name, table, before[table], versions[table]) for table in TABLES]


def _asset(catalog: Catalog, name: str, table: str, before: str | None, version: str) -> dg.AssetsDefinition:
    source = catalog.source(name)
    partitions = partitions_of(source)
    key = dg.AssetKey([name, table])
    link = catalog.alerts.link_base

    @dg.asset(
        key=key,
        deps=[dg.AssetKey([name, before])] if before else [],
        partitions_def=partitions,
        check_specs=check_specs(key, table, partitions),
        required_resource_keys={"run"},
        code_version=version,
        group_name=name,
        kinds=KINDS[table],
        owners=list(source.owners),
        pool=POOLS.get(table),
        description=f"{DESCRIPTIONS[table]}\n\n{source.description}".strip(),
        tags={"source": name, "table": table},
        metadata={} if table == EMBEDDINGS else {"dagster/column_schema": column_schema(schema(table))},
    )
    def _materialize(context: dg.AssetExecutionContext) -> Iterator[Any]:
        run: BatchRun = context.resources.run
        with run.failing_for_good():
            batch = run.batch(name, context.partition_key)
            page = report_url(link, str(batch.batch))
            try:
                report = STAGES[table](batch)
            except MassDeletion as error:
                refused = failed_guard(name, error)
                run.outcomes.append(refused)
                yield from check_results(key, [refused], context.partition_key, page)
                raise
            tables = batch_tables(batch)
            outcomes = [*_guard(batch, table), *run_checks(table, stage_tables(batch, table))]
            run.add(report, outcomes)
            if table == EMBEDDINGS and not blocking(outcomes):
                run.published = publish(batch, _verdicts(run, tables))
        yield dg.MaterializeResult(
            metadata=batch_metadata(table, tables.tables[table], report, tables.max_model_tokens, page),
            check_results=check_results(key, outcomes, context.partition_key, page),
        )

    return _materialize


def _guard(batch: BatchContext, table: str) -> list[Outcome]:
    """The verdicts on what the listing lacks and on the published files, shown beside ``raw_documents``."""
    if table != RAW_DOCUMENTS:
        return []
    return [deletions_within_bounds(batch.session, batch.batch.source), published_intact(batch)]


def _verdicts(run: BatchRun, tables: BatchTables) -> list[Outcome]:
    """The checks of all four tables: those of this run when it made them all, else they run now.

    So ``embeddings`` run alone can't publish what a check refused before.
    """
    if {report.table for report in run.reports} == set(TABLES):
        return run.outcomes
    return [outcome for table in TABLES for outcome in run_checks(table, tables)]
