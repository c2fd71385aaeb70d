"""What is wrong with a home, named by table, batch and row."""

from __future__ import annotations

from dataclasses import dataclass

from chunk_assets.storage.layout import Batch

# Places that are no table: what a run remembers, and the store of vectors.
STATE = "state"
VECTORS = "vectors"
MANIFEST = "manifest"


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One finding. ``table`` is a table, ``manifest``, ``state`` or ``vectors``; ``row`` may be empty."""

    table: str
    batch: str
    row: str
    what: str

    def as_json(self) -> dict[str, str]:
        """The contract of ``verify --json``."""
        return {"table": self.table, "batch": self.batch, "row": self.row, "what": self.what}


def fault(table: str, batch: Batch | str, what: str, row: str = "") -> Fault:
    """A fault of a batch, or of the whole home (``""``)."""
    return Fault(table, str(batch), row, what)


def batch_of(found: Fault) -> Batch | None:
    """The batch that a fault is in."""
    source, slash, slice_key = found.batch.partition("/")
    return Batch(source, slice_key) if slash else None
