"""Collections kept as whole files: changes are gathered, and the files replaced at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chunk_assets.export.base import Held, weights_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class TableInMemory:
    """A collection read as one Arrow table (``load``) and replaced as a whole (``save``).

    The contract is the schema's metadata. Between opening and ``save`` nothing is written, so a
    reader sees the old files or the new ones.
    """

    def __init__(self) -> None:
        self._table = self.load()

    def load(self) -> pa.Table | None:
        """The collection as it is, ``None`` without one."""
        raise NotImplementedError

    def save(self, table: pa.Table) -> None:
        """Replaces the collection, atomically."""
        raise NotImplementedError

    def remove(self) -> None:
        """Removes the collection's files."""
        raise NotImplementedError

    @property
    def table(self) -> pa.Table:
        """The rows, by chunk id."""
        if self._table is None:
            raise LookupError("the collection has not been created")
        return self._table

    def contract(self) -> dict[str, str] | None:
        """From the schema."""
        if self._table is None:
            return None
        return dict(json.loads((self._table.schema.metadata or {}).get(b"contract", b"{}")))

    def create(self, contract: Mapping[str, str], schema: pa.Schema) -> None:
        """An empty table."""
        described = schema.with_metadata({"contract": json.dumps(dict(contract), sort_keys=True)})
        self._table = described.empty_table()

    def drop(self) -> None:
        """What is in memory; the files go when the new ones are there."""
        self._table = None

    def digests(self, source: str | None) -> dict[str, str]:
        """From the table."""
        table = self._of(source)
        return dict(zip(table["chunk_id"].to_pylist(), table["digest"].to_pylist(), strict=True))

    def _of(self, source: str | None) -> pa.Table:
        import pyarrow.compute as pc

        return self.table if source is None else self.table.filter(pc.equal(self.table["source"], source))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Saves once, unless nothing changed."""
        before = self._table
        yield
        if self.table is not before:
            self._table = self.table.sort_by("chunk_id").combine_chunks()
            self.save(self._table)

    def upsert(self, rows: pa.Table) -> None:
        """In memory."""
        import pyarrow as pa

        self.delete(rows["chunk_id"].to_pylist())
        self._table = pa.concat_tables([self.table, rows.replace_schema_metadata(self.table.schema.metadata)])

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """In memory."""
        import pyarrow as pa
        import pyarrow.compute as pc

        gone = pc.is_in(self.table["chunk_id"], value_set=pa.array(chunk_ids, pa.string()))
        if pc.any(gone).as_py():
            self._table = self.table.filter(pc.invert(gone))

    def count(self, source: str | None) -> int:
        """Of the files as they are now."""
        self._table = self.load()
        return int(self._of(source).num_rows)

    def fetch(self, chunk_ids: Sequence[str]) -> dict[str, Held]:
        """By id."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = pc.is_in(self.table["chunk_id"], value_set=pa.array(chunk_ids, pa.string()))
        rows = self.table.filter(wanted)
        names = [name for name in ("chunk_id", "digest", "vector", "sparse") if name in rows.schema.names]
        return {
            row["chunk_id"]: Held(
                row["digest"], np.array(row["vector"], np.float32), weights_of(row.get("sparse"))
            )
            for row in rows.select(names).to_pylist()
        }

    def vectors(self) -> NDArray[np.float32]:
        """All vectors, ``float32[n, d]``."""
        column = self.table["vector"].combine_chunks()
        found: NDArray[np.float32] = column.flatten().to_numpy().reshape(len(column), column.type.list_size)
        return found

    def close(self) -> None:
        """Frees the memory."""
        self._table = None
