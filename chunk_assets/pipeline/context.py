"""One batch: its paths, listing, state and published version, as the stages see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.catalog import Catalog, Source
from chunk_assets.hashing import sha256_text
from chunk_assets.pipeline.recipe import Recipe
from chunk_assets.sources import Listed
from chunk_assets.storage.commit import MISSING, Manifest, damaged_tables, load_manifest
from chunk_assets.storage.layout import Batch, Layout
from chunk_assets.storage.rates import note_rate
from chunk_assets.storage.schemas import embeddings_schema
from chunk_assets.storage.state import BatchState, load_state, save_state
from chunk_assets.storage.vectors import VectorStore

if TYPE_CHECKING:
    import pyarrow as pa

    from chunk_assets.pipeline.holding import Held
    from chunk_assets.pipeline.session import RunOptions, Session


@dataclass
class BatchContext:
    """One batch in a session."""

    session: Session
    batch: Batch
    # Whether this opening of the batch has changed what readers see.
    published: bool = False
    # Documents that stay as they are published, since their new texts get no vectors for now.
    held: dict[str, Held] = field(default_factory=dict)

    @property
    def catalog(self) -> Catalog:
        """All settings."""
        return self.session.catalog

    @property
    def source(self) -> Source:
        """The settings of the batch's source."""
        return self.catalog.source(self.batch.source)

    @property
    def options(self) -> RunOptions:
        """How to run."""
        return self.session.options

    @property
    def layout(self) -> Layout:
        """Paths."""
        return self.session.layout

    @property
    def recipe(self) -> Recipe:
        """What to make."""
        return self.session.recipe(self.batch.source)

    @property
    def store(self) -> VectorStore:
        """Vectors by content."""
        return self.session.store(self.batch.source)

    @cached_property
    def documents(self) -> tuple[Listed, ...]:
        """The listed documents of this batch, in order of their ids."""
        return self.session.documents(self.batch.source, self.batch.slice)

    @cached_property
    def by_id(self) -> dict[str, Listed]:
        """The listed documents of this batch by id."""
        return {listed.document_id: listed for listed in self.documents}

    @cached_property
    def listing_digest(self) -> str:
        """Names the listing of this batch: equal digests, nothing to read."""
        return sha256_text("\n".join(map(repr, self.documents)))

    @cached_property
    def state(self) -> BatchState:
        """What is remembered of the batch."""
        return load_state(self.layout.state_file(self.batch))

    @cached_property
    def manifest(self) -> Manifest | None:
        """What is published of the batch."""
        return load_manifest(self.layout, self.batch)

    @cached_property
    def damaged(self) -> dict[str, str]:
        """Published tables whose file is not what the manifest says, with what is wrong."""
        found = damaged_tables(self.layout, self.batch, self.manifest, self.state.stamps)
        if self.session.remote is not None and self.session.remote.is_elsewhere(self.batch):
            found = {table: what for table, what in found.items() if what != MISSING}
        distrusted = self.session.distrusted.items()
        return found | {table: what for (batch, table), what in distrusted if batch == self.batch}

    def published_file(self, table: str) -> Path | None:
        """The published file of a table when it can be relied on."""
        if self.manifest is None or table in self.damaged or table not in self.manifest.files:
            return None
        return self.layout.table_file(table, self.batch)

    @cached_property
    def embeddings_schema(self) -> pa.Schema:
        """The schema of ``embeddings`` under the catalog's model."""
        recipe = self.recipe
        return embeddings_schema(
            recipe.card, recipe.model_fingerprint, recipe.sparse, recipe.sparse_fingerprint
        )

    @property
    def is_complete(self) -> bool:
        """Whether listing, recipe and published files are those of the last run that published."""
        if self.manifest is None:
            return not self.documents
        return (
            self.manifest.recipe == self.recipe.digest
            and self.state.listing_digest == self.listing_digest
            and not self.damaged
        )

    @property
    def is_settleable(self) -> bool:
        """Whether only the listing can differ: nothing is to be done when it lists the same documents."""
        same = self.manifest is not None and self.manifest.recipe == self.recipe.digest
        return same and not self.damaged and not self.due

    @property
    def is_current(self) -> bool:
        """Whether there is nothing to do: complete, and no failed document is to be tried again."""
        return self.is_complete and not self.due

    @property
    def due(self) -> bool:
        """Whether some document that failed is to be tried again by the next run."""
        most = self.catalog.retry_rule(self.batch.source).max_attempts
        return any(
            attempts.count < most or self.options.retry_parked for attempts in self.state.attempts.values()
        )

    def forget(self) -> None:
        """Looks at the published files again when they are asked for next."""
        for name in ("manifest", "damaged", "state"):
            self.__dict__.pop(name, None)

    def save(self) -> None:
        """Writes the state, unless this is a rehearsal."""
        if self.options.scratch is None:
            save_state(self.layout.state_file(self.batch), self.state)

    def note_rate(self, name: str, amount: float, seconds: float) -> None:
        """Remembers how fast a kind of work went."""
        if self.options.scratch is None:
            note_rate(self.layout.rates, name, amount, seconds)

    def tell(self, stage: str, done: int, total: int, unit: str) -> None:
        """Reports progress of this batch."""
        self.options.progress(stage, done, total, unit)
