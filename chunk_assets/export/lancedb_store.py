"""LanceDB, embedded: ``target`` is a folder or a URL of an object store. Each block is one version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chunk_assets.export.base import Held, quoted, weights_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class LanceDBStore:
    """The contract is the metadata of the table's schema."""

    def __init__(self, target: str, collection: str) -> None:
        import lancedb

        self._database: Any = lancedb.connect(target)
        self._name = collection

    @cached_property
    def _table(self) -> Any:
        return self._database.open_table(self._name)

    def _exists(self) -> bool:
        token, names = None, []
        while True:
            page = self._database.list_tables(page_token=token)
            names += page.tables
            token = page.page_token
            if not token:
                return self._name in names

    def contract(self) -> dict[str, str] | None:
        """From the schema."""
        if not self._exists():
            return None
        return {k.decode(): v.decode() for k, v in (self._table.schema.metadata or {}).items()}

    def create(self, contract: Mapping[str, str], schema: pa.Schema) -> None:
        """An empty table."""
        self._database.create_table(self._name, schema=schema.with_metadata(dict(contract)))

    def drop(self) -> None:
        """The table with all its versions."""
        if self._exists():
            self._database.drop_table(self._name)
        self.__dict__.pop("_table", None)

    def digests(self, source: str | None) -> dict[str, str]:
        """From the table."""
        found = self._select(
            ["chunk_id", "digest"], None if source is None else f"source = {quoted([source])}"
        )
        return dict(zip(found["chunk_id"].to_pylist(), found["digest"].to_pylist(), strict=True))

    def _select(self, columns: list[str], where: str | None) -> pa.Table:
        query = self._table.search().select(columns).limit(max(1, self._table.count_rows()))
        return (query.where(where) if where else query).to_arrow()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Afterwards the small files of the blocks are merged."""
        yield
        self._table.optimize()

    def upsert(self, rows: pa.Table) -> None:
        """One merge, which readers see whole or not at all."""
        merge = self._table.merge_insert("chunk_id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(rows)

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """By id."""
        self._table.delete(f"chunk_id IN ({quoted(chunk_ids)})")

    def count(self, source: str | None) -> int:
        """By the database."""
        return int(self._table.count_rows(None if source is None else f"source = {quoted([source])}"))

    def fetch(self, chunk_ids: Sequence[str]) -> dict[str, Held]:
        """By id."""
        import numpy as np

        names = [n for n in ("chunk_id", "digest", "vector", "sparse") if n in self._table.schema.names]
        found = self._select(names, f"chunk_id IN ({quoted(chunk_ids)})")
        return {
            row["chunk_id"]: Held(
                row["digest"], np.array(row["vector"], np.float32), weights_of(row.get("sparse"))
            )
            for row in found.to_pylist()
        }

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """By Lance's search; exact as long as no approximate index was made."""
        query = self._table.search(vector).distance_type("cosine").select(["chunk_id", "_distance"]).limit(k)
        return [(row["chunk_id"], 1 - row["_distance"]) for row in query.to_list()]

    def close(self) -> None:
        """Nothing is held open."""


def open_store(target: str, collection: str) -> LanceDBStore:
    """The database in the folder (or at the URL) ``target``."""
    return LanceDBStore(target, collection)
