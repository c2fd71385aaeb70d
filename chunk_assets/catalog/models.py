"""The settings of ``sources.yaml``: each default is written here, once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from chunk_assets.converters.base import Limits
from chunk_assets.hashing import bucket

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


def _name(value: str) -> str:
    if not NAME.fullmatch(value):
        msg = f"{value!r} is not a name: lower-case letters, digits and _, starting with a letter"
        raise ValueError(msg)
    return value


Name = Annotated[str, AfterValidator(_name)]
Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, list | dict) else str(value))]


class Settings(BaseModel):
    """Base of every group of settings: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Slices(Settings):
    """How the documents of a source are dealt into batches.

    ``month``: by the month of the document's date, from ``start`` (``YYYY-MM``) on.
    ``bucket``: by ``sha256(document_id) % count``; ``count`` is fixed for the life of a source
    (see ``chunk-assets rebucket``): 1 for hundreds of documents, 4–16 for thousands, 64–256 for a million.
    """

    by: Literal["month", "bucket"] = "bucket"
    start: str | None = None
    count: Annotated[int, Field(ge=1, le=10_000)] = 1

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
    min_documents: Annotated[int, Field(ge=1)] = 10


class Retries(Settings):
    """How often, and after which wait in minutes (doubled each time), a failed document is tried again."""

    max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    first_wait_minutes: Annotated[float, Field(ge=0)] = 10.0


class Schedule(Settings):
    """When a source is ingested: a cron line with five fields, in a time zone of the IANA database."""

    cron: str
    timezone: str = "UTC"


class Freshness(Settings):
    """How many hours may pass from a document's arrival until it is searchable."""

    within_hours: Annotated[float, Field(gt=0)]


class Source(Settings):
    """A named folder or bucket prefix with the metadata that its documents inherit."""

    path: str
    description: str = ""
    owners: tuple[str, ...] = ()
    include: tuple[str, ...] = ("**/*",)
    exclude: tuple[str, ...] = ()
    follow_links: bool = False
    default_metadata: dict[str, Text] = Field(default_factory=dict)
    default_tags: tuple[str, ...] = ()
    path_patterns: tuple[str, ...] = ()
    id_template: str | None = None
    date: str | None = None
    slice: Slices = Slices()
    policy: str | None = None
    limits: Limits | None = None
    ocr: bool = False
    html_keep: Literal["main", "all"] = "main"
    min_tokens: Annotated[int, Field(ge=0)] = 0
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    deletion_guard: DeletionGuard | None = None
    retries: Retries | None = None
    schedule: Schedule | None = None
    freshness: Freshness | None = None
    storage_options: dict[str, Any] = Field(default_factory=dict)

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


class EmbedderChoice(BaseModel):
    """Which embedder, with its own settings beside the name (see the embedder's reference page)."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str = "bge_small"

    @property
    def settings(self) -> dict[str, Any]:
        """What the embedder is loaded with."""
        return dict(self.model_extra or {})


class Alerts(Settings):
    """Where alerts go. URLs hold secrets, so only the names of environment variables stand here."""

    apprise_env: tuple[str, ...] = ("CHUNK_ASSETS_ALERT_URLS",)
    webhook_env: str = "CHUNK_ASSETS_ALERT_WEBHOOK"
    severity: Literal["error", "warn"] = "warn"
    digest_over: Annotated[int, Field(ge=1)] = 10
    link_base: str = "http://127.0.0.1:3000"


class Operation(Settings):
    """Schedules of the home itself, and how much one tick may ask for."""

    catch_up: Schedule = Schedule(cron="0 2 * * *")
    catch_up_batches: Annotated[int, Field(ge=1)] = 50
    verify: Schedule = Schedule(cron="0 4 * * 0")
    verify_share: Annotated[float, Field(gt=0, le=1)] = 0.25
    evaluate: Schedule = Schedule(cron="0 5 1 * *")
    prune: Schedule = Schedule(cron="30 4 * * 0")
    sensor_seconds: Annotated[int, Field(ge=5)] = 30
    sensor_batches: Annotated[int, Field(ge=1)] = 20
    keep_runs_per_batch: Annotated[int, Field(ge=1)] = 5


class Compute(Settings):
    """Where documents are converted: processes of this machine, or a Dask or Ray cluster that is running."""

    engine: Literal["local", "dask", "ray"] = "local"
    address: str = ""

    @model_validator(mode="after")
    def _addressed(self) -> Compute:
        if (self.engine == "local") == bool(self.address):
            msg = f"engine {self.engine} {'has no' if self.address else 'needs the'} address of a cluster"
            raise ValueError(msg)
        return self


class ObjectStoreRules(Settings):
    """How a home on ``s3://``, ``gs://`` or ``abfs://`` is written.

    ``lock_seconds``: a batch whose run was not heard of for so long may be taken over by another run.
    ``grace_minutes``: how long objects of the version before stay, for readers that are still at them.
    ``single_writer``: you see to it that only one process writes; for stores without conditional puts.
    """

    lock_seconds: Annotated[float, Field(ge=2, le=3600)] = 60.0
    grace_minutes: Annotated[float, Field(ge=0)] = 60.0
    single_writer: bool = False


class VectorIndex(Settings):
    """A store that the published vectors are delivered to; secrets come from the environment."""

    to: str
    target: str
    sources: tuple[str, ...] = ()


class Catalog(Settings):
    """All of ``sources.yaml``; ``home`` is the folder or URL that it was read from."""

    home: str
    tokenizer: str = "cl100k_base"
    splitter: str = "rules"
    embedder: EmbedderChoice = EmbedderChoice()
    sparse_embedder: EmbedderChoice | None = None
    policy: str = "auto"
    policies: dict[Name, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    limits: Limits = Limits()
    deletion_guard: DeletionGuard = DeletionGuard()
    retries: Retries = Retries()
    workers: Annotated[int, Field(ge=0, le=1024)] = 0
    compute: Compute = Compute()
    object_store: ObjectStoreRules = ObjectStoreRules()
    price_per_million_tokens: Annotated[float, Field(ge=0)] | None = None
    currency: str = "USD"
    alerts: Alerts = Alerts()
    operation: Operation = Operation()
    vector_indexes: dict[Name, VectorIndex] = Field(default_factory=dict)
    sources: Annotated[dict[Name, Source], Field(min_length=1)]

    def source(self, name: str) -> Source:
        """The source of that name; an unknown one is a ``ConfigurationError`` that lists the known."""
        from chunk_assets.errors import unknown

        if name not in self.sources:
            raise unknown("source", name, self.sources)
        return self.sources[name]

    def guard(self, name: str) -> DeletionGuard:
        """The deletion guard of a source: its own, or the catalog's."""
        return self.source(name).deletion_guard or self.deletion_guard

    def retry_rule(self, name: str) -> Retries:
        """The retry rule of a source: its own, or the catalog's."""
        return self.source(name).retries or self.retries

    def limits_of(self, name: str) -> Limits:
        """The conversion limits of a source: its own, or the catalog's."""
        return self.source(name).limits or self.limits

    def policy_name(self, name: str) -> str:
        """The policy of a source: its own, or the catalog's."""
        return self.source(name).policy or self.policy

    def batches(self, until: date) -> tuple[tuple[str, str], ...]:
        """Every (source, slice) of the catalog, in order."""
        return tuple((name, key) for name, source in self.sources.items() for key in source.slice.keys(until))

    def paths(self) -> Mapping[str, str]:
        """Where each source lies: URLs as they are, folders relative to the home."""
        from chunk_assets.catalog.load import resolve_path

        return {name: resolve_path(self.home, source.path) for name, source in self.sources.items()}
