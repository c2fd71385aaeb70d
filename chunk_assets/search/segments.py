"""One published batch, ready to be searched: made once for each version of its files, mapped after.

A segment is a folder ``<home>/state/search/<batch>-<version>`` that can be thrown away at any time.
When a batch changes, its segment is made anew, and no other.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.hashing import fingerprint
from chunk_assets.search import postings
from chunk_assets.search.postings import Postings

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

FORMAT = 2
VECTORS = "vectors.npy"
ROWS = "rows.arrow"
SPARSE = "sparse"
# Versions of one batch, and of one kind of index over several; searches of other sources take turns.
COPIES_KEPT = 2
WHOLES_KEPT = 4
BUILDING = ".building-"


@dataclass(frozen=True)
class Batch:
    """The published files of a batch: ``chunks``, and ``embeddings``, which may not be there."""

    source: str
    chunks: Path
    embeddings: Path

    @cached_property
    def name(self) -> str:
        """Names the batch in names of folders."""
        return fingerprint({"batch": list(self.chunks.parts[-3:-1])})[:12]

    @cached_property
    def version(self) -> str:
        """Names its files as they are now. They are replaced whole: size and time tell them apart."""

        def identity(path: Path) -> list[int]:
            stat = path.stat() if path.exists() else None
            return [stat.st_size, stat.st_mtime_ns, stat.st_ino] if stat else []

        files = [identity(self.chunks), identity(self.embeddings)]
        return fingerprint({"format": FORMAT, "files": files})[:20]


@dataclass(frozen=True)
class Segment:
    """``table`` has the columns of ``chunks`` and ``source``, in the order of (document, index).

    ``facts`` is the schema metadata of ``embeddings``: the model, and the contract for queries; empty
    without embeddings.
    """

    folder: Path
    table: pa.Table
    facts: Mapping[str, str]

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """``float32[n, d]``, zero where a chunk has none; ``d`` is 0 without embeddings."""
        import numpy as np

        found: NDArray[np.float32] = np.load(self.folder / VECTORS, mmap_mode="r")
        return found

    @cached_property
    def sparse(self) -> Postings | None:
        """The sparse vectors by index of the vocabulary, ``None`` when the table has none."""
        return postings.load(self.folder / SPARSE) if (self.folder / SPARSE).is_dir() else None


def open_segment(root: Path, batch: Batch) -> Segment:
    """The segment of a batch as it is published now; earlier ones are forgotten."""
    try:
        return _opened(root, batch)
    except FileNotFoundError:  # another process took it for one of a batch that is gone
        return _opened(root, batch)


def _opened(root: Path, batch: Batch) -> Segment:
    import pyarrow as pa

    name = f"{batch.name}-{batch.version}"
    folder = cached(root, name, lambda target: _build(batch, target), COPIES_KEPT)
    with pa.memory_map(str(folder / ROWS)) as file:
        table = pa.ipc.open_file(file).read_all()
    facts = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    return Segment(folder, table.replace_schema_metadata(None), facts)


def cached(root: Path, name: str, build: Callable[[Path], None], keep: int = WHOLES_KEPT) -> Path:
    """The folder ``root/name``, made by ``build`` when it is not there, whole or not at all.

    Of folders whose names begin alike, up to the first hyphen, the newest ``keep`` stay; a process that
    has an older one mapped keeps it until it ends.
    """
    folder = root / name
    if folder.is_dir():
        return folder
    try:
        root.mkdir(parents=True, exist_ok=True)
        target = Path(tempfile.mkdtemp(prefix=BUILDING, dir=root))
    except OSError:  # a home that can't be written to: a copy for this process must do
        target = Path(tempfile.mkdtemp(prefix="chunk-assets-search-"))
        build(target)
        return target
    try:
        build(target)
        _publish(target, folder)
    finally:
        shutil.rmtree(target, ignore_errors=True)
    kind = name.partition("-")[0]
    _forget((other for other in root.glob(f"{kind}-*") if other != folder), keep - 1)
    return folder


def _publish(target: Path, folder: Path) -> None:
    try:
        target.rename(folder)
    except OSError:
        if not folder.is_dir():  # otherwise somebody else made the same copy at the same time
            raise


def _forget(copies: Iterable[Path], keep: int) -> None:
    newest_first = sorted(copies, key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[keep:]:
        shutil.rmtree(path, ignore_errors=True)


def forget_batches(root: Path, batches: Iterable[Batch], others: Iterable[str]) -> None:
    """Removes the segments of batches that are no more; ``others`` begin names that are not segments."""
    known = {batch.name for batch in batches} | set(others)
    for path in root.iterdir() if root.is_dir() else ():
        if not path.name.startswith(BUILDING) and path.name.partition("-")[0] not in known:
            shutil.rmtree(path, ignore_errors=True)


def _build(batch: Batch, target: Path) -> None:
    import numpy as np
    import pyarrow as pa

    table = _long_texts(_read(batch.chunks))
    table = table.sort_by([("document_id", "ascending"), ("chunk_index", "ascending")]).combine_chunks()
    source = pa.array([batch.source] * len(table), pa.string())
    embedded = _read(batch.embeddings) if batch.embeddings.exists() else None
    facts = _facts(embedded)
    table = table.append_column("source", source).replace_schema_metadata(facts)
    rows = _rows_of(table, embedded)
    np.save(target / VECTORS, _vectors(rows, embedded))
    if embedded is not None and "sparse" in embedded.column_names:
        _sparse(rows, embedded, int(facts["sparse_dimension"])).save(target / SPARSE)
    with pa.OSFile(str(target / ROWS), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _read(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read()


def _long_texts(table: pa.Table) -> pa.Table:
    """With 64-bit offsets for the texts: all of them together can be over 2 GB."""
    import pyarrow as pa

    for name in ("text", "context"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table[name].cast(pa.large_string()))
    return table


def _facts(embedded: pa.Table | None) -> dict[str, str]:
    pairs = (embedded.schema.metadata or {}) if embedded is not None else {}
    return {key.decode(): value.decode() for key, value in pairs.items() if key != b"ARROW:schema"}


def _rows_of(chunks: pa.Table, embedded: pa.Table | None) -> NDArray[np.int64]:
    """For each chunk the row of ``embeddings`` with its id and text, -1 without one."""
    import numpy as np

    def pairs(table: pa.Table) -> Iterable[Any]:
        return zip(table["chunk_id"].to_pylist(), table["chunk_sha256"].to_pylist(), strict=True)

    where = {} if embedded is None else {pair: row for row, pair in enumerate(pairs(embedded))}
    return np.array([where.get(pair, -1) for pair in pairs(chunks)], dtype=np.int64)


def _vectors(rows: NDArray[np.int64], embedded: pa.Table | None) -> NDArray[np.float32]:
    import numpy as np

    if embedded is None:
        return np.zeros((len(rows), 0), np.float32)
    width = embedded.schema.field("vector").type.list_size
    found = embedded["vector"].combine_chunks().flatten().to_numpy().reshape(len(embedded), width)
    vectors = np.zeros((len(rows), width), np.float32)
    vectors[rows >= 0] = found[rows[rows >= 0]]
    return vectors


def _sparse(rows: NDArray[np.int64], embedded: pa.Table, size: int) -> Postings:
    import numpy as np
    import pyarrow.compute as pc

    column = embedded["sparse"].combine_chunks()
    place = np.full(len(embedded), -1, np.int64)
    place[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    of = place[pc.list_parent_indices(column).to_numpy()]
    flat = column.flatten()
    terms, values = flat.field("index").to_numpy(), flat.field("value").to_numpy()
    kept = of >= 0
    order = np.argsort(of[kept], kind="stable")
    return postings.inverted(terms[kept][order], of[kept][order], values[kept][order], size)
