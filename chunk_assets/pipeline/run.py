"""Whole batches and whole catalogs: the stages in order, the checks between them, and the publication."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chunk_assets.catalog import Catalog
from chunk_assets.checks import run_checks
from chunk_assets.errors import BudgetReached, LockHeld, MassDeletion, SourceUnavailable, StopRun
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.core import publish, stage_chunks, stage_embeddings, stage_markdown, stage_raw
from chunk_assets.pipeline.evidence import published_intact, stage_tables
from chunk_assets.pipeline.guard import failed_guard, left_behind
from chunk_assets.pipeline.pruning import tidy
from chunk_assets.pipeline.reports import BatchReport, RunReport, StageReport
from chunk_assets.pipeline.session import RunOptions, Session
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, Outcome
from chunk_assets.storage.commit import published_batches
from chunk_assets.storage.layout import Batch
from chunk_assets.storage.tables import give_back

STAGES = {
    RAW_DOCUMENTS: stage_raw,
    MARKDOWN_DOCUMENTS: stage_markdown,
    CHUNKS: stage_chunks,
    EMBEDDINGS: stage_embeddings,
}


def run_batch(
    catalog: Catalog,
    source: str,
    slice_key: str,
    options: RunOptions | None = None,
    *,
    session: Session | None = None,
) -> BatchReport:
    """All stages, the checks of the shelf and the publication of one batch.

    A failed check of severity ``error`` stops before the next stage: the report says so in ``error`` and
    readers keep the version before. ``session`` shares listing and model with other batches.

    Raises:
        StopRun: whatever the stages raise.
    """
    own = session or Session(catalog, options or RunOptions())
    try:
        # A batch with nothing to do is not worth a lock, nor its checks another reading.
        if (context := own.peek(source, slice_key)).is_current:
            return _nothing_to_do(context)
        with own.batch(source, slice_key) as context:
            return _work(context)
    finally:
        if session is None:
            own.close()


def _nothing_to_do(context: BatchContext) -> BatchReport:
    stages = tuple(run(context) for run in STAGES.values())
    return BatchReport(context.batch, stages, published=publish(context))


def _work(context: BatchContext) -> BatchReport:
    outcomes: list[Outcome] = [published_intact(context)]
    stages: list[StageReport] = []
    for table, run in STAGES.items():
        stages.append(run(context))
        verdicts = run_checks(table, stage_tables(context, table))
        give_back()
        outcomes += verdicts
        if error := _blocked(context, verdicts):
            return BatchReport(context.batch, tuple(stages), tuple(outcomes), error=error)
    done = publish(context, outcomes)
    return BatchReport(context.batch, tuple(stages), tuple(outcomes), published=done)


def _blocked(context: BatchContext, verdicts: Iterable[Outcome]) -> StopRun | None:
    failed = [o for o in verdicts if not o.passed and o.severity == "error"]
    if not failed:
        return None
    error = StopRun(
        f"batch {context.batch} is not published, readers keep the version before: "
        + "; ".join(f"{o.name}: {o.summary}" for o in failed)
    )
    error.exit_code = 1
    return error


def all_batches(session: Session, sources: Iterable[str] | None = None) -> Iterator[Batch]:
    """Every batch that has documents, listed or published, source by source.

    New batches come first and those that lose all their documents last, so that a document that moves from
    one to the other is there before it goes.

    Raises:
        SourceUnavailable: a source can't be listed.
    """
    if session.remote is not None:
        session.remote.refresh()
    published = published_batches(session.layout)
    for source in sources if sources is not None else session.catalog.sources:
        session.listing(source)
        session.documents(source, "")
        here, before = set(session.slices[source]), {b.slice for b in published if b.source == source}
        for keys in (here - before, here & before, before - here):
            yield from (Batch(source, key) for key in sorted(keys))


def run_sources(
    catalog: Catalog,
    sources: Iterable[str] | None = None,
    options: RunOptions | None = None,
    *,
    batches: Iterable[Batch] | None = None,
    session: Session | None = None,
) -> RunReport:
    """Every batch of the sources (all of the catalog by default), listing each source once.

    Never raises for what concerns one source or batch: a source that can't be listed or trips its
    deletion guard is left alone, a locked batch or one over the budget is passed by; the report's
    ``errors`` and ``outcomes`` say so. Other faults (full disk, embedder down) end the run early,
    also as an error of the report.
    """
    own = session or Session(catalog, options or RunOptions())
    done: list[BatchReport] = []
    outcomes: list[Outcome] = []
    errors: list[StopRun] = []
    names = dict.fromkeys(b.source for b in batches) if batches is not None else sources
    wanted = set(batches) if batches is not None else None
    try:
        for source in names if names is not None else catalog.sources:
            try:
                found = all_batches(own, [source])
                # Batch by batch: what is done stays in the report when a later one raises.
                done.extend(_one(own, batch) for batch in found if wanted is None or batch in wanted)
            except MassDeletion as error:
                outcomes.append(failed_guard(source, error))
                errors.append(error)
            except SourceUnavailable as error:
                errors.append(error)
        if names is None and (verdict := left_behind(own)).counts["batches"]:
            outcomes.append(verdict)
        if batches is None:  # else the caller has more of them
            tidy(own)
    except StopRun as error:
        errors.append(error)
    finally:
        if session is None:
            own.close()
    errors += [report.error for report in done if report.error is not None]
    return RunReport(tuple(done), tuple(outcomes), tuple(errors))


def _one(session: Session, batch: Batch) -> BatchReport:
    try:
        return run_batch(session.catalog, batch.source, batch.slice, session=session)
    except (LockHeld, BudgetReached) as error:
        return BatchReport(batch, (), error=error)
