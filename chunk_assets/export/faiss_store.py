"""FAISS: ``target`` is a folder. An exact inner-product index, and the rows beside it.

``<collection>.json`` names the current generation: ``<collection>-<hash>.faiss`` with the vectors,
and ``.parquet`` with everything else in the same order (row ``i`` has the FAISS id ``i``).
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.export.files import TableInMemory
from chunk_assets.hashing import fingerprint

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class FaissStore(TableInMemory):
    """A generation is written whole before the pointer moves to it; the one before is removed."""

    def __init__(self, target: str, collection: str) -> None:
        import faiss

        self._faiss: Any = faiss
        self._folder, self._name = Path(target), collection
        self._pointer = self._folder / f"{collection}.json"
        super().__init__()

    def _generation(self) -> str | None:
        if not self._pointer.exists():
            return None
        return str(json.loads(self._pointer.read_text("utf-8"))["generation"])

    @cached_property
    def _index(self) -> Any:
        return self._faiss.read_index(str(self._folder / f"{self._generation()}.faiss"))

    def load(self) -> pa.Table | None:
        """Rows of the current generation, with vectors as the index holds them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.__dict__.pop("_index", None)
        generation = self._generation()
        if generation is None:
            return None
        with pq.ParquetFile(self._folder / f"{generation}.parquet") as file:
            table = file.read()
        vectors = self._index.reconstruct_n(0, self._index.ntotal)
        column = pa.FixedSizeListArray.from_arrays(vectors.ravel(), self._index.d)
        names = table.column_names
        at = names.index("sparse") if "sparse" in names else len(names)
        return table.add_column(at, "vector", column)

    def save(self, table: pa.Table) -> None:
        """A new generation, then the pointer, then the old files go."""
        import pyarrow.parquet as pq

        self._folder.mkdir(parents=True, exist_ok=True)
        generation = f"{self._name}-{fingerprint({'rows': table['digest'].to_pylist()})}"
        index = self._faiss.IndexFlatIP(table.schema.field("vector").type.list_size)
        index.add(self.vectors())
        beside = self._folder / f"{self._name}.new"
        self._faiss.write_index(index, str(beside))
        beside.replace(self._folder / f"{generation}.faiss")
        pq.write_table(table.drop_columns(["vector"]), beside)
        beside.replace(self._folder / f"{generation}.parquet")
        contract = json.loads(table.schema.metadata[b"contract"])
        pointer = self._pointer.with_suffix(".json.new")
        pointer.write_text(json.dumps({"generation": generation, "contract": contract}, indent=1), "utf-8")
        pointer.replace(self._pointer)
        self._remove_all_but(generation)

    def _remove_all_but(self, generation: str) -> None:
        for path in self._folder.glob(f"{self._name}-*"):
            if path.suffix in {".faiss", ".parquet"} and path.stem != generation:
                path.unlink(missing_ok=True)

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """By FAISS, exact."""
        scores, rows = self._index.search(vector[None, :], min(k, self._index.ntotal))
        ids = self.table["chunk_id"].to_pylist()
        return [(ids[row], float(score)) for row, score in zip(rows[0], scores[0], strict=True)]


def open_store(target: str, collection: str) -> FaissStore:
    """The index called ``collection`` in the folder ``target``."""
    return FaissStore(target, collection)
