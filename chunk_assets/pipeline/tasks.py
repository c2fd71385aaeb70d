"""The functions that run in worker processes: importable by name, with small arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chunk_assets.conversion import convert_source
from chunk_assets.converters.base import Options
from chunk_assets.errors import DocumentFailure
from chunk_assets.hashing import sha256_bytes
from chunk_assets.records import Converted, Heading


@dataclass(frozen=True, slots=True)
class Prepared:
    """A converted document with the facts of its text that tables and policies use."""

    converted: Converted
    headings: tuple[Heading, ...] = ()
    n_tables: int = 0
    has_clean_paragraphs: bool = False


def prepare(load: str | Callable[[], bytes], name: str, options: Options, document_sha256: str) -> Prepared:
    """Converts one document and looks at its text; ``document_sha256`` is what its bytes must have."""
    converted = convert_source(verified(load, document_sha256), name, options)
    if not converted.markdown:
        return Prepared(converted)
    from chunk_assets.text.document import TextDocument
    from chunk_assets.text.facts import clean_paragraphs

    document = TextDocument(converted.markdown)
    tables = len(document.blocks.tables)
    return Prepared(converted, document.headings, tables, clean_paragraphs(document))


def verified(load: str | Callable[[], bytes], document_sha256: str) -> Callable[[], bytes]:
    """A loader that refuses bytes other than those that were hashed."""

    def loaded() -> bytes:
        data = load() if callable(load) else Path(load).read_bytes()
        if sha256_bytes(data) != document_sha256:
            raise DocumentFailure(
                "unreadable", "changed between hashing and conversion; the next run takes it up"
            )
        return data

    return loaded
