"""All of ``sources.yaml``. Each setting has its default and its meaning where it is declared, once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from chunk_assets.catalog.operation import Alerts, Compute, ObjectStoreRules, Operation, VectorIndex
from chunk_assets.catalog.settings import Name, Settings
from chunk_assets.catalog.source import DeletionGuard, Retries, Source
from chunk_assets.converters.base import Limits


class EmbedderChoice(BaseModel):
    """Which embedder, with its own settings beside the name (see the embedder's reference page)."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str = "bge_small"
    """One of the embedders below; their settings stand beside it."""

    @property
    def settings(self) -> dict[str, Any]:
        """What the embedder is loaded with."""
        return dict(self.model_extra or {})


class Catalog(Settings):
    """All of ``sources.yaml``; ``home`` is the folder or URL that it was read from."""

    home: str
    tokenizer: str = "cl100k_base"
    """Sizes of chunks are in its tokens: `cl100k_base`, `o200k_base`, or `file:` and a `tokenizer.json`."""
    splitter: str = "rules"
    """How sentences are found: `rules` (English and many others), or `spacy:<pipeline>`."""
    embedder: EmbedderChoice = EmbedderChoice()
    """The embedder and its settings; its own tokenizer bounds every chunk."""
    sparse_embedder: EmbedderChoice | None = None
    """A learned sparse embedder beside it, with its settings."""
    policy: str = "auto"
    """Which strategy for which document, unless a source says otherwise."""
    policies: dict[Name, tuple[dict[str, Any], ...]] = Field(default_factory=dict)
    """Policies of your own by name, each a list of rules."""
    limits: Limits = Limits()
    """Limits on the conversion of a document."""
    deletion_guard: DeletionGuard = DeletionGuard()
    """How many documents may be gone at once."""
    retries: Retries = Retries()
    """How failed documents are tried again."""
    workers: Annotated[int, Field(ge=0, le=1024)] = 0
    """Processes for converting and embedding; 0 is one a core."""
    compute: Compute = Compute()
    """Where documents are converted."""
    object_store: ObjectStoreRules = ObjectStoreRules()
    """How a home in an object store is written."""
    price_per_million_tokens: Annotated[float, Field(ge=0)] | None = None
    """For `plan`: what the embedder costs, when it does not say so itself."""
    currency: str = "USD"
    """Of the price."""
    alerts: Alerts = Alerts()
    """Where alerts go."""
    operation: Operation = Operation()
    """Schedules of the home itself."""
    vector_indexes: dict[Name, VectorIndex] = Field(default_factory=dict)
    """Stores that published vectors are delivered to, by name."""
    sources: Annotated[dict[Name, Source], Field(min_length=1)]
    """What is read, by name."""

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
