"""From rows of ``markdown_documents`` to rows of ``chunks``: what holds is carried over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.hashing import chunk_id, point_id, sha256_text
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.previous import Previous, previous_chunks
from chunk_assets.records import (
    CHUNKS,
    MARKDOWN_DOCUMENTS,
    PAYLOAD_FIELDS,
    RAW_DOCUMENTS,
    Chunk,
    ChunkSpan,
    DocumentMetadata,
    Page,
)
from chunk_assets.storage import staging
from chunk_assets.storage.rows import chunk_rows, metadata_of
from chunk_assets.storage.tables import RowStream, documents_alike, of_documents, read_table

if TYPE_CHECKING:
    import pyarrow as pa

    from chunk_assets.chunking import ChunkingStrategy

PLAN_COLUMNS = (
    "document_id",
    "document_sha256",
    "fingerprint",
    "file_type",
    "has_headings",
    "has_clean_paragraphs",
    "markdown_sha256",
)
PAYLOAD_COLUMNS = (*PAYLOAD_FIELDS, "tags", "metadata")
ROWS_AT_ONCE = 1_024
NO_TEXT = sha256_text("")


@dataclass(frozen=True, slots=True)
class Wanted:
    """One document that should have chunks: by what strategy, under which fingerprint."""

    document_id: str
    document_sha256: str
    metadata: DocumentMetadata
    strategy: ChunkingStrategy
    fingerprint: str


@dataclass
class Slicing:
    """The plan of one batch: which documents' chunks are made anew, which are carried over."""

    context: BatchContext
    raw: pa.Table
    markdown_file: Path
    worked: list[str] = field(default_factory=list)

    @cached_property
    def documents(self) -> list[dict[str, Any]]:
        """What the plan needs of every document with text, in order of the ids."""
        columns = read_table(self.markdown_file, PLAN_COLUMNS)
        rows = columns.to_pylist() if columns is not None else []
        return [row for row in rows if row["markdown_sha256"] != NO_TEXT]

    def _wanted(self, row: dict[str, Any]) -> Wanted:
        facts = {name: row[name] for name in ("file_type", "has_headings", "has_clean_paragraphs")}
        metadata = metadata_of(self._raw_rows[row["document_id"]], **facts)
        recipe = self.context.recipe
        strategy = recipe.strategy(metadata)
        fingerprint = recipe.chunk_fingerprint(row["fingerprint"], strategy)
        return Wanted(row["document_id"], row["document_sha256"], metadata, strategy, fingerprint)

    @cached_property
    def _raw_rows(self) -> dict[str, dict[str, Any]]:
        """Raw rows of the documents that have to be looked at closely."""
        names = [row["document_id"] for row in self.documents if not self._untouched(row)]
        return {row["document_id"]: row for row in of_documents(self.raw, names).to_pylist()}

    @cached_property
    def _same_payload(self) -> set[str]:
        """Documents whose metadata is as it was published."""
        path = self.context.published_file(RAW_DOCUMENTS)
        before = read_table(path, ("document_id", *PAYLOAD_COLUMNS)) if path is not None else None
        return set() if before is None else documents_alike(self.raw, before, PAYLOAD_COLUMNS)

    @cached_property
    def _converted_anew(self) -> set[str] | None:
        """Documents whose markdown row is not the published one; ``None``: it may be any."""
        manifest, recipe = self.context.manifest, self.context.recipe
        stage = staging.staged(self.context.layout, MARKDOWN_DOCUMENTS, self.context.batch)
        if manifest is None or manifest.recipe != recipe.digest or stage is None or stage.fresh is None:
            return None
        return set(stage.fresh)

    @cached_property
    def previous(self) -> Previous | None:
        """The published chunks, when their file is sound."""
        found = previous_chunks(self.context.published_file(CHUNKS))
        return found[0] if found else None

    def _untouched(self, row: dict[str, Any]) -> bool:
        """Whether all that chunks are made from is as it was when the published ones were made."""
        name = row["document_id"]
        if self._converted_anew is None or name in self._converted_anew:
            return False
        known = self.previous.known.get(name) if self.previous else None
        return known is not None and known.sha256 == row["document_sha256"] and name in self._same_payload

    def holds(self, wanted: Wanted) -> bool:
        """Whether the published chunks of a document are those that would be made now."""
        known = self.previous.known.get(wanted.document_id) if self.previous else None
        return (
            known is not None
            and (known.sha256, known.fingerprint) == (wanted.document_sha256, wanted.fingerprint)
            and wanted.document_id in self._same_payload
        )

    def portions(self) -> Iterator[pa.Table]:
        """Rows of ``chunks`` in order of document id and index, a document or more at a time."""
        names = [row["document_id"] for row in self.documents]
        open_ones = [self._wanted(row) for row in self.documents if not self._untouched(row)]
        fresh = {wanted.document_id: wanted for wanted in open_ones if not self.holds(wanted)}
        carried = self.previous.stream(n for n in names if n not in fresh) if self.previous else None
        made = self._made(list(fresh.values()))
        for is_fresh, group in groupby(names, key=fresh.__contains__):
            if not is_fresh and carried is not None and self.previous is not None:
                known = self.previous.known
                yield from carried.take(sum(known[name].rows for name in group))
            else:
                yield from _tables(islice(made, len(list(group))))

    def _made(self, fresh: list[Wanted]) -> Iterator[list[Chunk]]:
        stream = RowStream(
            self.markdown_file, [w.document_id for w in fresh], ["document_id", "markdown", "pages"]
        )
        for number, wanted in enumerate(fresh, start=1):
            (row,) = next(stream.take(1)).to_pylist()
            spans = self.context.recipe.chunk(row["markdown"], wanted.strategy)
            self.worked.append(wanted.document_id)
            self.context.tell(CHUNKS, number, len(fresh), "documents")
            yield chunks_of(wanted, spans, tuple(Page(**page) for page in row["pages"]))


def _tables(documents: Iterator[list[Chunk]]) -> Iterator[pa.Table]:
    """Rows of many documents at once: making a table costs more than a row."""
    rows: list[Chunk] = []
    for chunks in documents:
        rows += chunks
        if len(rows) >= ROWS_AT_ONCE:
            yield chunk_rows(rows)
            rows = []
    yield chunk_rows(rows)


def chunks_of(wanted: Wanted, spans: list[ChunkSpan], pages: tuple[Page, ...]) -> list[Chunk]:
    """Spans with ids, hashes, pages and payload: the rows of one document."""
    from chunk_assets.text.document import page_range

    chunks = []
    for index, span in enumerate(spans):
        identifier = chunk_id(wanted.document_id, index)
        first, last = page_range(pages, span.start_char, span.end_char)
        chunks.append(
            Chunk(
                chunk_id=identifier,
                point_id=point_id(identifier),
                document_id=wanted.document_id,
                chunk_index=index,
                span=span,
                chunk_sha256=sha256_text(span.text),
                page_start=first,
                page_end=last,
                strategy=wanted.strategy.name,
                metadata=wanted.metadata,
                document_sha256=wanted.document_sha256,
                fingerprint=wanted.fingerprint,
            )
        )
    return chunks
