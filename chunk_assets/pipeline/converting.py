"""From rows of ``raw_documents`` to rows of ``markdown_documents``: what holds is carried over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from chunk_assets.catalog.origin import URL
from chunk_assets.compute import Finished, Task, run_all
from chunk_assets.conversion import converter_id
from chunk_assets.converters.media import file_type
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.holding import waits
from chunk_assets.pipeline.previous import Known, Previous
from chunk_assets.pipeline.tasks import Prepared, prepare
from chunk_assets.records import MARKDOWN_DOCUMENTS, OK, Converted, DocumentMetadata, MarkdownDocument
from chunk_assets.sources import read_bytes
from chunk_assets.storage.rows import markdown_rows
from chunk_assets.storage.state import Attempts

if TYPE_CHECKING:
    import pyarrow as pa

# Faults that may pass without anyone touching the document.
TRANSIENT = ("timeout", "memory", "crash", "vanished", "unreadable")
CHARACTERS_AT_ONCE = 1_000_000
# Starting a worker process takes as long as converting about this much.
BYTES_A_WORKER = 256_000
# Says that the embedder's refusals, not the conversion, made a document partial.
OF_CHUNKS = "chunks embedded"


@dataclass(slots=True)
class Conversions:
    """The plan of one batch: where each document's row comes from, and what came of it."""

    context: BatchContext
    rows: list[dict[str, Any]]
    previous: list[Previous]
    worked: int = 0
    bytes: int = 0
    fresh: list[str] = field(default_factory=list)
    peak_mb: float = 0.0
    _prints: dict[tuple[str, bool], str] = field(default_factory=dict)

    @property
    def origins(self) -> list[int | None]:
        """For each row the index in ``previous`` of the table that it is carried from, or ``None``."""
        return [self._origin(row) for row in self.rows]

    def _origin(self, row: dict[str, Any]) -> int | None:
        for index, previous in enumerate(self.previous):
            known = previous.known.get(row["document_id"])
            if known is not None and self._holds(row, known):
                return index
        return None

    def _holds(self, row: dict[str, Any], known: Known) -> bool:
        """Whether a row made before is what would be made now."""
        if not row["document_sha256"] or known.sha256 != row["document_sha256"]:
            return False
        status, reason = known.status, known.reason
        if OF_CHUNKS in reason:
            if row["document_id"] not in self.context.state.overruled:
                return False
            status, reason = self.context.state.overruled[row["document_id"]]
        if known.fingerprint != self.fingerprint(row, status):
            return False
        return status not in TRANSIENT or not self._due(row)

    def fingerprint(self, row: dict[str, Any], status: str) -> str:
        """What a row with this status must have been made by."""
        key = (row["media_type"], status != OK)
        if key not in self._prints:
            self._prints[key] = self.context.recipe.convert_fingerprint(key[0], failed=key[1])
        return self._prints[key]

    def _due(self, row: dict[str, Any]) -> bool:
        before = self.context.state.attempts.get(row["document_id"])
        rule = self.context.catalog.retry_rule(self.context.batch.source)
        return (
            before is None
            or before.cause != self.cause(row)
            or before.count < rule.max_attempts
            or self.context.options.retry_parked
        )

    def cause(self, row: dict[str, Any]) -> str:
        """What attempts are counted for: other bytes, converters or limits start a new count."""
        return f"{row['document_sha256'][:16]}:{self.fingerprint(row, 'failed')}"

    def portions(self) -> Iterator[pa.Table]:
        """Rows of ``markdown_documents`` in order of their document ids, a few at a time."""
        origins = self.origins
        fresh = [row for row, origin in zip(self.rows, origins, strict=True) if origin is None]
        published = self.context.published_file(MARKDOWN_DOCUMENTS)
        checked = {at for at, previous in enumerate(self.previous) if previous.path == published}
        self.fresh = [r["document_id"] for r, o in zip(self.rows, origins, strict=True) if o not in checked]
        carried = [
            previous.stream(r["document_id"] for r, o in zip(self.rows, origins, strict=True) if o == index)
            for index, previous in enumerate(self.previous)
        ]
        results = self._converted(fresh)
        pairs = zip(self.rows, origins, strict=True)
        for origin, group in groupby(pairs, key=lambda pair: pair[1]):
            count = sum(1 for _ in group)
            if origin is None:
                yield from _tables(islice(results, count))
            else:
                for portion in carried[origin].take(count):
                    yield self._as_converted(portion)

    def _as_converted(self, portion: pa.Table) -> pa.Table:
        """Carried rows with the status of their conversion, where refusals had overruled it."""
        overruled = self.context.state.overruled
        ids = portion["document_id"].to_pylist()
        if not overruled.keys() & set(ids):
            return portion
        for column, at in (("status", 0), ("reason", 1)):
            values = portion[column].to_pylist()
            values = [overruled[i][at] if i in overruled else v for i, v in zip(ids, values, strict=True)]
            place = portion.schema.get_field_index(column)
            portion = portion.set_column(place, portion.schema.field(place), [values])
        return portion

    def _converted(self, rows: list[dict[str, Any]]) -> Iterator[tuple[MarkdownDocument, DocumentMetadata]]:
        """A new row for each of ``rows``, in order; worker processes do the work."""
        readable = [row for row in rows if row["document_sha256"]]
        limits = self.context.recipe.options.limits
        total = sum(row["size_bytes"] for row in readable)
        answers = run_all(
            map(self._task, readable),
            workers=self.context.session.workers,
            limits=limits,
            executor=self.context.session.executor(1 + total // BYTES_A_WORKER) if readable else None,
        )
        done = 0
        for row in rows:
            if not row["document_sha256"]:
                yield self._document(row, Prepared(Converted("", status=row["status"], reason=row["reason"])))
                continue
            finished = next(answers)
            self.worked += 1
            self.peak_mb = max(self.peak_mb, finished.peak_mb)
            done += row["size_bytes"]
            self.bytes = done
            self.context.tell(MARKDOWN_DOCUMENTS, done, total, "bytes")
            yield self._document(row, _prepared(finished))

    def _task(self, row: dict[str, Any]) -> Task:
        listed = self.context.by_id[row["document_id"]]
        load: Any = listed.location
        if URL.match(listed.location):
            load = partial(read_bytes, listed, self.context.source)
        options = self.context.recipe.options
        arguments = (load, listed.relative_path, options, row["document_sha256"])
        return Task(prepare, arguments, options.limits)

    def _document(self, row: dict[str, Any], prepared: Prepared) -> tuple[MarkdownDocument, DocumentMetadata]:
        converted = prepared.converted
        document = MarkdownDocument(
            document_id=row["document_id"],
            document_sha256=row["document_sha256"],
            markdown=converted.markdown,
            pages=converted.pages,
            headings=prepared.headings,
            n_tables=prepared.n_tables,
            converter=converter_id(row["media_type"]) if row["document_sha256"] else "",
            fingerprint=self.fingerprint(row, converted.status) if row["document_sha256"] else "",
            facts=converted.facts,
            warnings=converted.warnings,
            status=converted.status,
            reason=converted.reason,
        )
        facts = DocumentMetadata(
            file_type=file_type(row["media_type"]),
            has_headings=bool(prepared.headings),
            has_clean_paragraphs=prepared.has_clean_paragraphs,
        )
        return replace(document, attempts=self._count(row, document)), facts

    def _count(self, row: dict[str, Any], document: MarkdownDocument) -> int:
        """Keeps the count of attempts; it is in the table as well, for whoever looks at the failure."""
        if not document.document_sha256:
            return int(document.status != OK)  # it could not be read, which was counted there
        attempts = self.context.state.attempts
        if waits(self.context, document.document_id):  # counted by its embedding
            return int(document.status != OK)
        before = attempts.pop(document.document_id, None)
        if document.status not in TRANSIENT:
            return int(document.status != OK)
        cause = self.cause(row)
        count = before.count + 1 if before is not None and before.cause == cause else 1
        # The clock is for the sensor that asks again; nothing in a table depends on it.
        attempts[document.document_id] = Attempts(count, time.time(), cause, document.status, document.reason)
        return count


def _tables(documents: Iterator[tuple[MarkdownDocument, DocumentMetadata]]) -> Iterator[pa.Table]:
    """Rows of several documents at once, as long as they are small."""
    rows: list[tuple[MarkdownDocument, DocumentMetadata]] = []
    size = 0
    for document, facts in documents:
        rows.append((document, facts))
        size += len(document.markdown)
        if size >= CHARACTERS_AT_ONCE:
            yield markdown_rows(rows)
            rows, size = [], 0
    yield markdown_rows(rows)


def _prepared(finished: Finished) -> Prepared:
    if isinstance(finished.value, Prepared):
        return finished.value
    return Prepared(finished.converted)
