"""The manifest of a batch in an object store: which objects are its tables. Putting it is the commit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

from chunk_assets.storage.commit import Manifest
from chunk_assets.storage.layout import Batch
from chunk_assets.storage.tables import FileFacts

PREFIX = "tables/_manifest/"
# Enough of a SHA-256 that no two contents of one batch share a name.
NAME_DIGITS = 32


def manifest_key(batch: Batch) -> str:
    """Where the manifest of a batch is."""
    return f"{PREFIX}{batch.hive}.json"


def batch_of(key: str) -> Batch:
    """The batch of a manifest."""
    source, name = key.removeprefix(PREFIX).split("/")
    return Batch(source.removeprefix("source="), name.removeprefix("slice=").removesuffix(".json"))


def object_key(table: str, batch: Batch, sha256: str) -> str:
    """The name of a table's data: another content has another name."""
    return f"tables/{table}/{batch.hive}/{sha256[:NAME_DIGITS]}.parquet"


@dataclass(frozen=True, slots=True)
class RemoteManifest:
    """One version of a batch.

    ``generation`` counts the versions, so that no two manifests of a batch are equal. Without ``files``
    the batch is withdrawn. ``superseded`` are objects of former versions, with the time (seconds since the
    epoch, by the store's clock) since when no manifest names them: readers may still be at them.
    """

    generation: int
    files: Mapping[str, FileFacts] = field(default_factory=dict)
    recipe: str = ""
    model_fingerprint: str = ""
    writer: str = ""
    superseded: Mapping[str, float] = field(default_factory=dict)

    def to_bytes(self, batch: Batch) -> bytes:
        """JSON with sorted keys; each file says the key of its object."""
        value = asdict(self)
        for table, facts in value["files"].items():
            facts["object"] = object_key(table, batch, facts["sha256"])
        return json.dumps(value, sort_keys=True, indent=1).encode()

    @property
    def local(self) -> Manifest | None:
        """The same as the manifest of a folder; ``None`` when the batch is withdrawn."""
        return Manifest(self.files, self.recipe, self.model_fingerprint) if self.files else None

    def objects(self, batch: Batch) -> Iterator[tuple[str, str]]:
        """Every table with the key of its object."""
        for table, facts in self.files.items():
            yield table, object_key(table, batch, facts.sha256)

    def next(self, batch: Batch, local: Manifest | None, writer: str, now: float) -> RemoteManifest:
        """The version after this one."""
        made = RemoteManifest(
            self.generation + 1,
            local.files if local else {},
            local.recipe if local else "",
            local.model_fingerprint if local else "",
            writer,
        )
        kept = {key for _, key in made.objects(batch)}
        gone = {key: now for _, key in self.objects(batch)} | dict(self.superseded)
        return replace(made, superseded={key: since for key, since in gone.items() if key not in kept})

    def without(self, expired: Iterable[str]) -> RemoteManifest:
        """The same, less objects that nobody reads any more."""
        gone = set(expired)
        return replace(self, superseded={k: v for k, v in self.superseded.items() if k not in gone})


def parse_manifest(data: bytes) -> RemoteManifest:
    """A manifest from its bytes.

    Raises:
        ValueError: it is damaged, or of a newer form.
    """
    try:
        value = json.loads(data)
        files = {
            table: FileFacts(facts["sha256"], facts["size"], facts["rows"])
            for table, facts in value.pop("files").items()
        }
        return RemoteManifest(files=files, **value)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a manifest: {error}") from error
