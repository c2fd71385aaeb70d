"""Identity is content: hashes, fingerprints and ids. No clock, no random, no ``hash()``."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

# UUIDv5 of "chunk-assets" in the DNS namespace; fixed for ever, since point ids depend on it.
POINT_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "chunk-assets")


def sha256_bytes(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """Lower-case hexadecimal SHA-256 of the exact UTF-8 bytes of ``text``."""
    return sha256_bytes(text.encode("utf-8", "surrogatepass"))


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=list)


def fingerprint(parts: Mapping[str, Any]) -> str:
    """First 16 hexadecimal digits of the SHA-256 of the canonical JSON of ``parts``."""
    return sha256_text(canonical_json(parts))[:16]


def chunk_id(document_id: str, chunk_index: int) -> str:
    """``{document_id}_chunk_{chunk_index:04d}`` (ADR Sentence-Aware Deterministic Chunking)."""
    return f"{document_id}_chunk_{chunk_index:04d}"


def point_id(chunk_identifier: str) -> str:
    """UUIDv5 of a chunk id, for stores that take only UUIDs."""
    return str(uuid.uuid5(POINT_NAMESPACE, chunk_identifier))


def bucket(document_id: str, count: int) -> int:
    """Hash bucket ``sha256(document_id) % count``, stable on every machine."""
    return int(sha256_text(document_id), 16) % count
