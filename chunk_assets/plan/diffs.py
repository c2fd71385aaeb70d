"""Chunks before and after: how many are kept, and where the boundaries moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.stages import staged_rows
from chunk_assets.plan.reasons import rows_of
from chunk_assets.plan.records import Boundary, DocumentDiff
from chunk_assets.records import CHUNKS
from chunk_assets.storage.tables import read_table


def hashes_of(context: BatchContext, *, published: bool) -> dict[str, list[str]]:
    """Chunk hashes of each document in order."""
    columns = ("document_id", "chunk_sha256")
    path = context.published_file(CHUNKS)
    before = read_table(path, columns) if path is not None and published else None
    rows = before if published else staged_rows(context, CHUNKS, columns)
    found: dict[str, list[str]] = {}
    for document_id, sha256 in zip(*(rows[n].to_pylist() for n in columns), strict=True) if rows else ():
        found.setdefault(document_id, []).append(sha256)
    return found


def compare(before: list[str], after: list[str]) -> Counter[str]:
    """Chunks kept, changed in place, added and removed, by the shortest edit of the sequence of hashes."""
    figures: Counter[str] = Counter()
    if before == after:
        return Counter(kept=len(after))
    for mark, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = min(b - a, d - c)
        figures["kept" if mark == "equal" else "changed"] += same
        figures["removed"] += b - a - same
        figures["added"] += d - c - same
    return figures


def diffs_of(
    context: BatchContext, before: Mapping[str, list[str]], after: Mapping[str, list[str]], most: int
) -> Iterator[DocumentDiff]:
    """The boundaries of the first documents whose chunks differ."""
    names = [name for name in sorted(after) if name in before and before[name] != after[name]][:most]
    columns = ("document_id", "chunk_id", "chunk_sha256", "start_char", "end_char", "text")
    rows = {at: rows_of(context, CHUNKS, columns, at == "before") for at in ("before", "after")}
    for name in names:
        old, new = ([r for r in rows[at] if r["document_id"] == name] for at in ("before", "after"))
        yield DocumentDiff(name, tuple(_boundaries(old, new)))


def _boundaries(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[Boundary]:
    before, after = ([str(row["chunk_sha256"]) for row in rows] for rows in (old, new))
    for mark, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if mark != "equal":
            yield from (_boundary("-", row) for row in old[a:b])
        yield from (_boundary("=" if mark == "equal" else "+", row) for row in new[c:d])


def _boundary(mark: str, row: dict[str, Any]) -> Boundary:
    return Boundary(mark, row["chunk_id"], row["start_char"], row["end_char"], row["text"])
