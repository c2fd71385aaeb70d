"""The published tables as rows to export, one batch in memory at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.errors import ConfigurationError
from chunk_assets.hashing import canonical_json, sha256_text
from chunk_assets.records import CHUNKS, EMBEDDINGS, PAYLOAD_FIELDS
from chunk_assets.storage.schemas import sparse_type

if TYPE_CHECKING:
    import pyarrow as pa

# Facts of the embeddings' schema that make up the contract of an index.
CONTRACT = (
    "model_id",
    "model_revision",
    "model_fingerprint",
    "dimension",
    "metric",
    "pooling",
    "normalized",
    "query_prefix",
    "passage_prefix",
)
# The same of its sparse vectors; a collection has all of these or none.
SPARSE_CONTRACT = (
    "sparse_model_id",
    "sparse_model_revision",
    "sparse_model_fingerprint",
    "sparse_dimension",
    "sparse_most_weights",
    "sparse_metric",
    "sparse_query_prefix",
)
# Goes up when the columns of an exported row change: an older collection must be made anew.
FORMAT = "1"
COPIED = ("chunk_id", "point_id", "document_id", "chunk_index", "text", "context", "heading_path")
PLACED = ("page_start", "page_end", "content_kind")


def export_schema(dimension: int, *, sparse: bool = False) -> pa.Schema:
    """The columns of an exported row. ``metadata`` is a JSON object: not every store has maps."""
    import pyarrow as pa

    beside = [("sparse", sparse_type())] if sparse else []
    text, small, texts = pa.string(), pa.int32(), pa.list_(pa.string())
    kinds = {"filing_date": pa.date32()}
    return pa.schema(
        [
            pa.field("chunk_id", text, nullable=False),
            *[(name, text) for name in ("point_id", "document_id", "source")],
            ("chunk_index", small),
            ("text", text),
            ("context", text),
            ("heading_path", texts),
            ("page_start", small),
            ("page_end", small),
            ("content_kind", text),
            *[(name, kinds.get(name, text)) for name in PAYLOAD_FIELDS],
            ("tags", texts),
            ("metadata", text),
            ("chunk_sha256", text),
            ("digest", text),
            ("vector", pa.list_(pa.float32(), dimension)),
            *beside,
        ]
    )


@dataclass(frozen=True, slots=True)
class _Batch:
    source: str
    chunks: Path
    embeddings: Path


class Snapshot:
    """The rows of one source, or of all, as they are published now."""

    def __init__(self, home: Path, source: str | None) -> None:
        self._batches = _batches(home, source)

    @cached_property
    def contract(self) -> dict[str, str]:
        """Model, metric and query rules; ``ConfigurationError`` when batches disagree."""
        found: dict[str, str] = {}
        for batch in self._batches:
            facts = _facts(batch.embeddings)
            if found and facts != found:
                raise ConfigurationError(_two_models(found, facts))
            found = facts
        return found

    @cached_property
    def sparse(self) -> bool:
        """Whether the rows have sparse vectors."""
        return SPARSE_CONTRACT[0] in self.contract

    @property
    def schema(self) -> pa.Schema:
        """The schema of the rows."""
        return export_schema(int(self.contract["dimension"]), sparse=self.sparse)

    def digests(self) -> tuple[dict[str, str], int]:
        """``{chunk_id: digest}`` of all rows with a vector, and how many have none."""
        found: dict[str, str] = {}
        missing = 0
        for batch in self._batches:
            payload, without = self._payload(batch)
            missing += without
            found.update(zip(payload["chunk_id"].to_pylist(), payload["digest"].to_pylist(), strict=True))
        return found, missing

    def rows(self, wanted: Mapping[str, str], size: int) -> Iterator[pa.Table]:
        """The rows with these ids, in table order, at most ``size`` at a time."""
        import pyarrow as pa

        ids = pa.array(list(wanted), pa.string())
        for batch in self._batches if wanted else ():
            payload, _ = self._payload(batch, ids)
            if len(payload):
                yield from _with_vectors(payload, batch.embeddings, self.schema, size)

    def _payload(self, batch: _Batch, only: pa.Array | None = None) -> tuple[pa.Table, int]:
        """The rows of a batch without vectors, each with the digest of all that it says."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table = _read(batch.chunks, [*COPIED, *PLACED, *PAYLOAD_FIELDS, "tags", "metadata", "chunk_sha256"])
        if only is not None:
            table = table.filter(pc.is_in(table["chunk_id"], value_set=only))
        embedded = _keys(_read(batch.embeddings, ["chunk_id", "chunk_sha256"]))
        rows = [row for row in table.to_pylist() if (row["chunk_id"], row["chunk_sha256"]) in embedded]
        for row in rows:
            row["source"] = batch.source
            row["metadata"] = json.dumps(dict(row["metadata"]), sort_keys=True, ensure_ascii=False)
            row["digest"] = self._digest(row)
        schema = pa.schema([field for field in self.schema if field.name not in {"vector", "sparse"}])
        return pa.Table.from_pylist(rows, schema=schema), len(table) - len(rows)

    def _digest(self, row: Mapping[str, object]) -> str:
        said = {name: str(value) if name == "filing_date" else value for name, value in row.items()}
        said["model"] = self.contract["model_fingerprint"]
        if self.sparse:
            said["sparse_model"] = self.contract["sparse_model_fingerprint"]
        return sha256_text(canonical_json(said))[:32]


