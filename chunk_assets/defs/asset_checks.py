"""The checks of the shelf as Dagster's: a spec beside each asset, and verdicts with examples."""

import warnings
from collections.abc import Iterable

import dagster as dg

from chunk_assets.checks import checks_of
from chunk_assets.checks.base import ERROR
from chunk_assets.pipeline.evidence import INTACT
from chunk_assets.pipeline.guard import CHECK_NAME as GUARD_CHECK
from chunk_assets.records import RAW_DOCUMENTS, Outcome

INTACT_PROMISE = "The published files are the ones that were written; damaged ones are made again."
GUARD_PROMISE = "A listing that shrinks suspiciously deletes nothing until the deletions are confirmed."


def check_specs(
    key: dg.AssetKey, table: str, partitions: dg.PartitionsDefinition[str]
) -> list[dg.AssetCheckSpec]:
    """One spec a check of ``table``; those of severity ``error`` block what is downstream."""
    promises = [(check.name, check.promise, check.severity == ERROR) for check in checks_of(table)]
    if table == RAW_DOCUMENTS:
        promises[:0] = [(GUARD_CHECK, GUARD_PROMISE, True), (INTACT, INTACT_PROMISE, False)]
    with warnings.catch_warnings():
        # Partitions of checks are in preview in Dagster 1.13, whose minor version is held for that reason.
        warnings.simplefilter("ignore", category=dg.PreviewWarning)
        return [
            dg.AssetCheckSpec(
                name, asset=key, description=promise, blocking=blocks, partitions_def=partitions
            )
            for name, promise, blocks in promises
        ]


def blocking(outcomes: Iterable[Outcome]) -> bool:
    """Whether any verdict keeps the batch from being published."""
    return any(not outcome.passed and outcome.severity == ERROR for outcome in outcomes)


def check_results(
    key: dg.AssetKey, outcomes: Iterable[Outcome], partition: str, report: str = ""
) -> list[dg.AssetCheckResult]:
    """Verdicts with their counts as numbers (the UI plots them), the worst rows as a table, and a link.

    ``report`` is the address of the page that shows the batch with all its chunks.
    """
    return [
        dg.AssetCheckResult(
            asset_key=key,
            check_name=outcome.name,
            passed=outcome.passed,
            severity=dagster_severity(outcome),
            description=outcome.summary,
            metadata=check_metadata(outcome, partition, report),
        )
        for outcome in outcomes
    ]


def dagster_severity(outcome: Outcome) -> dg.AssetCheckSeverity:
    """The severity in Dagster's words."""
    return dg.AssetCheckSeverity.ERROR if outcome.severity == ERROR else dg.AssetCheckSeverity.WARN


def check_metadata(outcome: Outcome, partition: str, report: str) -> dict[str, dg.MetadataValue]:
    """What is shown of a verdict."""
    metadata: dict[str, dg.MetadataValue] = {"batch": dg.MetadataValue.text(partition)}
    for name, value in outcome.counts.items():
        metadata[name] = (
            dg.MetadataValue.float(value) if isinstance(value, float) else dg.MetadataValue.int(value)
        )
    if outcome.examples:
        metadata["examples"] = dg.MetadataValue.table(
            records=[dg.TableRecord(dict(example)) for example in outcome.examples],
            schema=dg.TableSchema([dg.TableColumn(name) for name in ("document_id", "page", "what")]),
        )
    if report:
        metadata["report"] = dg.MetadataValue.url(report)
    return metadata
