"""One Parquet file for those who load it themselves: ``target`` is a folder, the file is in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.export.files import TableInMemory

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class ParquetStore(TableInMemory):
    """``<target>/<collection>.parquet``, rows by chunk id, equal rows giving equal bytes."""

    def __init__(self, target: str, collection: str) -> None:
        self._path = Path(target) / f"{collection}.parquet"
        super().__init__()

    def load(self) -> pa.Table | None:
        """The file, whole."""
        import pyarrow.parquet as pq

        if not self._path.exists():
            return None
        with pq.ParquetFile(self._path) as file:
            return file.read()

    def save(self, table: pa.Table) -> None:
        """Written beside, then renamed."""
        import pyarrow.parquet as pq

        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".parquet.new")
        pq.write_table(table, beside, compression="zstd", row_group_size=8_192)
        beside.replace(self._path)

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """Exact, by one product."""
        import numpy as np

        scores = self.vectors() @ vector
        ids = self.table["chunk_id"].to_pylist()
        return [(ids[row], float(scores[row])) for row in np.argsort(-scores, kind="stable")[:k]]


def open_store(target: str, collection: str) -> ParquetStore:
    """The file ``<collection>.parquet`` in the folder ``target``."""
    return ParquetStore(target, collection)