def _batches(home: Path, source: str | None) -> list[_Batch]:
    root = home / "tables"
    found = []
    for path in sorted((root / EMBEDDINGS).glob(f"source={source or '*'}/slice=*/part-0.parquet")):
        relative = path.relative_to(root / EMBEDDINGS)
        name = relative.parts[0].removeprefix("source=")
        found.append(_Batch(name, root / CHUNKS / relative, path))
    if not found:
        known = sorted(path.name.removeprefix("source=") for path in (root / EMBEDDINGS).glob("source=*"))
        which = f"source {source!r}" if source else "any source"
        raise ConfigurationError(
            f"{home} has no embeddings of {which}; known: {', '.join(known) or 'none yet'}"
        )
    return found


def _facts(path: Path) -> dict[str, str]:
    import pyarrow.parquet as pq

    facts = {key.decode(): value.decode() for key, value in (pq.read_schema(path).metadata or {}).items()}
    sparse = SPARSE_CONTRACT if SPARSE_CONTRACT[0] in facts else ()
    return {"format": FORMAT, **{name: facts[name] for name in (*CONTRACT, *sparse)}}


def _two_models(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    if one["model_fingerprint"] == other["model_fingerprint"]:
        return (
            "some batches have sparse vectors of another model than others, or none: run them first, or "
            "export one source at a time"
        )
    return (
        f"the tables hold vectors of {one['model_id']} and of {other['model_id']} "
        f"(fingerprints {one['model_fingerprint']}, {other['model_fingerprint']}): "
        "one index can't hold both, export one source at a time"
    )


def _read(path: Path, columns: list[str]) -> pa.Table:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read(columns=columns)


def _keys(table: pa.Table) -> set[tuple[str, str]]:
    return set(zip(table["chunk_id"].to_pylist(), table["chunk_sha256"].to_pylist(), strict=True))


def _with_vectors(payload: pa.Table, path: Path, schema: pa.Schema, size: int) -> Iterator[pa.Table]:
    columns = [name for name in ("vector", "sparse") if name in schema.names]
    embedded = _read(path, ["chunk_id", *columns]).combine_chunks()
    where = {identifier: row for row, identifier in enumerate(embedded["chunk_id"].to_pylist())}
    for start in range(0, len(payload), size):
        part = payload.slice(start, size)
        rows = [where[identifier] for identifier in part["chunk_id"].to_pylist()]
        for column in columns:
            part = part.append_column(column, embedded[column].take(rows))
        yield part.select(schema.names).cast(schema)
