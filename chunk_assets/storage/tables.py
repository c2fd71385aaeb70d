"""Table files: written in fixed row groups so that equal rows give equal bytes, read in bounded memory."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from chunk_assets.errors import StopRun
from chunk_assets.storage.files import TEMPORARY, temporary, writing
from chunk_assets.storage.schemas import ROW_GROUP_ROWS

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa
    import pyarrow.parquet as pq

HASH_BLOCK = 1 << 20
# Values that hardly repeat: a dictionary of them would only be filled and given up.
UNIQUE = frozenset(
    ("markdown", "text", "vector", "chunk_id", "point_id", "chunk_sha256", "input_sha256", "markdown_sha256")
)
# Columns that no compression makes much smaller, and whose least and greatest values say nothing.
NOISE = ("vector.",)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file must be: SHA-256 and size in bytes of its content, and its rows."""

    sha256: str
    size: int
    rows: int


class TableWriter:
    """Writes one table file, row group by row group; the file appears whole when the block ends.

    Rows arrive in any portions and leave in groups of ``ROW_GROUP_ROWS``: portions don't show in the bytes.
    """

    def __init__(self, path: Path, table: str, schema: pa.Schema) -> None:
        self._path, self._schema = path, schema
        self._group = ROW_GROUP_ROWS[table]
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self.rows = 0

    def __enter__(self) -> Self:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._sink = pa.OSFile(str(temporary(self._path)), "wb")
            self._writer = pq.ParquetWriter(
                self._sink, self._schema, version="2.6", **_encodings(self._schema)
            )
        return self

    def write(self, rows: pa.Table) -> None:
        """Adds rows, in table order."""
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        while self._waiting_rows >= self._group:
            self._flush(self._group)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with writing(self._path):
                    self._flush(self._waiting_rows)
                    self._writer.close()
                    self._sink.close()
                    temporary(self._path).replace(self._path)
        finally:
            # A writer that failed (full disk) must not try to finish its file when it is collected.
            self._writer.is_open = False
            self._sink.close()
            temporary(self._path).unlink(missing_ok=True)

    def _flush(self, count: int) -> None:
        import pyarrow as pa

        if not count:
            return
        waiting = pa.concat_tables(self._waiting)
        with writing(self._path):
            # One contiguous chunk a column: where pages end depends on how the columns are chunked.
            self._writer.write_table(waiting.slice(0, count).combine_chunks(), row_group_size=count)
        self._waiting = [waiting.slice(count)]
        self._waiting_rows -= count
        self.rows += count


def _encodings(schema: pa.Schema) -> dict[str, Any]:
    """How columns are written: the time that it takes is most of what a small change costs."""
    leaves = [leaf for item in schema for leaf in _leaves(item.name, item.type)]
    squeezed = [leaf for leaf in leaves if not leaf.startswith(NOISE)]
    return {
        "use_dictionary": [name for name in schema.names if name not in UNIQUE],
        "compression": {leaf: "zstd" if leaf in squeezed else "none" for leaf in leaves},
        "compression_level": dict.fromkeys(squeezed, 1),
        "write_statistics": squeezed,
    }


def _leaves(name: str, kind: pa.DataType) -> Iterator[str]:
    """Names of the Parquet columns of one Arrow column."""
    import pyarrow as pa

    if pa.types.is_struct(kind):
        for item in kind:
            yield from _leaves(f"{name}.{item.name}", item.type)
    elif pa.types.is_map(kind):
        yield from _leaves(f"{name}.key_value.key", kind.key_type)
        yield from _leaves(f"{name}.key_value.value", kind.item_type)
    elif pa.types.is_nested(kind):
        yield from _leaves(f"{name}.list.element", kind.value_type)
    else:
        yield name


