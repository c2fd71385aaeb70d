"""The last word on each document: read, converted, and wholly embedded, or why not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.converting import OF_CHUNKS
from chunk_assets.pipeline.embedding import Embedding, Missing
from chunk_assets.pipeline.holding import count_held
from chunk_assets.pipeline.reports import StageReport
from chunk_assets.pipeline.stages import STATUS_COLUMNS, note, staged_rows, statuses_of
from chunk_assets.records import MARKDOWN_DOCUMENTS, OK, RAW_DOCUMENTS
from chunk_assets.storage import staging
from chunk_assets.storage.schemas import schema
from chunk_assets.storage.state import Attempts
from chunk_assets.storage.tables import RowStream, TableWriter, read_table, write_table

if TYPE_CHECKING:
    import pyarrow as pa

OF_EMBEDDING = "embedding:"


def settle(context: BatchContext, work: Embedding) -> None:
    """Writes what the embedder refused into the statuses of the documents, and remembers it."""
    _remember_refusals(context, work)
    rows = staged_rows(context, MARKDOWN_DOCUMENTS, STATUS_COLUMNS).to_pylist()
    converted = {row["document_id"]: row for row in rows}
    overruled = {name: _overrule(converted[name], missing) for name, missing in work.missing.items()}
    context.state.overruled = {
        name: (converted[name]["status"], converted[name]["reason"]) for name in overruled
    }
    if overruled:
        _rewrite_markdown(context, overruled)
    _rewrite_raw(context, converted | overruled)
    context.save()


def final_report(context: BatchContext, report: StageReport, work: Embedding) -> StageReport:
    """The report of the last stage, with the final statuses of the batch."""
    statuses, failures = statuses_of(context)
    return replace(
        report,
        statuses=statuses,
        failures=failures,
        texts=work.texts,
        tokens=work.tokens,
        reused=work.reused,
        refused=len(work.refusals),
        sparse_texts=work.sparse.texts if work.sparse else 0,
        provider=work.provider,
    )


def _overrule(row: dict[str, Any], missing: Missing) -> dict[str, Any]:
    embedded = missing.chunks - len(missing.without)
    first, reason = missing.without[0]
    text = f"{embedded}/{missing.chunks} {OF_CHUNKS}; {first}: {reason}"
    if row["status"] != OK:
        text = f"{row['reason']}; {text}"
    status = "partial" if embedded else "embedding_failed"
    return row | {"status": status, "reason": text, "attempts": max(1, row["attempts"])}


def _remember_refusals(context: BatchContext, work: Embedding) -> None:
    """Final refusals are not sent again; passing ones are counted, and final after too many attempts."""
    state, model = context.state, context.recipe.model_fingerprint
    most = context.catalog.retry_rule(context.batch.source).max_attempts
    refused = {key.hex(): refusal.reason for key, refusal in work.refusals.items() if refusal.final}
    for name in [n for n, a in state.attempts.items() if a.cause.startswith(OF_EMBEDDING)]:
        if not (name in work.missing and work.missing[name].passing):
            del state.attempts[name]
    for name, missing in work.missing.items():
        if not missing.passing:
            continue
        cause = OF_EMBEDDING + model
        before = state.attempts.get(name)
        count = before.count + 1 if before is not None and before.cause == cause else 1
        reason = missing.without[0][1]
        state.attempts[name] = Attempts(count, time.time(), cause, "embedding_failed", reason)
        if count >= most:
            refused |= {key.hex(): reason for key in missing.passing}
    count_held(context, refused)
    state.refused = {model: refused} if refused else {}


def _rewrite_markdown(context: BatchContext, changed: dict[str, dict[str, Any]]) -> None:
    """Stages ``markdown_documents`` once more, with other statuses; its version stays what it was."""
    layout, batch = context.layout, context.batch
    stage = staging.staged(layout, MARKDOWN_DOCUMENTS, batch)
    if stage is None:
        return
    source = staging.path_of(layout, MARKDOWN_DOCUMENTS, batch, stage)
    path = layout.staged_file(MARKDOWN_DOCUMENTS, batch)
    with TableWriter(path, MARKDOWN_DOCUMENTS, schema(MARKDOWN_DOCUMENTS)) as writer:
        for portion in RowStream(source).take(stage.facts.rows):
            writer.write(with_statuses(portion, changed))
    note(context, MARKDOWN_DOCUMENTS, stage.made_from, stage.version, stage.fresh)


def _rewrite_raw(context: BatchContext, converted: dict[str, dict[str, Any]]) -> None:
    """A document that was read well has the status of its conversion and embedding."""
    stage = staging.staged(context.layout, RAW_DOCUMENTS, context.batch)
    rows = staged_rows(context, RAW_DOCUMENTS)
    if stage is None:
        return
    read = zip(*(rows[name].to_pylist() for name in ("document_id", "status")), strict=True)
    changed = {name: converted[name] for name, status in read if status == OK}
    path = context.layout.staged_file(RAW_DOCUMENTS, context.batch)
    write_table(path, RAW_DOCUMENTS, with_statuses(rows, changed), schema(RAW_DOCUMENTS))
    note(context, RAW_DOCUMENTS, "", stage.version)


def equals_published(context: BatchContext, rows: pa.Table) -> bool:
    """Whether freshly read rows are the published ones, but for what came of the documents later."""
    published = context.published_file(RAW_DOCUMENTS)
    before = read_table(published) if published is not None else None
    if before is None or before.num_rows != rows.num_rows:
        return False
    read_well = {n for n, s in _pairs(rows, "document_id", "status") if s == OK}
    hashes = dict(_pairs(rows, "document_id", "document_sha256"))
    later = [
        dict(zip(("document_id", *STATUS_COLUMNS[1:], "sha256"), row, strict=True))
        for row in _pairs(before, *STATUS_COLUMNS, "document_sha256")
    ]
    same = {r["document_id"]: r for r in later if hashes.get(r["document_id"]) == r["sha256"]}
    known = {name: row for name, row in same.items() if name in read_well}
    return bool(with_statuses(rows, known).cast(before.schema).equals(before))


def _pairs(rows: pa.Table, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows[name].to_pylist() for name in columns), strict=True)


def with_statuses(rows: pa.Table, changed: dict[str, dict[str, Any]]) -> pa.Table:
    """Rows with ``status``, ``reason`` and ``attempts`` of some documents replaced."""
    import pyarrow as pa

    ids = rows["document_id"].to_pylist()
    if not changed.keys() & set(ids):
        return rows
    for column in STATUS_COLUMNS[1:]:
        place = rows.schema.get_field_index(column)
        kind = rows.schema.field(place)
        values = rows[column].to_pylist()
        new = [changed[i][column] if i in changed else v for i, v in zip(ids, values, strict=True)]
        rows = rows.set_column(place, kind, pa.array(new, kind.type))
    return rows
