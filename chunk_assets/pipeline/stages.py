"""Book-keeping of stages: what was staged from what, and what a report says of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chunk_assets.errors import StopRun
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.reports import FailedDocument, StageReport
from chunk_assets.records import EMBEDDINGS, MARKDOWN_DOCUMENTS, OK, RAW_DOCUMENTS, TABLES
from chunk_assets.storage import staging
from chunk_assets.storage.schemas import schema
from chunk_assets.storage.tables import clean_temporaries, facts_of, read_table

if TYPE_CHECKING:
    import pyarrow as pa

STATUS_COLUMNS = ("document_id", "status", "reason", "attempts")


def begin(context: BatchContext, table: str) -> float:
    """Forgets an earlier attempt at a stage; gives the time it starts at."""
    staging.clear_stage(context.layout, table, context.batch)
    clean_temporaries(context.layout.staged_file(table, context.batch).parent)
    return time.perf_counter()


def finish(
    context: BatchContext,
    table: str,
    started: float,
    *,
    made_from: str,
    worked: int,
    fresh: Iterable[str] | None = None,
    peak_mb: float = 0.0,
) -> StageReport:
    """Notes that a stage is complete; a file equal to the published one is not kept twice."""
    version = note(context, table, made_from, fresh=fresh)
    stage = staging.staged(context.layout, table, context.batch)
    rows = stage.facts.rows if stage else 0
    before = context.manifest.files[table].rows if context.manifest and table in context.manifest.files else 0
    return StageReport(
        table,
        rows,
        worked=worked,
        removed=max(0, before + worked - rows),
        unchanged=stage is not None and stage.published,
        statuses=_statuses(context, table),
        seconds=time.perf_counter() - started,
        peak_mb=peak_mb,
        version=version,
    )


def note(
    context: BatchContext, table: str, made_from: str, version: str = "", fresh: Iterable[str] | None = None
) -> str:
    """Writes the note of a finished stage; its version is the hash of its file, unless one is given."""
    path = context.layout.staged_file(table, context.batch)
    facts = facts_of(path)
    if facts is None:
        raise StopRun(f"{path} vanished while batch {context.batch} was worked on")
    published = context.manifest is not None and context.manifest.files.get(table) == facts
    published = published and context.published_file(table) is not None
    version = version or facts.sha256
    names = None if fresh is None else tuple(sorted(fresh))
    stage = staging.Staged(facts, published, version, made_from, names)
    staging.note_stage(context.layout, table, context.batch, stage)
    return version


def settle_all(context: BatchContext) -> None:
    """Notes for every stage that the published file still holds."""
    version = ""
    for table in TABLES:
        facts = context.manifest.files[table] if context.manifest else None
        if facts is None:
            raise StopRun(f"{table} of batch {context.batch} is not published")
        stage = staging.Staged(facts, True, facts.sha256, version, (), table == RAW_DOCUMENTS)
        staging.note_stage(context.layout, table, context.batch, stage)
        version = facts.sha256


def is_settled(context: BatchContext) -> bool:
    """Whether the first stage found that nothing differs from what is published."""
    stage = staging.staged(context.layout, RAW_DOCUMENTS, context.batch)
    return stage is not None and stage.settled


def touched(context: BatchContext) -> set[str] | None:
    """Documents with rows that no published table had, in the stages so far; ``None`` when all are."""
    found: set[str] = set()
    for table in TABLES[1:]:
        stage = staging.staged(context.layout, table, context.batch)
        if stage is not None and stage.fresh is None:
            return None
        found.update(stage.fresh or () if stage is not None else ())
    return found


def input_of(context: BatchContext, table: str) -> str:
    """The version of the stage that ``table`` is made from, with all before it in order (``""``: all four).

    Raises:
        StopRun: a stage before is missing, or older than its own input.
    """
    version = ""
    for before in TABLES[: TABLES.index(table) if table else len(TABLES)]:
        stage = staging.staged(context.layout, before, context.batch)
        if stage is None or stage.made_from != version:
            what = "has not been staged" if stage is None else "is older than what it is made from"
            msg = f"{before} of batch {context.batch} {what}; run it again first"
            raise StopRun(msg)
        version = stage.version
    return version


def staged_rows(context: BatchContext, table: str, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of a finished stage; the published ones when none is under way; empty without either."""
    stage = staging.staged(context.layout, table, context.batch)
    path = context.layout.table_file(table, context.batch)
    if stage is not None:
        path = staging.path_of(context.layout, table, context.batch, stage)
    rows = read_table(path, columns)
    if rows is not None:
        return rows
    empty = (context.embeddings_schema if table == EMBEDDINGS else schema(table)).empty_table()
    return empty if columns is None else empty.select(list(columns))


def unchanged(context: BatchContext, table: str) -> StageReport:
    """The report of a stage that had nothing to do."""
    manifest = context.manifest
    rows = manifest.files[table].rows if manifest else 0
    statuses, failures = statuses_of(context) if table in (RAW_DOCUMENTS, EMBEDDINGS) else ({}, ())
    reused = rows if table == EMBEDDINGS else 0
    return StageReport(table, rows, unchanged=True, statuses=statuses, failures=failures, reused=reused)


def statuses_of(context: BatchContext) -> tuple[dict[str, int], tuple[FailedDocument, ...]]:
    """Documents by status, and the failed ones, by ``raw_documents`` as it stands."""
    rows = staged_rows(context, RAW_DOCUMENTS, (*STATUS_COLUMNS, "relative_path")).to_pylist()
    failures = tuple(
        FailedDocument(
            row["document_id"],
            row["relative_path"],
            row["status"],
            row["reason"],
            row["attempts"],
            *_next_attempt(context, row["document_id"]),
        )
        for row in rows
        if row["status"] != OK
    )
    return _count(row["status"] for row in rows), failures


def _next_attempt(context: BatchContext, document_id: str) -> tuple[bool, float]:
    """Whether a document is parked, and when it is due again: the wait doubles with each attempt."""
    attempts = context.state.attempts.get(document_id)
    rule = context.catalog.retry_rule(context.batch.source)
    if attempts is None or attempts.count >= rule.max_attempts:
        return True, 0.0
    wait: float = 60.0 * rule.first_wait_minutes * 2 ** (attempts.count - 1)
    return False, attempts.last + wait


def _statuses(context: BatchContext, table: str) -> dict[str, int]:
    if table not in (RAW_DOCUMENTS, MARKDOWN_DOCUMENTS):
        return {}
    return _count(staged_rows(context, table, ("status",))["status"].to_pylist())


def _count(statuses: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(statuses).items()))
