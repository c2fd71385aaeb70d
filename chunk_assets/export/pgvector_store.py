"""PostgreSQL with pgvector: ``target`` is a connection string without a password.

The password comes from where PostgreSQL's own tools take it (``PGPASSWORD``, ``~/.pgpass``). All
changes of one export are one transaction. Search is by a cosine HNSW index. Sparse vectors are of type
``sparsevec``; their search is exact, by inner product.
"""

# The only names put into statements are collection names, which ``open_store`` holds to identifiers.
# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chunk_assets.errors import ConfigurationError
from chunk_assets.export.base import Held, weights_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

TYPES = {"string": "text", "int32": "integer", "date32[day]": "date"}
SPECIAL = {"point_id": "uuid", "metadata": "jsonb"}
# pgvector builds no HNSW index over more dimensions; such a table is searched exactly.
MOST_INDEXED = 2_000


class PgvectorStore:
    """``contract`` is kept in the table ``<collection>_contract``."""

    def __init__(self, target: str, collection: str) -> None:
        import psycopg2
        from psycopg2.extensions import parse_dsn

        try:
            if "password" in parse_dsn(target):
                raise ConfigurationError("give the password by PGPASSWORD or ~/.pgpass, not in the target")
            self._connection: Any = psycopg2.connect(target, connect_timeout=10)
        except psycopg2.Error as error:
            raise ConfigurationError(f"PostgreSQL can't be reached: {str(error).strip()}") from error
        self._connection.autocommit = True
        self._table = collection

    def _query(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, tuple(values))
            return list(cursor.fetchall()) if cursor.description else []

    def contract(self) -> dict[str, str] | None:
        """The pairs of the contract table."""
        (row,) = self._query(
            "SELECT to_regclass(%s) IS NOT NULL AND to_regclass(%s) IS NOT NULL",
            [self._table, f"{self._table}_contract"],
        )
        return dict(self._query(f"SELECT name, value FROM {self._table}_contract")) if row[0] else None

    def create(self, contract: Mapping[str, str], schema: pa.Schema) -> None:
        """The table, its contract, and an index for search."""
        self._query("CREATE EXTENSION IF NOT EXISTS vector")
        sparse = int(contract.get("sparse_dimension", 0))
        columns = ", ".join(f"{field.name} {_type(field, sparse)}" for field in schema)
        self._query(f"CREATE TABLE {self._table} ({columns}, PRIMARY KEY (chunk_id))")
        self._query(f"CREATE INDEX ON {self._table} (document_id)")
        if schema.field("vector").type.list_size <= MOST_INDEXED:
            self._query(f"CREATE INDEX ON {self._table} USING hnsw (vector vector_cosine_ops)")
        self._query(f"CREATE TABLE {self._table}_contract (name text PRIMARY KEY, value text)")
        for pair in contract.items():
            self._query(f"INSERT INTO {self._table}_contract VALUES (%s, %s)", pair)

    def drop(self) -> None:
        """Both tables."""
        self._query(f"DROP TABLE IF EXISTS {self._table}, {self._table}_contract")

    def digests(self, source: str | None) -> dict[str, str]:
        """From the table."""
        sql = f"SELECT chunk_id, digest FROM {self._table} WHERE %s::text IS NULL OR source = %s"
        return dict(self._query(sql, [source, source]))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction; readers see the index as before or as after."""
        self._connection.autocommit = False
        try:
            yield
            self._connection.commit()
        except BaseException:
            if not self._connection.closed:
                self._connection.rollback()
            raise
        finally:
            if not self._connection.closed:
                self._connection.autocommit = True

    def upsert(self, rows: pa.Table) -> None:
        """``INSERT … ON CONFLICT``, many rows to a statement."""
        from psycopg2.extras import execute_values

        names = rows.schema.names
        changed = ", ".join(f"{name} = EXCLUDED.{name}" for name in names if name != "chunk_id")
        sql = (
            f"INSERT INTO {self._table} ({', '.join(names)}) VALUES %s "
            f"ON CONFLICT (chunk_id) DO UPDATE SET {changed}"
        )
        size = int((self.contract() or {}).get("sparse_dimension", 0))
        values = [tuple(_value(name, row[name], size) for name in names) for row in rows.to_pylist()]
        with self._connection.cursor() as cursor:
            execute_values(cursor, sql, values, template=_template(names), page_size=200)

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """By key."""
        self._query(f"DELETE FROM {self._table} WHERE chunk_id = ANY(%s)", [list(chunk_ids)])

    def count(self, source: str | None) -> int:
        """By the server."""
        sql = f"SELECT count(*) FROM {self._table} WHERE %s::text IS NULL OR source = %s"
        return int(self._query(sql, [source, source])[0][0])

    def fetch(self, chunk_ids: Sequence[str]) -> dict[str, Held]:
        """By key."""
        sparse = "sparse::text" if "sparse_dimension" in (self.contract() or {}) else "NULL"
        sql = f"SELECT chunk_id, digest, vector::text, {sparse} FROM {self._table} WHERE chunk_id = ANY(%s)"
        return {
            key: Held(digest, _numbers(text), _weights(weights))
            for key, digest, text, weights in self._query(sql, [list(chunk_ids)])
        }

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """By pgvector's cosine distance."""
        text = _value("vector", vector.tolist())
        sql = (
            f"SELECT chunk_id, 1 - (vector <=> %s::vector) FROM {self._table} "
            "ORDER BY vector <=> %s::vector LIMIT %s"
        )
        return [(key, float(score)) for key, score in self._query(sql, [text, text, k])]

    def nearest_sparse(self, weights: Mapping[int, float], k: int) -> list[tuple[str, float]]:
        """By pgvector's inner product, which it gives negated."""
        text = _sparsevec(weights, int((self.contract() or {})["sparse_dimension"]))
        sql = (
            f"SELECT chunk_id, -(sparse <#> %s::sparsevec) FROM {self._table} WHERE sparse IS NOT NULL "
            "ORDER BY sparse <#> %s::sparsevec LIMIT %s"
        )
        return [(key, float(score)) for key, score in self._query(sql, [text, text, k])]

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


