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
    import numpy as np

    names = ("document_id", "document_sha256", "fingerprint")
    rows = read_table(path, names) if path is not None else None
    if path is None or rows is None:
        return []
    # Rows of a document stand together and agree in these columns: its first row speaks for all.
    ids = rows["document_id"].combine_chunks().dictionary_encode()
    places = ids.indices.to_numpy()
    first, counts = np.unique(places, return_index=True, return_counts=True)[1:]
    columns = (rows[name].take(first).to_pylist() for name in names)
    firsts = zip(*columns, counts.tolist(), strict=True)
    known = {name: Known(sha256, fingerprint, rows=count) for name, sha256, fingerprint, count in firsts}
    return [Previous(path, known)]


PREVIOUS = {MARKDOWN_DOCUMENTS: previous_markdown, CHUNKS: previous_chunks}
