"""Making exactly the faulty parts anew: tables from the one before, vectors only where they are wrong."""

from __future__ import annotations

from collections.abc import Iterable

from chunk_assets.catalog import Catalog
from chunk_assets.pipeline import RunOptions, RunReport, Session, run_sources
from chunk_assets.records import EMBEDDINGS, TABLES
from chunk_assets.storage.layout import Batch
from chunk_assets.storage.tables import read_table
from chunk_assets.storage.vectors import VectorStore
from chunk_assets.verify.audit import strays
from chunk_assets.verify.faults import MANIFEST, STATE, VECTORS, Fault, batch_of


def repair(
    catalog: Catalog,
    faults: Iterable[Fault],
    *,
    options: RunOptions | None = None,
    session: Session | None = None,
) -> RunReport:
    """Makes what ``verify`` found faulty anew; everything else keeps its bytes.

    A faulty table is rebuilt from the table before it (documents are converted again only for faults of
    ``markdown_documents``), vectors are embedded again only where their own row is at fault, batches of
    sources that are not in the catalog are withdrawn, files that no run made are removed. Verify again to
    see what is left.
    """
    own = session or Session(catalog, options or RunOptions())
    todo = sorted(faults)
    for found in todo:
        _distrust(own, found)
    named = {own.layout.tables / found.row for found in todo if found.table == MANIFEST and found.row}
    for path in strays(own.layout):
        if path in named:
            path.unlink(missing_ok=True)
    batches = {batch for found in todo if (batch := batch_of(found)) is not None}
    known = {batch for batch in batches if batch.source in catalog.sources}
    for batch in sorted(batches - known):
        own.withdraw(batch)
    try:
        return run_sources(catalog, session=own, batches=known)
    finally:
        own.distrusted.clear()
        if session is None:
            own.close()


def _distrust(session: Session, found: Fault) -> None:
    batch = batch_of(found)
    if found.table == VECTORS:
        VectorStore(session.layout.home / "vectors" / found.row, 0).remove_damaged()
    elif batch is None:
        return
    elif found.table == STATE:
        session.layout.state_file(batch).unlink(missing_ok=True)
    elif found.table == MANIFEST:
        session.distrusted |= dict.fromkeys(((batch, table) for table in TABLES), found.what)
    else:
        session.distrusted[batch, found.table] = found.what
        if found.table == EMBEDDINGS and found.row:
            _drop_vector(session, batch, found.row)


def _drop_vector(session: Session, batch: Batch, row: str) -> None:
    """Forgets the stored vectors of a chunk, or of all chunks of a document."""
    if batch.source not in session.catalog.sources:
        return
    columns = ("chunk_id", "document_id", "input_sha256")
    rows = read_table(session.layout.table_file(EMBEDDINGS, batch), columns)
    if rows is None:
        return
    ids = zip(*(rows[name].to_pylist() for name in columns), strict=True)
    store = session.store(batch.source)
    with session.rewriting(store.folder):
        store.drop([bytes.fromhex(key) for *names, key in ids if row in names])
