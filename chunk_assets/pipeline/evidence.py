"""What the checks of a batch are given to read, and the check on the published files themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from chunk_assets.checks import columns_read
from chunk_assets.checks.base import WARN, BatchTables
from chunk_assets.errors import DocumentFailure
from chunk_assets.hashing import sha256_bytes
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.stages import staged_rows, touched
from chunk_assets.records import MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, TABLES, ChunkSpan, Outcome
from chunk_assets.sources import read_bytes
from chunk_assets.storage import staging
from chunk_assets.storage.rows import metadata_of
from chunk_assets.storage.tables import RowStream, of_documents, read_table

if TYPE_CHECKING:
    import pyarrow as pa

INTACT = "published_files_intact"
# Embedder inputs of a batch whose tokens a run counts once more.
RECOUNTED = 512


def stage_tables(context: BatchContext, table: str) -> BatchTables:
    """``batch_tables`` for the checks of a table that was just staged, with no more than they look at.

    Only documents with rows of this run (all, for ``raw_documents``), only columns that these checks
    read, and a bounded number of texts whose tokens are counted again: ``verify`` counts all.
    """
    found = batch_tables(context, fresh_only=table != RAW_DOCUMENTS)
    for tables in (found.tables, found.previous):
        if isinstance(tables, _Lazy):
            tables.columns = columns_read(table)
    return replace(found, recount=RECOUNTED)


def batch_tables(context: BatchContext, *, published: bool = False, fresh_only: bool = False) -> BatchTables:
    """What the checks read: the staged tables (as far as they are staged) and the published ones.

    Right after ``stage_raw`` only ``raw_documents`` is in it, and so on; after ``publish``, or when there
    was nothing to do, or ``published`` is asked for, the published ones. Tables are loaded when a check
    asks for them. ``fresh_only`` leaves out documents all of whose rows were carried over from published
    tables: those were checked when they were made.
    """
    layout, batch = context.layout, context.batch
    under_way = [] if published else [t for t in TABLES if staging.staged(layout, t, batch) is not None]
    names = under_way or [t for t in TABLES if context.manifest is not None]
    before = [t for t in TABLES if context.published_file(t) is not None] if under_way else []
    only = touched(context) if under_way and fresh_only else None
    tables = _Lazy(context, tuple(names), published=not under_way, only=only)
    return BatchTables(
        source=batch.source,
        slice=batch.slice,
        tables=tables,
        previous=_Lazy(context, tuple(before), published=True, only=only),
        max_model_tokens=context.recipe.max_model_tokens,
        min_tokens=context.recipe.min_tokens,
        listed=len(context.documents) if under_way and only is None else None,
        rechunk=None if published and not same_recipe(context) else partial(rechunk, context, tables),
        reread=lambda document_id: _reread(context, document_id),
        count_model_tokens=context.recipe.count_model_tokens,
    )


@dataclass
class _Lazy(Mapping[str, "pa.Table"]):
    context: BatchContext
    names: tuple[str, ...]
    published: bool = False
    only: set[str] | None = None
    # Columns to load by table; every column of a table that is not in it.
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    loaded: dict[str, pa.Table] = field(default_factory=dict)

    def __getitem__(self, table: str) -> pa.Table:
        if table not in self.names:
            raise KeyError(table)
        if table not in self.loaded:
            self.loaded[table] = self._load(table)
        return self.loaded[table]

    def _load(self, table: str) -> pa.Table:
        import pyarrow as pa

        path = self.context.layout.table_file(table, self.context.batch)
        stage = staging.staged(self.context.layout, table, self.context.batch)
        if stage is not None and not self.published:
            path = staging.path_of(self.context.layout, table, self.context.batch, stage)
        columns = self.columns.get(table)
        if self.only is None:
            rows = read_table(path, columns)
            return rows if rows is not None else staged_rows(self.context, table, columns)
        portions = list(RowStream(path, self.only, columns).all())
        if portions:
            return pa.concat_tables(portions)
        return staged_rows(self.context, table, columns).slice(0, 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def same_recipe(context: BatchContext) -> bool:
    """Whether the published tables were made by the recipe of now."""
    return context.manifest is not None and context.manifest.recipe == context.recipe.digest


def rechunk(context: BatchContext, tables: _Lazy, document_id: str) -> list[ChunkSpan]:
    """Chunks one document again from its rows, by the recipe of now."""
    (raw,) = of_documents(tables[RAW_DOCUMENTS], [document_id]).to_pylist()
    stage = staging.staged(context.layout, MARKDOWN_DOCUMENTS, context.batch)
    path = context.layout.table_file(MARKDOWN_DOCUMENTS, context.batch)
    if stage is not None and not tables.published:
        path = staging.path_of(context.layout, MARKDOWN_DOCUMENTS, context.batch, stage)
    columns = ["document_id", "markdown", "file_type", "has_headings", "has_clean_paragraphs"]
    rows = [row for portion in RowStream(path, [document_id], columns).take(1) for row in portion.to_pylist()]
    if not rows:
        return []
    row = rows[0]
    facts = {name: row[name] for name in columns[2:]}
    return context.recipe.chunk(row["markdown"], context.recipe.strategy(metadata_of(raw, **facts)))


def _reread(context: BatchContext, document_id: str) -> str | None:
    listed = context.by_id.get(document_id)
    try:
        return sha256_bytes(read_bytes(listed, context.source)) if listed else None
    except DocumentFailure:
        return None


def published_intact(context: BatchContext) -> Outcome:
    """Whether the published files are those of the manifest; what is not is made anew by the same run."""
    damaged = context.damaged
    named = "; ".join(f"{table} of {context.batch}: {what}" for table, what in damaged.items())
    return Outcome(
        name=INTACT,
        table=RAW_DOCUMENTS,
        passed=not damaged,
        severity=WARN,
        summary=named or "the published files are those of the manifest",
        counts={"damaged": len(damaged)},
        examples=tuple(
            {"document_id": "", "page": "", "what": f"{table}: {what}"} for table, what in damaged.items()
        ),
    )