def write_table(path: Path, table: str, rows: pa.Table, schema: pa.Schema) -> None:
    """Writes a whole table at once."""
    with TableWriter(path, table, schema) as writer:
        writer.write(rows)


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table | None:
    """A table file, or ``None`` when it is not there. Only its own columns, none from the path.

    Raises:
        StopRun: the file is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            return file.read(columns=None if columns is None else list(columns))
    except FileNotFoundError:
        return None
    except (pa.ArrowException, OSError) as error:
        msg = f"{path} is damaged: {error}; the next run, or 'chunk-assets repair', makes it anew"
        raise StopRun(msg) from error


def facts_of(path: Path) -> FileFacts | None:
    """Hash, size and rows of a table file; ``None`` when it is not there, -1 rows when it is no table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        sha256, size = hash_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        rows = pq.read_metadata(path).num_rows
    except (pa.ArrowException, OSError):
        rows = -1
    return FileFacts(sha256, size, rows)


def hash_file(path: Path) -> tuple[str, int]:
    """SHA-256 and size in bytes of a file's content."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(HASH_BLOCK):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


class RowStream:
    """Rows of a table file whose document is wanted (``None``: all), in file order, a few at a time."""

    def __init__(
        self, path: Path, wanted: Iterable[str] | None = None, columns: Sequence[str] | None = None
    ) -> None:
        self._parts = self._read(path, None if wanted is None else sorted(wanted), columns)
        self._part: pa.Table | None = None

    def take(self, count: int) -> Iterator[pa.Table]:
        """The next ``count`` rows, in portions; fewer only when the file has no more."""
        while count:
            if self._part is None or not self._part.num_rows:
                self._part = next(self._parts, None)
                if self._part is None:
                    return
            portion = self._part.slice(0, count)
            self._part = self._part.slice(portion.num_rows)
            count -= portion.num_rows
            yield portion

    def all(self) -> Iterator[pa.Table]:
        """All wanted rows that are left, in portions."""
        while portions := list(self.take(1 << 40)):
            yield from portions

    @staticmethod
    def _read(path: Path, wanted: list[str] | None, columns: Sequence[str] | None) -> Iterator[pa.Table]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        keys = None if wanted is None else pa.array(wanted, pa.string())
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                if wanted is not None and not _may_hold(file, group, wanted):
                    continue
                rows = file.read_row_group(group, columns=None if columns is None else list(columns))
                yield rows if keys is None else _chosen(rows, keys)


def of_documents(rows: pa.Table, wanted: Iterable[str]) -> pa.Table:
    """The rows of some documents, in table order."""
    import pyarrow as pa

    return _chosen(rows, pa.array(list(wanted), pa.string()))


def _chosen(rows: pa.Table, keys: pa.Array) -> pa.Table:
    import pyarrow.compute as pc

    mask = pc.is_in(rows["document_id"], value_set=keys)
    # Mostly all are wanted: then nothing needs to be copied.
    return rows if pc.sum(mask).as_py() == rows.num_rows else rows.filter(mask)


def documents_alike(one: pa.Table, other: pa.Table, columns: Iterable[str]) -> set[str]:
    """Documents that have a row in both tables (one each, in order of ids) with equal ``columns``."""
    common = set(one["document_id"].to_pylist()) & set(other["document_id"].to_pylist())
    one, other = (of_documents(table, common).combine_chunks() for table in (one, other))
    names = one["document_id"].to_pylist()
    differing: set[str] = set()
    for column in columns:
        if not one[column].equals(other[column]):
            pairs = zip(names, one[column].to_pylist(), other[column].to_pylist(), strict=True)
            differing.update(name for name, now, before in pairs if now != before)
    return common - differing


def _may_hold(file: pq.ParquetFile, group: int, wanted: list[str]) -> bool:
    """Whether a row group can have rows of the (sorted) documents: files are in order of their ids."""
    place = file.schema_arrow.get_field_index("document_id")
    statistics = file.metadata.row_group(group).column(place).statistics
    if statistics is None or not statistics.has_min_max:
        return True
    first = bisect_left(wanted, statistics.min)
    return first < len(wanted) and wanted[first] <= statistics.max


def frugal_memory() -> None:
    """Lets Arrow give memory back to the system between batches; its default pool keeps it (a fifth more)."""
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())


def give_back() -> None:
    """Returns memory that nothing uses any more to the system."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def clean_temporaries(folder: Path) -> None:
    """Removes unfinished files that killed runs left in a folder; call it with the batch locked."""
    for path in folder.glob(f"{TEMPORARY}*"):
        path.unlink(missing_ok=True)
