"""The pipeline on one page: what each stage reads, makes and stages, and what publishing does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chunk_assets.catalog import Catalog
from chunk_assets.checks.base import BatchTables
from chunk_assets.pipeline.context import BatchContext, RunOptions
from chunk_assets.pipeline.reports import BatchReport, PublishReport, RunReport, StageReport
from chunk_assets.records import Outcome
from chunk_assets.storage.layout import Batch


def stage_raw(context: BatchContext) -> StageReport:
    """Lists the batch's documents, hashes what is new or touched, and stages ``raw_documents``.

    Raises:
        SourceUnavailable: the source can't be listed, or only in part while documents are missing.
        MassDeletion: more documents are missing than the source's guard allows.
    """
    raise NotImplementedError


def stage_markdown(context: BatchContext) -> StageReport:
    """Converts what is new, changed or due for another attempt; carries the other rows over."""
    raise NotImplementedError


def stage_chunks(context: BatchContext) -> StageReport:
    """Chunks documents whose markdown, policy or payload changed; carries the other rows over."""
    raise NotImplementedError


def stage_embeddings(context: BatchContext) -> StageReport:
    """Looks up every chunk's vector, embeds the texts that have none, and stages ``embeddings``.

    The report's ``statuses`` and ``failures`` are those of the whole batch, final.

    Raises:
        BudgetReached: the run's token budget would be exceeded; vectors made so far are kept.
        StopRun: the embedder is down; vectors made so far are kept.
    """
    raise NotImplementedError


def batch_tables(context: BatchContext) -> BatchTables:
    """What the checks read: the staged tables (as far as they are staged) and the published ones.

    Right after ``stage_raw`` only ``raw_documents`` is in it, and so on; after ``publish`` the published.
    """
    raise NotImplementedError


def publish(context: BatchContext, outcomes: Sequence[Outcome] = ()) -> PublishReport:
    """Makes the four staged files the published ones, all at once; does nothing when they are equal.

    Raises:
        StopRun: a stage is missing or older than the one before it, or an outcome of severity ``error``
            failed; readers keep the previous version.
    """
    raise NotImplementedError


def run_batch(
    catalog: Catalog, source: str, slice_key: str, options: RunOptions | None = None
) -> BatchReport:
    """All stages, the checks of the shelf and the publication of one batch."""
    raise NotImplementedError


def run_sources(
    catalog: Catalog, batches: Iterable[Batch] | None = None, options: RunOptions | None = None
) -> RunReport:
    """Every batch (all of the catalog by default), listing each source once.

    A source that trips its deletion guard is left alone, with a failed outcome ``deletions_within_bounds``.
    """
    raise NotImplementedError
