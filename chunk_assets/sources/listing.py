"""The listing of a source: every file that is there becomes one ``Listed``, good or not."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import translate
from functools import cache
from pathlib import Path

from chunk_assets.catalog import Catalog, Source
from chunk_assets.catalog.load import resolve_path
from chunk_assets.catalog.origin import URL
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import OK, DocumentMetadata
from chunk_assets.sources.files import METADATA_FILE, SIDECAR_SUFFIX, Entry, walk
from chunk_assets.sources.identity import own_id, path_id, template_id
from chunk_assets.sources.metadata import Describer, ReadText, describes, to_metadata
from chunk_assets.sources.remote import read_many, read_remote

# Never documents: they describe documents, or an editor or a file manager left them.
ALWAYS_EXCLUDED = (
    METADATA_FILE,
    f"*{SIDECAR_SUFFIX}",
    ".*",
    "~$*",
    "Thumbs.db",
    "desktop.ini",
    "sources.yaml",
)


# What a home keeps beside its documents.
OF_HOME = (
    *("tables/", "staging/", "state/", "vectors/", "versions/", "locks/", "dagster/", "alerts/"),
    "evaluation/",
    "measured.json",
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A document that is there. ``status`` is ``ok``, ``invalid_metadata``, ``duplicate_id`` or ``unsafe``.

    ``uri`` is relative to the home for files below it, so that a copied home gives the same tables;
    ``location`` is what ``read_bytes`` opens.
    """

    relative_path: str
    uri: str
    location: str
    size_bytes: int
    version: str
    document_id: str
    document_date: date | None
    slice: str
    metadata: DocumentMetadata
    status: str = OK
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """All documents of a source. When ``complete`` is false nothing may be concluded from what is missing.

    ``notes`` name metadata that belongs to no file: a misspelt name loses it without any other sign.
    """

    source: str
    documents: tuple[Listed, ...]
    complete: bool
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def of_slice(self, key: str) -> tuple[Listed, ...]:
        """The documents of one batch, in order of their ids."""
        return tuple(document for document in self.documents if document.slice == key)

    def by_slice(self) -> dict[str, tuple[Listed, ...]]:
        """The documents of every batch that has any."""
        batches: dict[str, list[Listed]] = defaultdict(list)
        for document in self.documents:
            batches[document.slice].append(document)
        return {key: tuple(batches[key]) for key in sorted(batches)}


def list_source(catalog: Catalog, name: str) -> Listing:
    """Lists one source, resolves metadata, ids, dates and slices. Reads no document.

    Raises:
        SourceUnavailable: the source can't be listed at all.
    """
    source = catalog.source(name)
    root = resolve_path(catalog.home, source.path)
    entries, problems = walk(root, source.storage_options, follow_links=source.follow_links)
    describer = Describer.of(source, entries, _reader(source, root, entries))
    wanted, own = Wanted.of(source), _places_of_home(catalog.home, root)
    documents = [
        _listed(name, entry, describer)
        for entry in entries
        if wanted.takes(entry.relative_path) and not entry.relative_path.startswith(own)
    ]
    documents = sorted(_mark_duplicates(documents, name), key=lambda document: document.document_id)
    return Listing(
        name,
        tuple(documents),
        complete=not problems,
        problems=tuple(problems),
        notes=tuple(describer.unclaimed(entry.relative_path for entry in entries)),
    )


def _places_of_home(home: str, root: str) -> tuple[str, ...]:
    """Where the home keeps its own files, when it lies in the source: they are never documents."""
    if URL.match(root) or URL.match(home) or not Path(home).resolve().is_relative_to(root):
        return ()
    folder = Path(home).resolve().relative_to(root).as_posix()
    prefix = "" if folder == "." else f"{folder}/"
    return tuple(prefix + place for place in OF_HOME)


def _reader(source: Source, root: str, entries: Iterable[Entry]) -> ReadText:
    """Reads what describes documents; from a store all of it at once, since each request takes its time."""
    if not URL.match(root):
        return lambda entry: read_bytes(_inside(entry), source).decode("utf-8")
    describing = [entry for entry in entries if describes(entry.relative_path)]
    texts = read_many(root, describing, source.storage_options)
    return lambda entry: texts[entry.location].decode("utf-8")


