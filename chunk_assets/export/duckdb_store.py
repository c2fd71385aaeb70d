"""DuckDB: a table in a database file (``target`` is its path), everything in one transaction."""

# The only names put into statements are collection names, which ``open_store`` holds to identifiers.
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.export.base import Held, weights_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

TYPES = {"string": "VARCHAR", "int32": "INTEGER", "date32[day]": "DATE"}


class DuckDBStore:
    """``contract`` is kept in the table ``<collection>_contract``."""

    def __init__(self, target: str, collection: str) -> None:
        import duckdb

        Path(target).parent.mkdir(parents=True, exist_ok=True)
        self._connection: Any = duckdb.connect(target)
        self._table = collection

    def contract(self) -> dict[str, str] | None:
        """The pairs of the contract table."""
        tables = {name for (name,) in self._query("SELECT table_name FROM information_schema.tables")}
        if self._table not in tables or f"{self._table}_contract" not in tables:
            return None
        return dict(self._query(f"SELECT name, value FROM {self._table}_contract"))

    def create(self, contract: Mapping[str, str], schema: pa.Schema) -> None:
        """The table, with ``chunk_id`` as its key."""
        columns = ", ".join(f"{field.name} {_type(field.type)}" for field in schema)
        self._connection.execute(f"CREATE TABLE {self._table} ({columns}, PRIMARY KEY (chunk_id))")
        self._connection.execute(f"CREATE TABLE {self._table}_contract (name VARCHAR, value VARCHAR)")
        self._connection.executemany(
            f"INSERT INTO {self._table}_contract VALUES (?, ?)", [list(pair) for pair in contract.items()]
        )

    def drop(self) -> None:
        """Both tables."""
        self._connection.execute(f"DROP TABLE IF EXISTS {self._table}")
        self._connection.execute(f"DROP TABLE IF EXISTS {self._table}_contract")

    def digests(self, source: str | None) -> dict[str, str]:
        """From the table."""
        return dict(
            self._query(
                f"SELECT chunk_id, digest FROM {self._table} WHERE ? IS NULL OR source = ?", [source, source]
            )
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction."""
        self._connection.begin()
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    def upsert(self, rows: pa.Table) -> None:
        """``INSERT OR REPLACE`` from Arrow."""
        self._connection.register("incoming", rows)
        self._connection.execute(f"INSERT OR REPLACE INTO {self._table} SELECT * FROM incoming")
        self._connection.unregister("incoming")

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """By key."""
        self._connection.execute(
            f"DELETE FROM {self._table} WHERE chunk_id IN (SELECT unnest(?))", [list(chunk_ids)]
        )

    def count(self, source: str | None) -> int:
        """By the database."""
        sql = f"SELECT count(*) FROM {self._table} WHERE ? IS NULL OR source = ?"
        return int(self._query(sql, [source, source])[0][0])

    def fetch(self, chunk_ids: Sequence[str]) -> dict[str, Held]:
        """By key."""
        import numpy as np

        columns = self._query(f"PRAGMA table_info('{self._table}')")
        sparse = "sparse" if "sparse" in {column[1] for column in columns} else "NULL"
        chosen = "chunk_id IN (SELECT unnest(?))"
        sql = f"SELECT chunk_id, digest, vector, {sparse} FROM {self._table} WHERE {chosen}"
        return {
            key: Held(digest, np.array(vector, np.float32), weights_of(weights))
            for key, digest, vector, weights in self._query(sql, [list(chunk_ids)])
        }

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """Exact, by ``array_cosine_similarity``."""
        sql = (
            f"SELECT chunk_id, array_cosine_similarity(vector, ?::FLOAT[{len(vector)}]) AS score "
            f"FROM {self._table} ORDER BY score DESC, chunk_id LIMIT ?"
        )
        return [(key, float(score)) for key, score in self._query(sql, [vector.tolist(), k])]

    def _query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._connection.execute(sql, list(values)).fetchall()
        return found

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()


def _type(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_fixed_size_list(kind):
        return f"FLOAT[{kind.list_size}]"
    if pa.types.is_list(kind):
        return "STRUCT(index INTEGER, value FLOAT)[]" if pa.types.is_struct(kind.value_type) else "VARCHAR[]"
    return TYPES[str(kind)]


def open_store(target: str, collection: str) -> DuckDBStore:
    """The database at the path ``target``; the file is made when it is not there."""
    return DuckDBStore(target, collection)
