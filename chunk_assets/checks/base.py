"""What a check is: a pure function from the tables of one batch to a verdict with numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chunk_assets.records import ChunkSpan, Outcome

if TYPE_CHECKING:
    import pyarrow as pa

ERROR = "error"
WARN = "warn"


@dataclass(frozen=True, slots=True)
class BatchTables:
    """All that a check may read: the four tables of one batch, and the previous published ones.

    ``recount`` bounds how many embedder inputs are counted again (``None``: all of them).
    ``rechunk`` re-derives the spans of one document from its markdown row and metadata, and
    ``reread`` the SHA-256 of its source bytes now (``None`` when it is gone): for hash stability.
    """

    source: str
    slice: str
    tables: Mapping[str, pa.Table]
    previous: Mapping[str, pa.Table] = field(default_factory=dict)
    max_model_tokens: int = 512
    min_tokens: int = 0
    listed: int | None = None
    rechunk: Callable[[str], list[ChunkSpan]] | None = None
    reread: Callable[[str], str | None] | None = None
    count_model_tokens: Callable[[list[str]], list[int]] | None = None
    recount: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One promise about one table. ``run`` never raises for bad data: it says what is wrong.

    ``reads`` names the columns it looks at, of its own table and others: nothing else need be loaded.
    """

    name: str
    table: str
    severity: str
    promise: str
    run: Callable[[BatchTables], Outcome]
    reads: Mapping[str, tuple[str, ...]]


def verdict(
    check: Check,
    *,
    passed: bool,
    summary: str,
    counts: Mapping[str, float],
    examples: tuple[Mapping[str, str], ...],
) -> Outcome:
    """The outcome of ``check``, under its own name, table and severity."""
    return Outcome(check.name, check.table, passed, check.severity, summary, counts, examples)
