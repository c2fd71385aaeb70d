"""What a run says of itself: frozen records that the doors print, store and compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from chunk_assets.errors import StopRun
from chunk_assets.records import Outcome
from chunk_assets.storage.layout import Batch


class Progress(Protocol):
    """Told after every piece of work. ``done`` never decreases within a stage and ends at ``total``.

    ``unit`` is ``bytes`` for the stages ``raw_documents`` and ``markdown_documents``, ``documents`` for
    ``chunks`` and ``texts`` for ``embeddings``.
    """

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        """One step of ``stage``."""
        ...


def silent(stage: str, done: int, total: int, unit: str) -> None:
    """A progress display that shows nothing."""


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that is not, or not wholly, in the tables. ``parked`` ones are not tried again."""

    document_id: str
    relative_path: str
    status: str
    reason: str
    attempts: int = 1
    parked: bool = True
    due: float = 0.0  # seconds since the epoch; when a sensor should ask again


@dataclass(frozen=True, slots=True)
class StageReport:
    """One stage of one batch.

    ``rows`` of the staged table are ``worked`` (made in this run) plus carried over; ``statuses`` counts
    its documents. ``unchanged`` means that the staged file is the published one. ``texts`` were sent to
    the embedder, ``tokens`` is what they cost, ``reused`` vectors were found, ``refused`` texts have none.
    ``sparse_texts`` were sent to the sparse model beside it. ``provider`` is what a remote embedder says
    of this stage: requests, throttled, retries, paused_seconds, tokens billed, price (its name has the
    currency); empty for a local one.
    """

    table: str
    rows: int
    worked: int = 0
    removed: int = 0
    unchanged: bool = False
    statuses: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[FailedDocument, ...] = ()
    seconds: float = 0.0
    texts: int = 0
    tokens: int = 0
    reused: int = 0
    refused: int = 0
    sparse_texts: int = 0
    provider: Mapping[str, float] = field(default_factory=dict)
    peak_mb: float = 0.0
    version: str = ""


@dataclass(frozen=True, slots=True)
class PublishReport:
    """What publishing a batch did: paths relative to the home, empty when nothing had changed."""

    batch: Batch
    files_written: tuple[str, ...] = ()
    files_removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchReport:
    """A whole batch. ``published`` is ``None`` when a check or the embedder kept the old version."""

    batch: Batch
    stages: tuple[StageReport, ...]
    outcomes: tuple[Outcome, ...] = ()
    published: PublishReport | None = None
    error: StopRun | None = None

    @property
    def failures(self) -> tuple[FailedDocument, ...]:
        """Documents with a status other than ``ok``, as of the end of the run."""
        return self.stages[-1].failures if self.stages else ()

    @property
    def statuses(self) -> Mapping[str, int]:
        """Documents by final status."""
        return self.stages[-1].statuses if self.stages else {}


@dataclass(frozen=True, slots=True)
class RunReport:
    """Several batches. ``outcomes`` also holds the checks on whole sources (deletion guard)."""

    batches: tuple[BatchReport, ...]
    outcomes: tuple[Outcome, ...] = ()
    errors: tuple[StopRun, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 all well; 1 documents or a check failed; otherwise that of the gravest error."""
        failed = any(batch.failures for batch in self.batches)
        failed = failed or any(not outcome.passed for outcome in self.all_outcomes)
        return max([int(failed), *(error.exit_code for error in self.errors)])

    @property
    def all_outcomes(self) -> tuple[Outcome, ...]:
        """Verdicts on whole sources, then on each batch."""
        return self.outcomes + tuple(o for batch in self.batches for o in batch.outcomes)

    @property
    def embedded(self) -> int:
        """Texts sent to the embedder."""
        return sum(stage.texts for batch in self.batches for stage in batch.stages)

    @property
    def files_written(self) -> tuple[str, ...]:
        """Table files that were replaced."""
        return tuple(p for b in self.batches if b.published for p in b.published.files_written)