def _type(field: pa.Field, sparse_dimension: int) -> str:
    import pyarrow as pa

    if field.name == "sparse":
        return f"sparsevec({sparse_dimension})"
    if field.name in SPECIAL:
        return SPECIAL[field.name]
    if pa.types.is_fixed_size_list(field.type):
        return f"vector({field.type.list_size})"
    return "text[]" if pa.types.is_list(field.type) else TYPES[str(field.type)]


def _value(name: str, value: Any, sparse_dimension: int = 0) -> Any:
    """PostgreSQL's text form of a vector; texts without NUL, which it can't hold."""
    if name == "vector":
        return "[" + ",".join(map(repr, value)) + "]"
    if name == "sparse":
        weights = weights_of(value)
        return None if weights is None else _sparsevec(weights, sparse_dimension)
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def _template(names: Sequence[str]) -> str:
    casts = {"vector": "%s::vector", "point_id": "%s::uuid", "metadata": "%s::jsonb"}
    casts["sparse"] = "%s::sparsevec"
    lists = {"heading_path", "tags"}
    return f"({', '.join(casts.get(n, '%s::text[]' if n in lists else '%s') for n in names)})"


def _numbers(text: str) -> NDArray[np.float32]:
    import numpy as np

    return np.array(text[1:-1].split(","), dtype=np.float32)


def _sparsevec(weights: Mapping[int, float], dimension: int) -> str:
    """The text form of ``sparsevec``, which counts from 1."""
    pairs = ",".join(f"{index + 1}:{value!r}" for index, value in sorted(weights.items()))
    return f"{{{pairs}}}/{dimension}"


def _weights(text: str | None) -> dict[int, float] | None:
    if text is None:
        return None
    inside = text[1 : text.index("}")]
    pairs = (pair.split(":") for pair in inside.split(",") if pair)
    return {int(index) - 1: float(value) for index, value in pairs}


def open_store(target: str, collection: str) -> PgvectorStore:
    """The database that the connection string ``target`` names."""
    return PgvectorStore(target, collection)
