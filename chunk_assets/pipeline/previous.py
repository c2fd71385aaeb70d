"""What earlier runs left of a batch: the cache from which rows are carried over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chunk_assets.records import CHUNKS, MARKDOWN_DOCUMENTS
from chunk_assets.storage.tables import RowStream, read_table


@dataclass(frozen=True, slots=True)
class Known:
    """What decides whether a document's rows still hold. ``rows`` is how many there are."""

    sha256: str
    fingerprint: str
    status: str = ""
    reason: str = ""
    rows: int = 1


@dataclass(frozen=True, slots=True)
class Previous:
    """A table file of an earlier run, and what is known of its documents."""

    path: Path
    known: Mapping[str, Known]

    def stream(self, wanted: Iterable[str]) -> RowStream:
        """The rows of the wanted documents, in file order."""
        return RowStream(self.path, wanted)


def previous_markdown(path: Path | None) -> list[Previous]:
    """The documents of a ``markdown_documents`` file; none when there is no such file."""
    names = ("document_id", "document_sha256", "fingerprint", "status", "reason")
    rows = read_table(path, names) if path is not None else None
    if path is None or rows is None:
        return []
    columns = (rows[name].to_pylist() for name in names)
    return [Previous(path, {row[0]: Known(*row[1:]) for row in zip(*columns, strict=True)})]


def previous_chunks(path: Path | None) -> list[Previous]:
    """The documents of a ``chunks`` file with their number of rows."""
    names = ("document_id", "document_sha256", "fingerprint")
    rows = read_table(path, names) if path is not None else None
    if path is None or rows is None:
        return []
    known: dict[str, Known] = {}
    counts: dict[str, int] = {}
    for document_id, sha256, fingerprint in zip(*(rows[n].to_pylist() for n in names), strict=True):
        counts[document_id] = counts.get(document_id, 0) + 1
        known[document_id] = Known(sha256, fingerprint, rows=counts[document_id])
    return [Previous(path, known)]


PREVIOUS = {MARKDOWN_DOCUMENTS: previous_markdown, CHUNKS: previous_chunks}
