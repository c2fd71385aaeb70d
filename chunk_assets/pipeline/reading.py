"""From a listing to rows of ``raw_documents``: bytes are read only of what is new or touched."""

from __future__ import annotations

import time
from collections.abc import Iterator

from chunk_assets.converters.media import UNKNOWN
from chunk_assets.converters.sniff import media_type
from chunk_assets.errors import DocumentFailure
from chunk_assets.hashing import sha256_bytes
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.holding import waits
from chunk_assets.records import OK, RAW_DOCUMENTS, RawDocument
from chunk_assets.sources import Listed, read_bytes
from chunk_assets.storage.state import Attempts, Seen

# What refused reads are counted for; the version follows, since another one starts a new count.
OF_READING = "reading:"
# Refusals that may pass without anyone touching the document.
PASSING = ("unreadable", "vanished")
STALE = "; the tables hold the version that was read before"


def read_documents(context: BatchContext) -> Iterator[RawDocument]:
    """One row for each listed document, in order; the state learns what was read."""
    total = sum(listed.size_bytes for listed in context.documents)
    done = 0
    for listed in context.documents:
        yield _row(context, listed)
        done += listed.size_bytes
        context.tell(RAW_DOCUMENTS, done, total, "bytes")


def forget_the_gone(context: BatchContext) -> None:
    """Drops what the state remembers of documents that are not listed any more."""
    here = {listed.document_id for listed in context.documents}
    for memory in (context.state.documents, context.state.attempts, context.state.overruled):
        for document_id in [name for name in memory if name not in here]:
            del memory[document_id]


def _row(context: BatchContext, listed: Listed) -> RawDocument:
    refused = _refused_before(context, listed)
    if listed.status != OK:
        return _as_row(context, listed, Seen("", "", UNKNOWN), listed.status, listed.reason)
    if held := context.held.get(listed.document_id):
        context.state.documents[listed.document_id] = held.seen
        return _as_row(context, listed, held.seen, "embedding_failed", held.reason + STALE)
    seen = context.state.documents.get(listed.document_id)
    if seen is not None and seen.version == listed.version and not waits(context, listed.document_id):
        return _as_row(context, listed, seen)
    try:
        fresh = _read(context, listed)
    except DocumentFailure as failure:
        if failure.status in PASSING:
            # The clock is for the sensor that asks again; nothing in a table depends on it.
            attempt = Attempts(
                refused + 1, time.time(), OF_READING + listed.version, failure.status, failure.reason
            )
            context.state.attempts[listed.document_id] = attempt
        return _failed(context, listed, seen, failure)
    context.state.documents[listed.document_id] = fresh
    return _as_row(context, listed, fresh)


def _refused_before(context: BatchContext, listed: Listed) -> int:
    """How often this version could not be read; the count is taken out of the state."""
    before = context.state.attempts.get(listed.document_id)
    if before is None or not before.cause.startswith(OF_READING):
        return 0
    del context.state.attempts[listed.document_id]
    return before.count if before.cause == OF_READING + listed.version else 0


def _read(context: BatchContext, listed: Listed) -> Seen:
    limit = context.recipe.options.limits.max_bytes
    if listed.size_bytes > limit:
        raise DocumentFailure("too_large", f"{listed.size_bytes} bytes; the limit is {limit}")
    data = read_bytes(listed, context.source)
    return Seen(listed.version, sha256_bytes(data), media_type(data, listed.relative_path))


def _failed(
    context: BatchContext, listed: Listed, seen: Seen | None, failure: DocumentFailure
) -> RawDocument:
    """A refused read keeps the version before; a file that is gone or too large keeps nothing."""
    if failure.status == "unreadable" and seen is not None:
        return _as_row(context, listed, seen, failure.status, failure.reason + STALE)
    return _as_row(context, listed, Seen("", "", UNKNOWN), failure.status, failure.reason)


def _as_row(
    context: BatchContext, listed: Listed, seen: Seen, status: str = OK, reason: str = ""
) -> RawDocument:
    return RawDocument(
        document_id=listed.document_id,
        source=context.batch.source,
        relative_path=listed.relative_path,
        uri=listed.uri,
        media_type=seen.media_type,
        size_bytes=listed.size_bytes,
        document_sha256=seen.sha256,
        document_date=listed.document_date,
        metadata=listed.metadata,
        status=status,
        reason=reason,
        attempts=0 if status == OK else 1,
    )
