"""The pipeline on one page: what each stage reads, makes and stages, and what publishing does."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from chunk_assets.errors import StopRun
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.converting import Conversions
from chunk_assets.pipeline.embedding import Embedding
from chunk_assets.pipeline.guard import guard_source
from chunk_assets.pipeline.holding import some_wait, to_hold
from chunk_assets.pipeline.previous import previous_markdown
from chunk_assets.pipeline.reading import forget_the_gone, read_documents
from chunk_assets.pipeline.reports import PublishReport, StageReport
from chunk_assets.pipeline.slicing import Slicing
from chunk_assets.pipeline.sparse import embedding_of
from chunk_assets.pipeline.stages import (
    begin,
    finish,
    input_of,
    is_settled,
    settle_all,
    staged_rows,
    unchanged,
)
from chunk_assets.pipeline.statuses import equals_published, final_report, settle
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, TABLES, Outcome
from chunk_assets.storage import staging
from chunk_assets.storage.commit import Manifest, publish_files, stamp_of
from chunk_assets.storage.rows import raw_rows
from chunk_assets.storage.schemas import schema
from chunk_assets.storage.tables import TableWriter, write_table


def stage_raw(context: BatchContext) -> StageReport:
    """Lists the batch's documents, hashes what is new or touched, and stages ``raw_documents``.

    Raises:
        SourceUnavailable: the source can't be listed.
        MassDeletion: more documents are missing than the source's guard allows, or the listing is
            empty or partial and lacks some.
    """
    if context.is_current:
        return unchanged(context, RAW_DOCUMENTS)
    started = begin(context, RAW_DOCUMENTS)
    settled_before = context.is_settleable
    guard_source(context.session, context.batch.source)
    read_before = dict(context.state.documents)
    rows = raw_rows(read_documents(context))
    forget_the_gone(context)
    context.state.listing_digest = ""
    context.save()
    worked = sum(read_before.get(name) is not seen for name, seen in context.state.documents.items())
    if settled_before and not some_wait(context) and equals_published(context, rows):
        settle_all(context)
        return replace(unchanged(context, RAW_DOCUMENTS), worked=worked)
    path = context.layout.staged_file(RAW_DOCUMENTS, context.batch)
    write_table(path, RAW_DOCUMENTS, rows, schema(RAW_DOCUMENTS))
    return finish(context, RAW_DOCUMENTS, started, made_from="", worked=worked)


def stage_markdown(context: BatchContext) -> StageReport:
    """Converts what is new, changed or due for another attempt; carries the other rows over."""
    if context.is_current or is_settled(context):
        return unchanged(context, MARKDOWN_DOCUMENTS)
    made_from = input_of(context, MARKDOWN_DOCUMENTS)
    left_over = staging.leftovers(context.layout, MARKDOWN_DOCUMENTS, context.batch)
    previous = [
        *previous_markdown(context.published_file(MARKDOWN_DOCUMENTS)),
        *previous_markdown(left_over),
    ]
    started = time.perf_counter()
    rows = staged_rows(context, RAW_DOCUMENTS).to_pylist()
    work = Conversions(context, rows, previous)
    path = context.layout.staged_file(MARKDOWN_DOCUMENTS, context.batch)
    with TableWriter(path, MARKDOWN_DOCUMENTS, schema(MARKDOWN_DOCUMENTS)) as writer:
        for portion in work.portions():
            writer.write(portion)
    context.save()
    context.note_rate("converted_bytes", work.bytes, time.perf_counter() - started)
    return finish(
        context,
        MARKDOWN_DOCUMENTS,
        started,
        made_from=made_from,
        worked=work.worked,
        fresh=work.fresh if previous else None,
        peak_mb=work.peak_mb,
    )


def stage_chunks(context: BatchContext) -> StageReport:
    """Chunks documents whose markdown, policy or payload changed; carries the other rows over."""
    if context.is_current or is_settled(context):
        return unchanged(context, CHUNKS)
    made_from = input_of(context, CHUNKS)
    started = begin(context, CHUNKS)
    stage = staging.staged(context.layout, MARKDOWN_DOCUMENTS, context.batch)
    if stage is None:
        raise StopRun(f"markdown_documents of {context.batch} is not staged")
    markdown_file = staging.path_of(context.layout, MARKDOWN_DOCUMENTS, context.batch, stage)
    work = Slicing(context, staged_rows(context, RAW_DOCUMENTS), markdown_file)
    path = context.layout.staged_file(CHUNKS, context.batch)
    with TableWriter(path, CHUNKS, schema(CHUNKS)) as writer:
        for portion in work.portions():
            writer.write(portion)
    context.note_rate("chunked_documents", len(work.worked), time.perf_counter() - started)
    fresh = work.worked if work.previous else None
    return finish(context, CHUNKS, started, made_from=made_from, worked=len(work.worked), fresh=fresh)


def stage_embeddings(context: BatchContext) -> StageReport:
    """Looks up every chunk's vector, embeds the texts that have none, and stages ``embeddings``.

    The report's ``statuses`` and ``failures`` are those of the whole batch, final.

    Raises:
        BudgetReached: the run's token budget would be exceeded; vectors made so far are kept.
        StopRun: the embedder is down; vectors made so far are kept.
    """
    if context.is_current or is_settled(context):
        return unchanged(context, EMBEDDINGS)
    made_from = input_of(context, EMBEDDINGS)
    started = begin(context, EMBEDDINGS)
    stage = staging.staged(context.layout, CHUNKS, context.batch)
    if stage is None:
        raise StopRun(f"chunks of {context.batch} is not staged")
    work = embedding_of(context, staging.path_of(context.layout, CHUNKS, context.batch, stage))
    work.vectors_for_all()
    if held := to_hold(context, work):
        context.held = held
        made_from = _made_again(context, work)
    context.note_rate(f"tokens/{context.recipe.model_fingerprint}", work.tokens, work.seconds)
    path = context.layout.staged_file(EMBEDDINGS, context.batch)
    with TableWriter(path, EMBEDDINGS, context.embeddings_schema) as writer:
        for portion in work.portions():
            writer.write(portion)
    fresh = work.missing if work.same_rows else None
    report = finish(context, EMBEDDINGS, started, made_from=made_from, worked=work.texts, fresh=fresh)
    settle(context, work)
    return final_report(context, report, work)


def _made_again(context: BatchContext, work: Embedding) -> str:
    """The stages before once more, with the documents that are held as they are published."""
    for stage in (stage_raw, stage_markdown, stage_chunks):
        stage(context)
    chunks = staging.staged(context.layout, CHUNKS, context.batch)
    if chunks is not None:
        work.chunks_file = staging.path_of(context.layout, CHUNKS, context.batch, chunks)
    return input_of(context, EMBEDDINGS)


def publish(context: BatchContext, outcomes: Sequence[Outcome] = ()) -> PublishReport:
    """Makes the four staged files the published ones, all at once; does nothing when they are equal.

    Raises:
        StopRun: a stage is missing or older than the one before it, or an outcome of severity ``error``
            failed; readers keep the previous version.
    """
    if context.is_current:
        return PublishReport(context.batch)
    _refuse_failed(context, outcomes)
    input_of(context, "")
    stages = {table: staging.staged(context.layout, table, context.batch) for table in TABLES}
    files = {table: stage.facts for table, stage in stages.items() if stage is not None}
    own = {
        table: staging.path_of(context.layout, table, context.batch, stage)
        for table, stage in stages.items()
        if stage is not None and not stage.published
    }
    manifest = Manifest(files, context.recipe.digest, context.recipe.model_fingerprint)
    empty = not context.documents
    if empty:  # nobody comes back to a batch that is gone
        staging.clear(context.layout, context.batch, TABLES)
    if own or manifest != context.manifest:
        if context.session.remote is not None:  # the truth first, then the folder that shows it
            context.session.remote.commit(context.batch, {} if empty else own, None if empty else manifest)
        publish_files(context.layout, context.batch, {} if empty else own, None if empty else manifest)
        context.published = True
    removed = tuple(context.manifest.files) if empty and context.manifest else ()
    _remember(context, manifest)
    names = [context.layout.table_file(table, context.batch) for table in (removed if empty else own)]
    paths = tuple(path.relative_to(context.layout.home).as_posix() for path in names)
    return PublishReport(context.batch, () if empty else paths, paths if empty else ())


def _refuse_failed(context: BatchContext, outcomes: Sequence[Outcome]) -> None:
    failed = [outcome for outcome in outcomes if not outcome.passed and outcome.severity == "error"]
    if failed:
        names = ", ".join(f"{outcome.name} ({outcome.summary})" for outcome in failed)
        msg = f"batch {context.batch} is not published: {names}; readers keep the version before"
        raise StopRun(msg)


def _remember(context: BatchContext, manifest: Manifest) -> None:
    """Notes that this listing and recipe are done, and forgets the stages."""
    state = context.state
    paths = {table: context.layout.table_file(table, context.batch) for table in manifest.files}
    state.stamps = {table: stamp for table, path in paths.items() if (stamp := stamp_of(path))}
    stale = any(
        d.version != getattr(state.documents.get(d.document_id), "version", d.version)
        for d in context.documents
    )
    state.listing_digest = "" if stale else context.listing_digest
    # First: once the state says that all is done, no run would come back to clear up after a kill.
    staging.clear(context.layout, context.batch, TABLES)
    context.save()
    if not context.documents:
        context.layout.state_file(context.batch).unlink(missing_ok=True)
    context.forget()
