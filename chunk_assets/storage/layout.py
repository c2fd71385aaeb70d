"""Where everything of a home lies. One place, so that a reader can trust it and a writer can't drift.

::

    <root>/tables/<table>/source=<source>/slice=<slice>/part-0.parquet    published
    <root>/tables/_manifest/source=<source>/slice=<slice>.json            hashes of the four files
    <root>/staging/…                                                      stages of unfinished runs
    <root>/state/source=<source>/slice=<slice>.json                       what listings looked like
    <home>/vectors/<model fingerprint>/…                                  shared by all versions
    <home>/measured.json                                                  speeds, for estimates
    <home>/locks/…

``root`` is the home, or ``<home>/versions/<name>`` for a version built beside the published one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chunk_assets.errors import ConfigurationError

PART = "part-0.parquet"
VERSION_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


@dataclass(frozen=True, slots=True, order=True)
class Batch:
    """A partition: the documents of one source and one slice of it."""

    source: str
    slice: str

    def __str__(self) -> str:
        return f"{self.source}/{self.slice}"

    @property
    def hive(self) -> str:
        """``source=…/slice=…``, as Hive-partitioned readers expect it."""
        return f"source={self.source}/slice={self.slice}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one version of a home; ``version`` is empty for the published one.

    With ``scratch``, stages and state are written there: a rehearsal that leaves the home alone.
    """

    home: Path
    version: str = ""
    scratch: Path | None = None

    def __post_init__(self) -> None:
        if self.version and not VERSION_NAME.fullmatch(self.version):
            msg = f"{self.version!r} is not a version name: lower-case letters, digits, '.', '_' and '-'"
            raise ConfigurationError(msg)

    @property
    def root(self) -> Path:
        """The folder that holds ``tables``, ``staging`` and ``state``."""
        return self.home / "versions" / self.version if self.version else self.home

    @property
    def tables(self) -> Path:
        """What readers read."""
        return self.root / "tables"

    @property
    def back(self) -> Path:
        """A second tree of links to the same files; publishing exchanges the two (ADR 0006)."""
        return self.root / ".tables-next"

    @property
    def staging(self) -> Path:
        """Stages of runs that have not published yet."""
        return (self.scratch or self.root) / "staging"

    @property
    def state(self) -> Path:
        """Listing versions, attempts and refusals; a cache that may be lost."""
        return self.root / "state"

    @property
    def locks(self) -> Path:
        """One file a held lock."""
        return self.home / "locks" / (f"version={self.version}" if self.version else "published")

    def batch_lock(self, batch: Batch) -> Path:
        """Held by the run that works on a batch."""
        return self.locks / f"{batch.hive}.lock"

    @property
    def publish_lock(self) -> Path:
        """Held for the moment of publishing any batch of this version."""
        return self.locks / "publish.lock"

    @property
    def rates(self) -> Path:
        """Measured speeds, for estimates."""
        return self.home / "measured.json"

    @property
    def vectors_lock(self) -> Path:
        """Shared by all runs of a home; pruning needs it alone."""
        return self.home / "locks" / "vectors.lock"

    def vectors(self, model_fingerprint: str) -> Path:
        """The vector store of one model, shared by all versions of a home."""
        return self.home / "vectors" / model_fingerprint

    def table_file(self, table: str, batch: Batch) -> Path:
        """The published file of one table of one batch."""
        return self.tables / table / batch.hive / PART

    def staged_file(self, table: str, batch: Batch) -> Path:
        """The staged file of one table of one batch."""
        return self.staging / table / batch.hive / PART

    def manifest_file(self, batch: Batch) -> Path:
        """Hashes and row counts of the published files of a batch."""
        return self.tables / "_manifest" / f"{batch.hive}.json"

    def state_file(self, batch: Batch) -> Path:
        """The state of a batch."""
        return self.state / f"{batch.hive}.json"


def layouts(home: Path) -> Iterator[Layout]:
    """The published version of a home, and those beside it."""
    yield Layout(home)
    folder = home / "versions"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir():
            yield Layout(home, path.name)