def _inside(entry: Entry) -> Entry:
    """The entry, when it may be read.

    Raises:
        DocumentFailure: ``unsafe``, it is a link that leads out of the source's folder.
    """
    if entry.outside:
        raise DocumentFailure(
            "unsafe",
            f"{entry.relative_path} is a link that leads out of the source's folder; "
            "'follow_links: true' in sources.yaml lets such files in",
        )
    return entry


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which relative paths are documents: ``include`` globs less ``exclude`` globs."""

    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, source: Source) -> Wanted:
        """Compiles the globs of a source; ``**/`` matches any number of folders, also none."""
        return cls(tuple(map(_glob, source.include)), tuple(map(_glob, (*source.exclude, *ALWAYS_EXCLUDED))))

    def takes(self, path: str) -> bool:
        """Whether the file is a document; a hidden folder hides what is in it."""
        parts = path.split("/")
        if any(part.startswith(".") for part in parts):
            return False
        candidates = (path, parts[-1])
        return any(p.match(path) for p in self.include) and not any(
            p.match(c) for p in self.exclude for c in candidates
        )


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    rules = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    translated = "".join(rules.get(piece) or (translate(piece)[4:-3] if piece else "") for piece in pieces)
    return re.compile(f"(?s:{translated})\\Z")


def _listed(name: str, entry: Entry, describer: Describer) -> Listed:
    source = describer.source
    described = describer.describe(entry)
    metadata, document_date = DocumentMetadata(tags=described.tags), None
    document_id, status, reason = path_id(name, entry.relative_path), OK, ""
    try:
        _inside(entry)
        metadata, document_date = to_metadata(described, source.date)
        if source.id_template:
            document_id = template_id(source.id_template, described.fields)
        _in_range(source, document_date)
    except DocumentFailure as failure:
        status, reason, document_date = failure.status, failure.reason, None
    return Listed(
        relative_path=entry.relative_path,
        uri=_uri(source, entry),
        location=entry.location,
        size_bytes=entry.size_bytes,
        version=entry.version,
        document_id=document_id,
        document_date=document_date,
        slice=source.slice.key(document_id, document_date),
        metadata=metadata,
        status=status,
        reason=reason,
    )


def _uri(source: Source, entry: Entry) -> str:
    """Where the document lies, in words that do not change when the home is copied elsewhere."""
    if URL.match(source.path):
        return entry.location
    if source.path.startswith("/"):
        return f"file://{source.path.rstrip('/')}/{entry.relative_path}"
    return f"{source.path.rstrip('/')}/{entry.relative_path}"


def _in_range(source: Source, document_date: date | None) -> None:
    start = source.slice.start
    if start and document_date and f"{document_date:%Y-%m}" < start:
        raise DocumentFailure(
            "invalid_metadata", f"{source.date} {document_date} is before the first slice {start}"
        )


def _mark_duplicates(documents: Iterable[Listed], source: str) -> Iterable[Listed]:
    """Documents that share an id are all refused, under an id of their path; none is guessed."""
    groups: dict[str, list[Listed]] = defaultdict(list)
    for document in documents:
        groups[document.document_id].append(document)
    for shared, group in groups.items():
        if len(group) == 1:
            yield group[0]
            continue
        for document in group:
            others = ", ".join(other.relative_path for other in group if other is not document)
            reason = f"document id {shared!r} is also that of {others}"
            yield replace(
                document,
                document_id=own_id(source, document.relative_path),
                status="duplicate_id",
                reason=reason,
            )


def read_bytes(item: Entry | Listed, source: Source) -> bytes:
    """The content of a file.

    Raises:
        DocumentFailure: ``vanished`` when it is gone, ``unreadable`` when reading it is refused.
    """
    try:
        if URL.match(item.location):
            return read_remote(item.location, item.size_bytes, source.storage_options)
        with open(item.location, "rb") as file:  # noqa: PTH123 - names that are not UTF-8 stay openable
            return file.read()
    except FileNotFoundError as error:
        raise DocumentFailure("vanished", "listed, but gone when it was to be read") from error
    except DocumentFailure:
        raise
    except Exception as error:
        raise DocumentFailure("unreadable", f"{type(error).__name__}: {error}") from error
