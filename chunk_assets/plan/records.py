"""What a plan says: frozen records with the figures of a run that has not happened yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chunk_assets.storage.layout import Batch

# In the order in which they are looked for; a document is counted under the first that is true.
REASONS = (
    "new",
    "deleted",
    "changed",
    "table_damaged",
    "converter_changed",
    "failed_before",
    "policy_changed",
    "metadata_changed",
    "model_changed",
)
TO_EMBED = ("texts_to_embed", "tokens_to_embed", "sparse_texts_to_embed")
# Reasons for which a document is converted.
CONVERTING = ("new", "changed", "table_damaged", "converter_changed", "failed_before")


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What would happen to one batch. ``documents`` gives the reason for each that is touched."""

    batch: Batch
    documents: Mapping[str, str] = field(default_factory=dict)
    convert: int = 0
    convert_bytes: int = 0
    chunk: int = 0
    chunks_added: int = 0
    chunks_changed: int = 0
    chunks_removed: int = 0
    chunks_kept: int = 0
    texts_to_embed: int = 0
    tokens_to_embed: int = 0
    sparse_texts_to_embed: int = 0

    @property
    def reasons(self) -> dict[str, int]:
        """Documents by reason."""
        return counted(self.documents.values())


@dataclass(frozen=True, slots=True)
class Boundary:
    """One line of a diff: ``mark`` is ``=`` kept, ``-`` gone, ``+`` new."""

    mark: str
    chunk_id: str
    start_char: int
    end_char: int
    text: str


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    """Chunk boundaries of one document before and after."""

    document_id: str
    lines: tuple[Boundary, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next run would do. Seconds and price are estimates, all other figures exact."""

    batches: tuple[BatchPlan, ...]
    estimated_seconds: float
    estimated_price: float
    currency: str
    diffs: tuple[DocumentDiff, ...] = ()
    problems: tuple[str, ...] = ()

    def total(self, name: str) -> int:
        """The sum of a figure of the batches, such as ``chunks_added``."""
        return sum(int(getattr(batch, name)) for batch in self.batches)

    @property
    def reasons(self) -> dict[str, int]:
        """Documents by reason."""
        return counted(reason for batch in self.batches for reason in batch.documents.values())

    def as_json(self) -> dict[str, Any]:
        """The contract of ``plan --json``."""
        names = ("convert", "chunks_added", "chunks_changed", "chunks_removed", "chunks_kept")
        return {
            **{name: self.total(name) for name in (*names, *TO_EMBED)},
            "estimated_seconds": round(self.estimated_seconds, 1),
            "estimated_price": round(self.estimated_price, 6),
            "currency": self.currency,
            "reasons": self.reasons,
            "batches": [
                {"batch": str(b.batch), "reasons": b.reasons}
                | {name: getattr(b, name) for name in (*names, *TO_EMBED)}
                for b in self.batches
            ],
            "problems": list(self.problems),
        }


def counted(reasons: Iterable[str]) -> dict[str, int]:
    """Documents by reason, in the order of ``REASONS``."""
    counts = Counter(reasons)
    return {reason: counts[reason] for reason in REASONS if counts[reason]}
