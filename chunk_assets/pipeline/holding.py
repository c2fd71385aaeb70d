"""An edited document whose new texts get no vectors for now: readers keep the version before.

It stays as it is published, with a status that says so, and is tried again like every failure that may
pass. Only when nothing but the documents changed: under another recipe there is no way to keep old rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunk_assets.pipeline.context import BatchContext
from chunk_assets.records import CHUNKS, OK, RAW_DOCUMENTS
from chunk_assets.sources import Listed
from chunk_assets.storage import staging
from chunk_assets.storage.state import Attempts, Seen
from chunk_assets.storage.tables import read_table

if TYPE_CHECKING:
    from chunk_assets.pipeline.embedding import Embedding

HELD = "embedding-held:"


@dataclass(frozen=True, slots=True)
class Held:
    """The version that stays (``seen``, under the version listed now), why, and keys without a vector."""

    seen: Seen
    reason: str
    keys: tuple[bytes, ...]


def waits(context: BatchContext, document_id: str) -> bool:
    """Whether the document's newest version was held back by an earlier run."""
    before = context.state.attempts.get(document_id)
    return before is not None and before.cause.startswith(HELD)


def some_wait(context: BatchContext) -> bool:
    """Whether any document of the batch does."""
    return any(waits(context, name) for name in context.state.attempts)


def to_hold(context: BatchContext, work: Embedding) -> dict[str, Held]:
    """Documents with refused texts that readers have a whole version of, from before an edit."""
    manifest = context.manifest
    if not work.refusals or manifest is None or manifest.recipe != context.recipe.digest:
        return {}
    published, now = _documents(context, published=True), _documents(context, published=False)
    found: dict[str, Held] = {}
    for name, keys in _refused_keys(context, work).items():
        before = published.get(name)
        passing = any(not work.refusals[key].final for key in keys)
        if before is None or before["document_sha256"] == now[name]["document_sha256"]:
            continue
        if (before["status"] == OK or waits(context, name)) and (passing or _is_parked(context, name)):
            version = context.by_id[name].version
            seen = Seen(version, before["document_sha256"], before["media_type"])
            found[name] = Held(seen, work.refusals[keys[0]].reason, tuple(keys))
    return found


def count_held(context: BatchContext, refused: dict[str, str]) -> None:
    """Counts the attempts at what was held back; after too many its texts join the ``refused``."""
    attempts = context.state.attempts
    most = context.catalog.retry_rule(context.batch.source).max_attempts
    for name in [name for name in attempts if waits(context, name) and name not in context.held]:
        del attempts[name]
    for name, held in context.held.items():
        cause, before = _cause(context, context.by_id[name]), attempts.get(name)
        count = min(before.count + 1, most) if before is not None and before.cause == cause else 1
        # The clock is for the sensor that asks again; nothing in a table depends on it.
        attempts[name] = Attempts(count, time.time(), cause, "embedding_failed", held.reason)
        if count >= most:
            refused |= {key.hex(): held.reason for key in held.keys}


def _cause(context: BatchContext, listed: Listed) -> str:
    return f"{HELD}{context.recipe.model_fingerprint}:{listed.version}"


def _is_parked(context: BatchContext, name: str) -> bool:
    before = context.state.attempts.get(name)
    return before is not None and before.cause == _cause(context, context.by_id[name])


def _documents(context: BatchContext, *, published: bool) -> Mapping[str, dict[str, Any]]:
    path = context.published_file(RAW_DOCUMENTS)
    stage = staging.staged(context.layout, RAW_DOCUMENTS, context.batch)
    if stage is not None and not published:
        path = staging.path_of(context.layout, RAW_DOCUMENTS, context.batch, stage)
    columns = ("document_id", "document_sha256", "media_type", "status")
    rows = read_table(path, columns) if path is not None else None
    return {row["document_id"]: row for row in (rows.to_pylist() if rows is not None else ())}


def _refused_keys(context: BatchContext, work: Embedding) -> dict[str, list[bytes]]:
    """Refused keys by document."""
    rows = read_table(work.chunks_file, ("document_id", "input_sha256"))
    found: dict[str, list[bytes]] = {}
    if rows is None:
        raise LookupError(f"{CHUNKS} of {context.batch} is not staged")
    for name, key in zip(rows["document_id"].to_pylist(), rows["input_sha256"].to_pylist(), strict=True):
        if (known := bytes.fromhex(key)) in work.refusals:
            found.setdefault(name, []).append(known)
    return found
