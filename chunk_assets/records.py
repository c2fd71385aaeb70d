"""The nouns of the house: frozen records that flow from floor to floor.

Offsets are characters (code points) of the markdown, half open. Sizes are bytes, limits say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

RAW_DOCUMENTS = "raw_documents"
MARKDOWN_DOCUMENTS = "markdown_documents"
CHUNKS = "chunks"
EMBEDDINGS = "embeddings"
TABLES = (RAW_DOCUMENTS, MARKDOWN_DOCUMENTS, CHUNKS, EMBEDDINGS)

OK = "ok"
# Every status a document can have, with what it tells the operator.
DOCUMENT_STATUSES: Mapping[str, str] = MappingProxyType(
    {
        OK: "read, converted and chunked",
        "partial": "some pages or chunks failed; the rest is in the tables",
        "unsupported": "no converter for this kind of file",
        "empty": "no bytes, or nothing but white space",
        "encrypted": "needs a password",
        "needs_ocr": "pages are pictures without a text layer",
        "broken": "the bytes can't be parsed as what they claim to be",
        "mismatch": "the bytes are another kind of file than the name says, and not a usable one",
        "unsafe": "refused: archive bomb, entity bomb, path trick or the like",
        "too_large": "over a size, page or output limit of its source",
        "timeout": "conversion took longer than the source's limit",
        "memory": "conversion needed more memory than the source's limit",
        "crash": "the worker process died",
        "vanished": "listed, but gone when it was to be read",
        "unreadable": "listed, but the read was refused",
        "invalid_metadata": "metadata is missing, unknown or malformed",
        "duplicate_id": "another document of the source has the same document id",
        "embedding_failed": "the embedder refused a text of this document",
    }
)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters of a markdown text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """Page ``number`` (from 1) is ``markdown[start:end]``; the pages of a document tile its text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of ``level`` 1–6 whose line starts at character ``start``."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """What is known of a document beside its text, and all that a policy may look at.

    The first ten fields, ``tags`` and ``metadata`` are copied to every chunk (payload inheritance).
    The last three are facts of the file: its kind and whether its text has structure.
    """

    company: str | None = None
    ticker: str | None = None
    cik: str | None = None
    document_type: str | None = None
    filing_date: date | None = None
    fiscal_period: str | None = None
    section: str | None = None
    sector: str | None = None
    geography: str | None = None
    source_url: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    file_type: str = "text"
    has_headings: bool = False
    has_clean_paragraphs: bool = False


# The payload columns, in table order.
PAYLOAD_FIELDS = (
    "company",
    "ticker",
    "cik",
    "document_type",
    "filing_date",
    "fiscal_period",
    "section",
    "sector",
    "geography",
    "source_url",
)


@dataclass(frozen=True, slots=True)
class RawDocument:
    """One row of ``raw_documents``: a file that is there, hashed and dated."""

    document_id: str
    source: str
    relative_path: str
    uri: str
    media_type: str
    size_bytes: int
    document_sha256: str
    document_date: date | None
    metadata: DocumentMetadata
    status: str = OK
    reason: str = ""
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Converted:
    r"""What a converter makes of bytes: markdown in NFC with ``\n`` newlines, and facts beside it.

    ``facts`` are document properties (title, author, dates, counts of comments, running heads);
    they are never in the text. ``warnings`` name what was lost or doubtful, with page numbers.
    """

    markdown: str
    pages: tuple[Page, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    status: str = OK
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """One row of ``markdown_documents``."""

    document_id: str
    document_sha256: str
    markdown: str
    pages: tuple[Page, ...]
    headings: tuple[Heading, ...]
    n_tables: int
    converter: str
    fingerprint: str
    facts: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    status: str = OK
    reason: str = ""
    attempts: int = 0


class ChunkSpan(NamedTuple):
    """What the chunking engine says of one chunk, before ids and payload are added.

    A tuple, since frozen classes cost five times as much to make, and a long text has thousands of chunks.
    ``text == markdown[start_char:end_char]``. ``context`` is what the embedder reads before the
    text (heading path, table header). ``token_count`` counts ``text`` by the policy's tokenizer,
    ``model_token_count`` the whole embedder input (context, text, special tokens) by the model's.
    ``overlap_chars`` is how many characters at the start are also in the previous chunk.
    """

    start_char: int
    end_char: int
    text: str
    context: str
    token_count: int
    model_token_count: int
    heading_path: tuple[str, ...]
    content_kind: str
    split_reason: str
    overlap_chars: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """One row of ``chunks``: a ``ChunkSpan`` with identity, pages and the document's payload."""

    chunk_id: str
    point_id: str
    document_id: str
    chunk_index: int
    span: ChunkSpan
    chunk_sha256: str
    page_start: int | None
    page_end: int | None
    strategy: str
    metadata: DocumentMetadata
    document_sha256: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict of one check on one batch.

    ``severity`` is ``error`` (blocks what is downstream) or ``warn``; ``examples`` are at most ten
    of the worst rows, each a mapping with ``document_id``, ``page`` and ``what``.
    """

    name: str
    table: str
    passed: bool
    severity: str
    summary: str
    counts: Mapping[str, float] = field(default_factory=dict)
    examples: tuple[Mapping[str, str], ...] = ()
