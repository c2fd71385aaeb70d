"""What is remembered of a batch between runs and is in no table: a cache that may be lost.

Without it, the next run reads every file's bytes once to hash them, and nothing else is repeated.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chunk_assets.storage.files import read_if_there, write_atomic

FORMAT = 2


@dataclass(slots=True)
class Seen:
    """One document as it was last read. ``version`` is the listing's token for its content."""

    version: str
    sha256: str
    media_type: str


@dataclass(slots=True)
class Attempts:
    """Failures of one document that may pass: how often, last when (seconds since the epoch), of what."""

    count: int
    last: float
    cause: str
    status: str
    reason: str


@dataclass(slots=True)
class BatchState:
    """The state of a batch. An empty ``listing_digest`` (unknown) equals none."""

    documents: dict[str, Seen] = field(default_factory=dict)
    attempts: dict[str, Attempts] = field(default_factory=dict)
    # Texts that the embedder refused, by model fingerprint and hexadecimal key, with the reason.
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    # Conversion status and reason of documents that the embedder's refusals overrule in the tables.
    overruled: dict[str, tuple[str, str]] = field(default_factory=dict)
    listing_digest: str = ""
    # Size and modification time (ns) of the published files: equal ones are not hashed again.
    stamps: dict[str, tuple[int, int]] = field(default_factory=dict)


def load_state(path: Path) -> BatchState:
    """The state at ``path``; an empty one when it is missing, damaged or of another format."""
    data = read_if_there(path)
    try:
        value = json.loads(data or b"{}")
        if value.pop("format", None) != FORMAT:
            return BatchState()
        value["documents"] = {key: Seen(*row) for key, row in value["documents"].items()}
        value["attempts"] = {key: Attempts(**row) for key, row in value["attempts"].items()}
        value["overruled"] = {key: tuple(row) for key, row in value["overruled"].items()}
        value["stamps"] = {key: tuple(row) for key, row in value["stamps"].items()}
        return BatchState(**value)
    except (ValueError, TypeError, KeyError, AttributeError):
        return BatchState()


def save_state(path: Path, state: BatchState) -> None:
    """Writes the state, unless the file says the same already."""
    value: dict[str, Any] = {
        "format": FORMAT,
        "documents": {
            key: [seen.version, seen.sha256, seen.media_type] for key, seen in state.documents.items()
        },
        "attempts": {key: asdict(row) for key, row in state.attempts.items()},
        "refused": state.refused,
        "overruled": state.overruled,
        "listing_digest": state.listing_digest,
        "stamps": state.stamps,
    }
    data = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    if read_if_there(path) != data:
        write_atomic(path, data)
