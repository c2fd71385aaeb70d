"""What is known of a document, in rising precedence: defaults, path, ``metadata.csv``, sidecar."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePosixPath

import yaml

from chunk_assets.catalog import Source
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import PAYLOAD_FIELDS, DocumentMetadata
from chunk_assets.sources.files import METADATA_FILE, SIDECAR_SUFFIX, Entry

FILE_COLUMNS = ("file", "relative_path", "path", "filename")
ReadText = Callable[[Entry], str]


def describes(relative_path: str) -> bool:
    """Whether a file is a ``metadata.csv`` or a sidecar."""
    return PurePosixPath(relative_path).name == METADATA_FILE or relative_path.endswith(SIDECAR_SUFFIX)


@dataclass(frozen=True, slots=True)
class Described:
    """The metadata fields of one document as text, ``tags`` apart, and what is wrong with them."""

    fields: Mapping[str, str]
    tags: tuple[str, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Describer:
    """Looks up the metadata of the files of one source."""

    source: Source
    patterns: tuple[re.Pattern[str], ...]
    tables: Mapping[str, Mapping[str, Mapping[str, str]]]
    sidecars: Mapping[str, Entry]
    broken: Mapping[str, str]
    read: ReadText = field(repr=False)

    @classmethod
    def of(cls, source: Source, entries: Iterable[Entry], read: ReadText) -> Describer:
        """Reads every ``metadata.csv`` of the listing; a broken one is remembered for its documents."""
        tables, broken, sidecars = {}, {}, {}
        for entry in entries:
            # Every file of a source passes here at every tick: no path objects but where they are needed.
            name = entry.relative_path.rpartition("/")[2]
            if name == METADATA_FILE:
                path = PurePosixPath(entry.relative_path)
                try:
                    tables[_folder(path)] = read_table(read(entry))
                except (ValueError, DocumentFailure) as error:
                    broken[_folder(path)] = f"{entry.relative_path}: {error}"
            elif name.endswith(SIDECAR_SUFFIX):
                sidecars[entry.relative_path.removesuffix(SIDECAR_SUFFIX)] = entry
        patterns = tuple(map(re.compile, source.path_patterns))
        return cls(source, patterns, tables, sidecars, broken, read)

    def describe(self, entry: Entry) -> Described:
        """All layers of metadata of one file, the later ones winning."""
        fields: dict[str, str] = dict(self.source.default_metadata)
        tags = set(self.source.default_tags) | _tags(fields.pop("tags", ""))
        fault = ""
        try:
            for layer in (self._from_path(entry), *self._from_tables(entry), self._from_sidecar(entry)):
                tags |= _tags(layer.get("tags", ""))
                fields.update({key: value for key, value in layer.items() if key != "tags" and value})
        except (ValueError, DocumentFailure, yaml.YAMLError) as error:
            fault = " ".join(str(error).split())
        return Described(fields, tuple(sorted(tags)), fault)

    def unclaimed(self, paths: Iterable[str]) -> Iterator[str]:
        """Rows and sidecars of files that are not there, one sentence each."""
        if not self.tables and not self.sidecars:
            return
        there = set(paths)
        for folder, rows in self.tables.items():
            for file in rows:
                if (path := f"{folder}/{file}" if folder else file) not in there:
                    yield f"metadata.csv describes {path}, which is not there"
        for path in sorted(self.sidecars.keys() - there):
            yield f"{path}{SIDECAR_SUFFIX} describes {path}, which is not there"

    def _from_path(self, entry: Entry) -> dict[str, str]:
        layer: dict[str, str] = {}
        for pattern in self.patterns:
            if match := pattern.search(entry.relative_path):
                layer |= {key: value for key, value in match.groupdict().items() if value}
        return layer

    def _from_tables(self, entry: Entry) -> Iterable[Mapping[str, str]]:
        """Rows of the tables in the file's folder and above it, the nearest last."""
        parts = [part for part in entry.relative_path.split("/") if part not in {"", "."}]
        for depth in range(len(parts) if self.tables or self.broken else 0):
            key = "/".join(parts[:depth])
            if key in self.broken:
                raise ValueError(self.broken[key])
            yield self.tables.get(key, {}).get("/".join(parts[depth:]), {})

    def _from_sidecar(self, entry: Entry) -> Mapping[str, str]:
        sidecar = self.sidecars.get(entry.relative_path)
        if sidecar is None:
            return {}
        value = yaml.load(self.read(sidecar), Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader builds text only
        if not isinstance(value, dict):
            msg = f"{sidecar.relative_path}: expected 'field: value' lines, got {type(value).__name__}"
            raise ValueError(msg)
        return {str(key): _flat(sidecar, key, item) for key, item in value.items()}


def _flat(sidecar: Entry, key: object, item: object) -> str:
    if isinstance(item, list) and all(isinstance(part, str) for part in item):
        return ";".join(item)
    if isinstance(item, str):
        return item
    msg = f"{sidecar.relative_path}: {key}: expected text or a list of texts, got {type(item).__name__}"
    raise ValueError(msg)


def _folder(path: PurePosixPath) -> str:
    return "" if path.parent == PurePosixPath() else path.parent.as_posix()


def _tags(text: str) -> set[str]:
    if not text:
        return set()
    return {tag.strip() for tag in re.split(r"[;,]", text) if tag.strip()}


def read_table(text: str) -> dict[str, dict[str, str]]:
    """Rows of a ``metadata.csv`` by file; the first column of ``FILE_COLUMNS`` that is there names the file.

    Raises:
        ValueError: no such column, a row without a file, or two rows for one file.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    names = [name.strip() for name in reader.fieldnames or ()]
    key = next((name for name in FILE_COLUMNS if name in names), None)
    if key is None:
        msg = f"needs a column named one of {', '.join(FILE_COLUMNS)}; has {', '.join(names) or 'none'}"
        raise ValueError(msg)
    rows: dict[str, dict[str, str]] = {}
    for row in reader:
        if None in row:
            msg = f"line {reader.line_num} has more cells than the header"
            raise ValueError(msg)
        cells = {name.strip(): (value or "").strip() for name, value in row.items()}
        file = cells.pop(key).replace("\\", "/").removeprefix("./")
        if not file or file in rows:
            msg = f"line {reader.line_num}: {'no file' if not file else f'{file!r} is there twice'}"
            raise ValueError(msg)
        rows[file] = cells
    return rows


def to_metadata(described: Described, date_field: str | None) -> tuple[DocumentMetadata, date | None]:
    """Typed metadata and the document's date.

    Raises:
        DocumentFailure: ``invalid_metadata`` with the field, its value and the form that is expected.
    """
    if described.fault:
        raise DocumentFailure("invalid_metadata", described.fault)
    fields = dict(described.fields)
    filing_date = _date("filing_date", fields.get("filing_date"))
    document_date = _date(date_field, fields.get(date_field)) if date_field else filing_date
    known = {name: fields.pop(name) for name in PAYLOAD_FIELDS if name in fields}
    known.pop("filing_date", None)
    metadata = DocumentMetadata(
        **known,  # type: ignore[arg-type]  # every payload field but filing_date is text
        filing_date=filing_date,
        tags=described.tags,
        metadata=dict(sorted(fields.items())),
    )
    if date_field and document_date is None:
        raise DocumentFailure(
            "invalid_metadata", f"no {date_field}, which gives the document's date and its batch"
        )
    return metadata, document_date


def _date(name: str | None, text: str | None) -> date | None:
    """A calendar date from ``YYYY-MM-DD``, ``YYYYMMDD`` or ``YYYY-MM`` (its first day)."""
    if not text:
        return None
    try:
        return date.fromisoformat(f"{text}-01" if re.fullmatch(r"\d{4}-\d{2}", text) else text)
    except ValueError as error:
        raise DocumentFailure("invalid_metadata", f"{name} is {text!r}; expected YYYY-MM-DD") from error
