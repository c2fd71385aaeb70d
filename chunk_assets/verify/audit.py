"""The audit: files against the manifest, rows against each other and against what they are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.catalog import Catalog
from chunk_assets.checks import run_checks
from chunk_assets.hashing import point_id, sha256_text
from chunk_assets.pipeline import RunOptions, Session, batch_tables
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.records import CHUNKS, EMBEDDINGS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS, TABLES
from chunk_assets.storage.commit import damaged_tables, published_batches
from chunk_assets.storage.files import TEMPORARY
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.schemas import schema
from chunk_assets.storage.tables import facts_of, read_table
from chunk_assets.storage.vectors import VectorStore, input_key, stores_of
from chunk_assets.text.contexts import embedder_text
from chunk_assets.verify.faults import MANIFEST, STATE, VECTORS, Fault, fault

if TYPE_CHECKING:
    import pyarrow as pa

# Vectors computed again for each batch: the first by hash of their text, so the same on every run.
SAMPLE = 5
# Far above the last bits of a float that differ between machines, far below any change of a text.
VECTOR_TOLERANCE = 1e-3
# What these checks find is a document that can't be used, not a table that can't be trusted.
NOT_FAULTS = ("documents_readable", "token_minimum")


def verify(
    catalog: Catalog,
    sources: Iterable[str] | None = None,
    *,
    batches: Iterable[Batch] | None = None,
    options: RunOptions | None = None,
    session: Session | None = None,
) -> list[Fault]:
    """Everything that is wrong with the published tables, the state and the vectors; reads, writes nothing.

    Files are hashed whole, rows compared with each other and with their hashes, a sample of documents
    chunked again and a sample of texts embedded again. What a next run would do anyway (new files, a
    changed policy) is no fault: that is ``plan``'s subject.
    """
    own = session or Session(catalog, options or RunOptions())
    names = set(sources) if sources is not None else None
    wanted = set(batches) if batches is not None else None
    faults: list[Fault] = []
    for batch in published_batches(own.layout):
        if (names is None or batch.source in names) and (wanted is None or batch in wanted):
            faults += _audit(own, batch)
    if names is None and wanted is None:
        faults += [*_strays(own), *_store(own)]
    return sorted(faults)


def _audit(session: Session, batch: Batch) -> Iterator[Fault]:
    if batch.source not in session.catalog.sources:
        yield fault(MANIFEST, batch, "published, but its source is not in the catalog")
        return
    context = session.peek(batch.source, batch.slice)
    broken = list(_files(context))
    yield from broken
    if not broken:
        yield from _rows(context)
        yield from _checked(context)
        yield from _state(context)


def _files(context: BatchContext) -> Iterator[Fault]:
    """Hashes, sizes, row counts and schemas."""
    manifest = context.manifest
    if manifest is None:
        yield fault(MANIFEST, context.batch, "there are table files but no manifest that can be read")
        return
    damaged = damaged_tables(context.layout, context.batch, manifest, {})
    for table, what in damaged.items():
        yield fault(table, context.batch, what)
    for table in [t for t in TABLES if t not in damaged]:
        yield from _file(context, table, manifest.files[table].rows)


def _file(context: BatchContext, table: str, rows: int) -> Iterator[Fault]:
    import pyarrow.parquet as pq

    path = context.layout.table_file(table, context.batch)
    facts = facts_of(path)
    if facts is None or facts.rows != rows:
        yield fault(table, context.batch, f"{facts.rows if facts else 0} rows, the manifest says {rows}")
        return
    found = pq.read_schema(path)
    expected = schema(table) if table != EMBEDDINGS else None
    if expected is not None and [(f.name, f.type) for f in found] != [(f.name, f.type) for f in expected]:
        yield fault(table, context.batch, f"columns are {', '.join(found.names)}")


def _rows(context: BatchContext) -> Iterator[Fault]:
    """What no shelf check looks at: order, derived columns, and the tables against each other."""
    tables = {t: read_table(context.layout.table_file(t, context.batch)) for t in (RAW_DOCUMENTS, CHUNKS)}
    yield from _sorted(context, tables[RAW_DOCUMENTS], RAW_DOCUMENTS)
    columns = ("document_id", "document_sha256", "markdown", "markdown_sha256")
    markdown = read_table(context.layout.table_file(MARKDOWN_DOCUMENTS, context.batch), columns)
    yield from _sorted(context, markdown, MARKDOWN_DOCUMENTS)
    raw = _dict(tables[RAW_DOCUMENTS], "document_id", "document_sha256")
    for row in markdown.to_pylist() if markdown is not None else ():
        name = row["document_id"]
        if sha256_text(row["markdown"]) != row["markdown_sha256"]:
            yield fault(MARKDOWN_DOCUMENTS, context.batch, "markdown_sha256 is not that of the text", name)
        if raw.get(name) != row["document_sha256"]:
            yield fault(
                MARKDOWN_DOCUMENTS, context.batch, "made from other bytes than raw_documents has", name
            )
    yield from _chunk_rows(context, tables[CHUNKS], raw)
    yield from _vector_rows(context, tables[CHUNKS])


def _chunk_rows(context: BatchContext, chunks: pa.Table | None, raw: dict[str, str]) -> Iterator[Fault]:
    if chunks is None:
        return
    names = ("chunk_id", "point_id", "document_id", "document_sha256")
    for chunk, point, document, sha256 in zip(*(chunks[n].to_pylist() for n in names), strict=True):
        if point != point_id(chunk):
            yield fault(CHUNKS, context.batch, f"point_id is not that of {chunk}", chunk)
        if document not in raw:
            yield fault(CHUNKS, context.batch, f"of document {document}, which is not there", chunk)
        elif raw[document] != sha256:
            yield fault(CHUNKS, context.batch, "made from other bytes than raw_documents has", chunk)


def _vector_rows(context: BatchContext, chunks: pa.Table | None) -> Iterator[Fault]:
    """Keys, one model, and a sample of vectors computed again."""
    columns = ("chunk_id", "input_sha256", "model_fingerprint")
    path = context.layout.table_file(EMBEDDINGS, context.batch)
    rows = read_table(path, columns)
    if chunks is None or rows is None or context.manifest is None:
        return
    pairs = zip(chunks["context"].to_pylist(), chunks["text"].to_pylist(), strict=True)
    inputs = dict(zip(chunks["chunk_id"].to_pylist(), (embedder_text(*p) for p in pairs), strict=True))
    models = set(rows["model_fingerprint"].to_pylist())
    if models - {context.manifest.model_fingerprint}:
        yield fault(EMBEDDINGS, context.batch, f"vectors of more than one model: {', '.join(sorted(models))}")
    keys = dict(zip(rows["chunk_id"].to_pylist(), rows["input_sha256"].to_pylist(), strict=True))
    for name, key in keys.items():
        if name in inputs and input_key(inputs[name]).hex() != key:
            yield fault(
                EMBEDDINGS, context.batch, "input_sha256 is not that of the chunk's context and text", name
            )
    if context.manifest.model_fingerprint == context.recipe.model_fingerprint:
        yield from _sampled(context, {name: inputs[name] for name in keys if name in inputs})


def _sampled(context: BatchContext, inputs: dict[str, str]) -> Iterator[Fault]:
    import numpy as np

    names = sorted(inputs, key=lambda name: sha256_text(inputs[name]))[:SAMPLE]
    if not names:
        return
    rows = read_table(context.layout.table_file(EMBEDDINGS, context.batch), ("chunk_id", "vector"))
    stored = (
        {} if rows is None else dict(zip(rows["chunk_id"].to_pylist(), range(rows.num_rows), strict=True))
    )
    model = context.session.model()
    for answer in model.embed([inputs[name] for name in names], workers=context.session.workers):
        name = names[answer.index]
        vector = np.asarray(rows["vector"][stored[name]].as_py()) if rows is not None else None
        if answer.vector is None or vector is None:
            continue
        if not np.allclose(answer.vector, vector, atol=VECTOR_TOLERANCE):
            yield fault(EMBEDDINGS, context.batch, "embedding its text again gives another vector", name)


def _checked(context: BatchContext) -> Iterator[Fault]:
    """The checks of the shelf, on what is published."""
    tables = batch_tables(context, published=True)
    for table in TABLES:
        for outcome in run_checks(table, tables):
            if outcome.passed or outcome.name in NOT_FAULTS:
                continue
            for example in outcome.examples or ({"document_id": "", "what": outcome.summary},):
                what = f"{outcome.name}: {example['what']}"
                yield fault(table, context.batch, what, example["document_id"])


def _state(context: BatchContext) -> Iterator[Fault]:
    """What is remembered must be true of the tables."""
    rows = read_table(
        context.layout.table_file(RAW_DOCUMENTS, context.batch), ("document_id", "document_sha256")
    )
    raw = _dict(rows, "document_id", "document_sha256")
    complete = context.state.listing_digest != ""
    for name, seen in context.state.documents.items():
        if complete and raw.get(name) != seen.sha256:
            yield fault(STATE, context.batch, "remembers other bytes than raw_documents has", name)


def _sorted(context: BatchContext, rows: pa.Table | None, table: str) -> Iterator[Fault]:
    ids = rows["document_id"].to_pylist() if rows is not None else []
    if ids != sorted(set(ids)):
        yield fault(table, context.batch, "rows are not in the order of unique document ids")


def _dict(rows: pa.Table | None, key: str, value: str) -> dict[str, str]:
    return {} if rows is None else dict(zip(rows[key].to_pylist(), rows[value].to_pylist(), strict=True))


def _strays(session: Session) -> Iterator[Fault]:
    for path in strays(session.layout):
        name = path.relative_to(session.layout.tables).as_posix()
        what = (
            "unfinished file"
            if path.name.startswith(TEMPORARY)
            else "readers take up a file that no run made"
        )
        yield fault(MANIFEST, "", what, name)


def strays(layout: Layout) -> list[Path]:
    """Files below ``tables`` that no run made, but for those that no reader takes for a table."""
    ours = {layout.table_file(table, batch) for batch in published_batches(layout) for table in TABLES}
    found = {*layout.tables.rglob("*.parquet"), *layout.tables.rglob(f"{TEMPORARY}*")}
    return sorted(found - ours)


def _store(session: Session) -> Iterator[Fault]:
    for folder in stores_of(session.layout.home):
        for name in VectorStore(folder, 0).damaged():
            yield fault(VECTORS, "", f"block {name} is not what its name says", folder.name)
