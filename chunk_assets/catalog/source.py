"""The settings of one source: where it lies, what its documents inherit, how they become batches."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from chunk_assets.catalog.settings import Settings, Text
from chunk_assets.converters.base import Limits
from chunk_assets.hashing import bucket


class Slices(Settings):
    """How the documents of a source are dealt into batches.

    ``month``: by the month of the document's date, from ``start`` (``YYYY-MM``) on.
    ``bucket``: by ``sha256(document_id) % count``; ``count`` is fixed for the life of a source
    (see ``chunk-assets rebucket``): 1 for hundreds of documents, 4–16 for thousands, 64–256 for a million.
    """

    by: Literal["month", "bucket"] = "bucket"
    """`month` of the document's date, or `bucket` of its id's hash."""
    start: str | None = None
    """First month, `YYYY-MM`; earlier documents get the status `invalid_metadata`. Needed with `month`."""
    count: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Number of buckets, fixed for the life of a source."""

    @model_validator(mode="after")
    def _complete(self) -> Slices:
        if self.by == "month" and (
            self.start is None or not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", self.start)
        ):
            msg = f"slice by month needs start: YYYY-MM, got {self.start!r}"
            raise ValueError(msg)
        if self.by == "bucket" and self.start is not None:
            raise ValueError("start belongs to slice by month")
        return self

    def key(self, document_id: str, document_date: date | None) -> str:
        """The slice of a document: ``2024-02`` or ``bucket-3``; ``start`` for a date that is missing."""
        if self.by == "month":
            return f"{document_date:%Y-%m}" if document_date else str(self.start)
        return f"bucket-{bucket(document_id, self.count)}"

    def keys(self, until: date) -> tuple[str, ...]:
        """All slices in order; for months those from ``start`` to the month of ``until``."""
        if self.by == "bucket":
            return tuple(f"bucket-{i}" for i in range(self.count))
        year, month = map(int, str(self.start).split("-"))
        months = range(year * 12 + month - 1, until.year * 12 + until.month)
        return tuple(f"{m // 12:04d}-{m % 12 + 1:02d}" for m in months)


class DeletionGuard(Settings):
    """Deletions over both bounds at once stop the run until they are confirmed (``--allow-deletions``)."""

    share: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Share of the known documents, 0 to 1, that may be gone at once."""
    min_documents: Annotated[int, Field(ge=1)] = 10
    """Documents that may be gone at once whatever their share."""


class Retries(Settings):
    """How often, and after which wait in minutes (doubled each time), a failed document is tried again."""

    max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Attempts over all runs; then it waits until its file or a version changes, or `--retry-failed`."""
    first_wait_minutes: Annotated[float, Field(ge=0)] = 10.0
    """Minutes until the second attempt; doubled after each one."""


class Schedule(Settings):
    """When a source is ingested: a cron line with five fields, in a time zone of the IANA database."""

    cron: str
    """Minute, hour, day of month, month, day of week."""
    timezone: str = "UTC"
    """For example `Europe/Berlin`."""


class Freshness(Settings):
    """How many hours may pass from a document's arrival until it is searchable."""

    within_hours: Annotated[float, Field(gt=0)]
    """Hours from a document's arrival until it has to be searchable."""


class Source(Settings):
    """A named folder or bucket prefix with the metadata that its documents inherit."""

    path: str
    """A folder, relative to `sources.yaml` or absolute, or a URL: `s3://`, `gs://`, `abfs://`."""
    description: str = ""
    """Shown in the UI."""
    owners: tuple[str, ...] = ()
    """E-mail addresses or `team:name`, shown in the UI."""
    include: tuple[str, ...] = ("**/*",)
    """Globs of the files that are documents; `**/` is any number of folders."""
    exclude: tuple[str, ...] = ()
    """Globs of files, or of names in any folder, that are not."""
    follow_links: bool = False
    """Whether symbolic links that lead out of the folder are read; else such a document is `unsafe`."""
    default_metadata: dict[str, Text] = Field(default_factory=dict)
    """Metadata of every document, unless something nearer to it says otherwise."""
    default_tags: tuple[str, ...] = ()
    """Tags of every document, besides its own."""
    path_patterns: tuple[str, ...] = ()
    """Regular expressions over the relative path; their named groups are metadata."""
    id_template: str | None = None
    """The document id, with metadata in braces, as `{cik}-{accession_number}`; none is by path."""
    date: str | None = None
    """The metadata field that holds the document's date, as `YYYY-MM-DD`; needed to slice by month."""
    slice: Slices = Slices()
    """How documents are dealt into batches."""
    policy: str | None = None
    """A policy of its own."""
    limits: Limits | None = None
    """Limits of its own on conversion."""
    ocr: bool = False
    """Whether pages without text are recognised; needs the extra `ocr`."""
    html_keep: Literal["main", "all"] = "main"
    """`main` content of web pages, or `all` with navigation and footers."""
    min_tokens: Annotated[int, Field(ge=0)] = 0
    """Chunks under so many tokens fail the check `token_minimum`; 0 is no minimum."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """A bound for chunks instead of the embedder's; over that, the check `token_bounds` fails."""
    deletion_guard: DeletionGuard | None = None
    """A deletion guard of its own."""
    retries: Retries | None = None
    """A retry rule of its own."""
    schedule: Schedule | None = None
    """When it is ingested even if no sensor runs."""
    freshness: Freshness | None = None
    """Alert when documents wait longer than this."""
    storage_options: dict[str, Any] = Field(default_factory=dict)
    """Passed to fsspec for a URL; secrets belong in the environment."""

    @field_validator("path_patterns")
    @classmethod
    def _patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                compiled = re.compile(pattern)
            except re.error as error:
                msg = f"{pattern!r} is not a regular expression: {error}"
                raise ValueError(msg) from error
            if not compiled.groupindex:
                msg = f"{pattern!r} has no named group (?P<field>…), so it can't give metadata"
                raise ValueError(msg)
        return patterns

    @model_validator(mode="after")
    def _dated(self) -> Source:
        if self.slice.by == "month" and self.date is None:
            raise ValueError("slice by month needs date: the metadata field that holds the document's date")
        return self
