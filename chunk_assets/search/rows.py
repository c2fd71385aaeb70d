"""The published tables as rows with vectors, put side by side once and mapped into memory after.

The copy lives under ``<home>/state/search/<key>``, keyed by the table files it was made from; it
can be thrown away at any time.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.errors import ConfigurationError
from chunk_assets.hashing import fingerprint
from chunk_assets.records import CHUNKS, EMBEDDINGS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

FORMAT = 1
VECTORS = "vectors.npy"
RANKS = "ranks.npy"
ROWS = "rows.arrow"
CACHES_KEPT = 4


@dataclass(frozen=True, slots=True)
class Rows:
    """All chunks of a search, in the order of (source, document, index).

    ``table`` has the columns of ``chunks`` and ``source``; ``vectors`` is ``float32[n, d]``, zero
    where a chunk has none; ``ranks`` orders chunk ids (``int64[n]``), to break ties. ``facts`` is
    the schema metadata of ``embeddings``: the model, and the contract for queries.
    """

    table: pa.Table
    vectors: NDArray[np.float32]
    ranks: NDArray[np.int64]
    facts: Mapping[str, str]
    folder: Path


def open_rows(home: Path, source: str | None = None) -> Rows:
    """The rows of one source, or of all. ``ConfigurationError`` when there are none."""
    files = _table_files(home, source)
    key = _key(files)
    folder = cached(home / "state" / "search", key, lambda target: _build(files, target))
    return _load(folder)


def _table_files(home: Path, source: str | None) -> list[tuple[str, Path, Path]]:
    """(source, chunks file, embeddings file) of each published batch, in order."""
    root = home / "tables"
    pattern = f"source={source or '*'}/slice=*/part-0.parquet"
    found = []
    for chunks in sorted((root / CHUNKS).glob(pattern)):
        relative = chunks.relative_to(root / CHUNKS)
        found.append((relative.parts[0].removeprefix("source="), chunks, root / EMBEDDINGS / relative))
    if not found:
        known = sorted({path.name.removeprefix("source=") for path in (root / CHUNKS).glob("source=*")})
        which = f"source {source!r}" if source else "any source"
        raise ConfigurationError(
            f"{home} has no chunks of {which}; known: {', '.join(known) or 'none yet, run first'}"
        )
    return found


def _key(files: list[tuple[str, Path, Path]]) -> str:
    """Identity of the table files. They are replaced whole, so size and time tell them apart."""

    def identity(path: Path) -> list[Any]:
        stat = path.stat() if path.exists() else None
        return [str(path), stat.st_size, stat.st_mtime_ns] if stat else [str(path)]

    return fingerprint({"format": FORMAT, "files": [[identity(c), identity(e)] for _, c, e in files]})


def cached(root: Path, key: str, build: Callable[[Path], None]) -> Path:
    """The folder ``root/key``, made by ``build`` when it is not there, whole or not at all."""
    folder = root / key
    if folder.is_dir():
        return folder
    try:
        root.mkdir(parents=True, exist_ok=True)
        target = Path(tempfile.mkdtemp(prefix=".building-", dir=root))
    except OSError:  # a home that can't be written to: a copy for this process must do
        target = Path(tempfile.mkdtemp(prefix="chunk-assets-search-"))
        build(target)
        return target
    try:
        build(target)
        _publish(target, folder)
    finally:
        shutil.rmtree(target, ignore_errors=True)
    _forget_old(root, folder)
    return folder


def _publish(target: Path, folder: Path) -> None:
    try:
        target.rename(folder)
    except OSError:
        if not folder.is_dir():  # otherwise somebody else made the same copy at the same time
            raise


def _forget_old(root: Path, newest: Path) -> None:
    """Copies of earlier tables; a process that has one mapped keeps it until it ends."""
    copies = sorted((path for path in root.iterdir() if path != newest), key=lambda p: p.stat().st_mtime)
    for path in copies[: max(0, len(copies) - (CACHES_KEPT - 1))]:
        if not path.name.startswith(".building-"):
            shutil.rmtree(path, ignore_errors=True)


def _build(files: list[tuple[str, Path, Path]], target: Path) -> None:
    import numpy as np
    import pyarrow as pa

    parts, matrices = [], []
    facts: dict[str, str] = {}
    for source, chunks_file, embeddings_file in files:
        table = _read(chunks_file)
        vectors, said = _vectors(table, embeddings_file)
        if said:
            facts = _same_model(facts, said, source)
        parts.append(table.append_column("source", pa.array([source] * len(table), pa.string())))
        matrices.append(vectors)
    table = _long_texts(pa.concat_tables(parts))
    order = table.append_column("row", pa.array(np.arange(len(table)))).sort_by(
        [("source", "ascending"), ("document_id", "ascending"), ("chunk_index", "ascending")]
    )["row"]
    width = max(matrix.shape[1] for matrix in matrices)
    stacked = np.concatenate([_widened(matrix, width) for matrix in matrices])[order.to_numpy()]
    table = table.take(order).combine_chunks().replace_schema_metadata(facts)
    ids = np.asarray(table["chunk_id"].to_pylist(), dtype=object)
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[np.argsort(ids, kind="stable")] = np.arange(len(ids))
    np.save(target / VECTORS, stacked)
    np.save(target / RANKS, ranks)
    with pa.OSFile(str(target / ROWS), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _long_texts(table: pa.Table) -> pa.Table:
    """With 64-bit offsets for the texts: all of them together can be over 2 GB."""
    import pyarrow as pa

    for name in ("text", "context"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table[name].cast(pa.large_string()))
    return table


def _read(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read()


def _vectors(chunks: pa.Table, path: Path) -> tuple[NDArray[np.float32], dict[str, str]]:
    """A vector for each row of ``chunks``, zero without one, and the facts of the file."""
    import numpy as np

    if not path.exists():
        return np.zeros((len(chunks), 0), np.float32), {}
    table = _read(path)
    facts = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    kind = table.schema.field("vector").type
    found = table["vector"].combine_chunks().flatten().to_numpy().reshape(len(table), kind.list_size)
    pairs = zip(table["chunk_id"].to_pylist(), table["chunk_sha256"].to_pylist(), strict=True)
    where = {pair: row for row, pair in enumerate(pairs)}
    wanted = zip(chunks["chunk_id"].to_pylist(), chunks["chunk_sha256"].to_pylist(), strict=True)
    rows = np.array([where.get(pair, -1) for pair in wanted], dtype=np.int64)
    vectors = np.zeros((len(chunks), kind.list_size), np.float32)
    vectors[rows >= 0] = found[rows[rows >= 0]]
    return vectors, {name: value for name, value in facts.items() if name != "ARROW:schema"}


def _same_model(facts: dict[str, str], said: dict[str, str], source: str) -> dict[str, str]:
    if facts and facts.get("model_fingerprint") != said.get("model_fingerprint"):
        raise ConfigurationError(
            f"source {source!r} is embedded by {said.get('model_id')} ({said.get('model_fingerprint')}), "
            f"others by {facts.get('model_id')} ({facts.get('model_fingerprint')}): "
            "their vectors can't be compared, search one source at a time"
        )
    return said


def _widened(matrix: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    import numpy as np

    return matrix if matrix.shape[1] == width else np.zeros((len(matrix), width), np.float32)


def _load(folder: Path) -> Rows:
    import numpy as np
    import pyarrow as pa

    with pa.memory_map(str(folder / ROWS)) as source:
        table = pa.ipc.open_file(source).read_all()
    facts = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    return Rows(table, vectors, np.load(folder / RANKS), facts, folder)
