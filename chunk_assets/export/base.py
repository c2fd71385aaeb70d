"""What a vector store is to an export: it holds rows with digests, and can be asked what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from chunk_assets.errors import StopRun

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class ExportMismatch(StopRun):
    """After writing, the target does not hold what the tables hold.

    A re-run puts missing and surplus rows right; rows altered under their digest need ``recreate``.
    """

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Held:
    """One row as the target has it: the digest of its payload, its vector, and its sparse one if any."""

    digest: str
    vector: NDArray[np.float32]
    sparse: Mapping[int, float] | None = None


class Store(Protocol):
    """One collection (table, index) in one target.

    Rows are keyed by ``chunk_id`` and written with their ``digest`` in the same step, so that what
    the target says it holds is true whenever the writer was killed. ``contract`` is the model, the
    metric and the rules for queries; it's stored with the collection.
    """

    def contract(self) -> dict[str, str] | None:
        """What the collection was made for; ``None`` when there is no collection."""
        ...

    def create(self, contract: Mapping[str, str], schema: pa.Schema) -> None:
        """An empty collection. ``schema`` has the columns of every row to come."""
        ...

    def drop(self) -> None:
        """Removes the collection, if there is one."""
        ...

    def digests(self, source: str | None) -> dict[str, str]:
        """``{chunk_id: digest}`` of one source, or of all."""
        ...

    def writing(self) -> AbstractContextManager[None]:
        """Around all changes of one export; a store with transactions shows them all at once."""
        ...

    def upsert(self, rows: pa.Table) -> None:
        """Adds rows, replacing those with the same ``chunk_id``."""
        ...

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """Removes rows; unknown ids are no error."""
        ...

    def count(self, source: str | None) -> int:
        """Rows of one source, or all, counted by the target itself."""
        ...

    def fetch(self, chunk_ids: Sequence[str]) -> dict[str, Held]:
        """The rows with these ids; missing ones are left out."""
        ...

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """(chunk_id, cosine) of the ``k`` nearest rows by the target's own search, best first."""
        ...

    def close(self) -> None:
        """Ends the connection."""
        ...


@runtime_checkable
class SparseStore(Protocol):
    """A store whose own search knows sparse vectors."""

    def nearest_sparse(self, weights: Mapping[int, float], k: int) -> list[tuple[str, float]]:
        """(chunk_id, product) of the ``k`` rows with the largest product, best first."""
        ...


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did, or (``applied=False``) would do.

    ``total`` is the number of rows the target holds for the exported sources afterwards;
    ``without_vector`` chunks are in the tables but have no vector, and are not exported. ``sampled`` rows
    were compared whole, of which ``altered`` have a vector that is not the table's.
    """

    to: str
    collection: str
    added: int
    changed: int
    removed: int
    unchanged: int
    total: int
    without_vector: int
    sampled: int = 0
    altered: int = 0
    applied: bool = True

    @property
    def equal(self) -> bool:
        """Whether nothing had to be done: the index equals the table."""
        return not (self.added or self.changed or self.removed or self.altered)


def weights_of(pairs: Iterable[Mapping[str, Any]] | None) -> dict[int, float] | None:
    """A value of the column ``sparse`` by index; ``None`` where there is none."""
    return None if pairs is None else {int(pair["index"]): float(pair["value"]) for pair in pairs}


def quoted(values: Iterable[str]) -> str:
    """A list of SQL string literals, for stores that take no parameters."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def blocks(values: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    """``values`` in runs of ``size``."""
    return (values[start : start + size] for start in range(0, len(values), size))
