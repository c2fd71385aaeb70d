"""The checks of one batch alone, run again: Dagster itself runs a partitioned check only with its asset."""

import time
from contextlib import closing

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationPlanned
from dagster._core.events import DagsterEvent

from chunk_assets.alerts.outcomes import record
from chunk_assets.catalog import Catalog
from chunk_assets.checks import run_checks
from chunk_assets.defs.asset_checks import check_metadata, dagster_severity
from chunk_assets.defs.logs import report_url
from chunk_assets.defs.partitions import partitions_of
from chunk_assets.defs.places import RECHECK
from chunk_assets.defs.session import options_from
from chunk_assets.errors import StopRun
from chunk_assets.pipeline import BatchContext, Session, batch_tables
from chunk_assets.records import TABLES, Outcome
from chunk_assets.storage import staging


def recheck_job(catalog: Catalog, source: str) -> dg.JobDefinition:
    """The job ``recheck_<source>``: one partition is one batch."""
    partitions = partitions_of(catalog.source(source))

    @dg.op(
        name=f"{RECHECK}{source}_batch", description="Runs the checks; converts, chunks and embeds nothing."
    )
    def _recheck(context: dg.OpExecutionContext) -> None:
        run_id, key = context.run_id, context.partition_key
        try:
            with (
                closing(Session(catalog, options_from({}, run_id))) as session,
                session.batch(source, key) as batch,
            ):
                found = _verdicts(batch)
                record(batch.layout, batch.batch, found, run_id, time.time(), ended=False)
        except StopRun as error:
            raise dg.Failure(str(error), allow_retries=False) from error
        page = report_url(catalog.alerts.link_base, f"{source}/{key}")
        for outcome in found:
            _report(context, partitions, _evaluation(source, key, outcome, page))
        failed = [outcome.name for outcome in found if not outcome.passed]
        context.log.info("%d checks, failed: %s", len(found), ", ".join(failed) or "none")

    @dg.job(
        name=f"{RECHECK}{source}",
        partitions_def=partitions,
        description="Runs the checks of one batch again, and nothing else.",
        tags={"source": source},
        executor_def=dg.in_process_executor,
    )
    def job() -> None:
        _recheck()

    return job


def _verdicts(batch: BatchContext) -> list[Outcome]:
    """Of what a check refused and was staged, or else of what is published; nothing when there is nothing."""
    under_way = any(staging.staged(batch.layout, table, batch.batch) for table in TABLES)
    tables = batch_tables(batch, published=not under_way)
    return [outcome for table in TABLES if table in tables.tables for outcome in run_checks(table, tables)]


def _report(
    context: dg.OpExecutionContext,
    partitions: dg.PartitionsDefinition[str],
    evaluation: dg.AssetCheckEvaluation,
) -> None:
    """Records a verdict as one of this run, announced and then given, as Dagster does with its own.

    Without a run, Dagster takes a verdict on a partition only once.
    """
    planned = AssetCheckEvaluationPlanned(
        asset_key=evaluation.asset_key,
        check_name=evaluation.check_name,
        partitions_subset=partitions.subset_with_partition_keys([str(evaluation.partition)]),
    )
    kinds = dg.DagsterEventType
    for kind, data in (
        (kinds.ASSET_CHECK_EVALUATION_PLANNED, planned),
        (kinds.ASSET_CHECK_EVALUATION, evaluation),
    ):
        event = DagsterEvent(kind.value, context.job_name, event_specific_data=data)
        context.instance.report_dagster_event(event, context.run_id)


def _evaluation(source: str, key: str, outcome: Outcome, page: str) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey([source, outcome.table]),
        check_name=outcome.name,
        passed=outcome.passed,
        severity=dagster_severity(outcome),
        description=outcome.summary,
        metadata=check_metadata(outcome, key, page),
        partition=key,
    )
