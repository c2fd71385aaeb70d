"""The published chunks of one source, or of all: the segments of their batches, end to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.errors import ConfigurationError
from chunk_assets.hashing import fingerprint
from chunk_assets.records import CHUNKS, EMBEDDINGS
from chunk_assets.search.segments import Batch, Segment, forget_batches, open_segment

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

# Names of folders beside the segments begin with these words.
WHOLES = ("words", "sparse")
SPARSE_MODEL = "sparse_model_fingerprint"


@dataclass(frozen=True)
class Rows:
    """All chunks of a search, in the order of (source, slice, document, index).

    ``facts`` is the schema metadata of ``embeddings``: the model, and the contract for queries.
    ``folder`` is where copies for searching may be kept, ``key`` names the files these rows are of.
    """

    segments: tuple[Segment, ...]
    facts: Mapping[str, str]
    folder: Path
    key: str

    @cached_property
    def table(self) -> pa.Table:
        """The columns of ``chunks`` and ``source``, in pieces: one a batch."""
        import pyarrow as pa

        return pa.concat_tables([segment.table for segment in self.segments])

    @property
    def dimension(self) -> int:
        """Numbers of a vector; 0 when nothing is embedded."""
        return max(int(segment.vectors.shape[1]) for segment in self.segments)

    def cosines(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """``float32[n]``: the product of each vector with the query's, 0 without one.

        By ``einsum``, which takes one row after the other: as fast as memory on one core, where a BLAS
        starts threads that wait for each other (13 times the processor time on a busy machine), and
        equal vectors get equal scores wherever they stand.
        """
        import numpy as np

        parts = [segment.vectors for segment in self.segments]
        return np.concatenate(
            [
                np.einsum("ij,j->i", part, query) if part.shape[1] else np.zeros(len(part), np.float32)
                for part in parts
            ]
        )

    def names(self, rows: Sequence[int] | NDArray[np.int64]) -> list[str]:
        """The chunk ids of some rows."""
        column = self.table["chunk_id"]
        if len(rows) * 20 > len(column):
            every = column.to_pylist()
            return [every[row] for row in rows]
        return [column[int(row)].as_py() for row in rows]

    def records(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Some rows with all columns. Only they are read: no column is put together for it."""
        return [self.table.slice(row, 1).to_pylist()[0] for row in rows]


def open_rows(home: Path, source: str | None = None) -> Rows:
    """The rows of one source, or of all. ``ConfigurationError`` when there are none."""
    batches = _batches(home, source)
    root = home / "state" / "search"
    segments = tuple(open_segment(root, batch) for batch in batches)
    if source is None:
        forget_batches(root, batches, WHOLES)
    facts: dict[str, str] = {}
    for batch, segment in zip(batches, segments, strict=True):
        facts = _same_model(facts, segment.facts, batch.source)
    key = fingerprint({"segments": [segment.folder.name for segment in segments]})
    return Rows(segments, facts, root, key)


def _batches(home: Path, source: str | None) -> list[Batch]:
    """Each published batch, in order."""
    root = home / "tables"
    pattern = f"source={source or '*'}/slice=*/part-0.parquet"
    found = []
    for chunks in sorted((root / CHUNKS).glob(pattern)):
        relative = chunks.relative_to(root / CHUNKS)
        found.append(Batch(relative.parts[0].removeprefix("source="), chunks, root / EMBEDDINGS / relative))
    if not found:
        known = sorted({path.name.removeprefix("source=") for path in (root / CHUNKS).glob("source=*")})
        which = f"source {source!r}" if source else "any source"
        raise ConfigurationError(
            f"{home} has no chunks of {which}; known: {', '.join(known) or 'none yet, run first'}"
        )
    return found


def _same_model(facts: dict[str, str], said: Mapping[str, str], source: str) -> dict[str, str]:
    """The facts of all; ``ConfigurationError`` when vectors of two models would be compared.

    Where batches differ in their sparse model (it was just added, say), the facts have none.
    """
    if not facts or not said:
        return facts or dict(said)
    if facts.get("model_fingerprint") != said.get("model_fingerprint"):
        raise ConfigurationError(
            f"source {source!r} is embedded by {said.get('model_id')} ({said.get('model_fingerprint')}), "
            f"others by {facts.get('model_id')} ({facts.get('model_fingerprint')}): "
            "their vectors can't be compared, search one source at a time"
        )
    if facts.get(SPARSE_MODEL) == said.get(SPARSE_MODEL):
        return facts
    return {name: value for name, value in facts.items() if not name.startswith("sparse_")}
