"""A home in a bucket of the S3 server, and what the store has of it, asked without this package."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from chunk_assets.catalog import load_catalog
from chunk_assets.catalog.origin import local_home
from chunk_assets.compute import WorkerPool
from chunk_assets.pipeline import RunOptions, RunReport, run_sources
from chunk_assets.records import TABLES
from chunk_assets.storage.remote import remote_home

BUCKET = "homes"
# Where the runs of tests convert: one pool for all of them, since processes take long to start.
EXECUTOR: WorkerPool | None = None
CATALOG = """
embedder: {name: hash, dimension: 16}
object_store: {lock_seconds: 2, grace_minutes: %s}
sources:
  docs: {path: docs, slice: {by: bucket, count: %s}, retries: {max_attempts: 1}, deletion_guard: {share: 1}}
"""
DOCUMENTS = {
    f"n{number}.md": f"# Note {number}\n\nThe first sentence of it. A second one, for {number} days.\n"
    for number in range(4)
}


def files() -> Any:
    import s3fs

    found = s3fs.S3FileSystem()
    found.invalidate_cache()
    return found


def make(name: str, documents: dict[str, str] | None = None, grace: str = "60", batches: int = 1) -> str:
    """A new home; its URL."""
    store = files()
    if not store.exists(BUCKET):
        store.mkdir(BUCKET)
    if store.exists(f"{BUCKET}/{name}"):
        store.rm(f"{BUCKET}/{name}", recursive=True)
    store.pipe_file(f"{BUCKET}/{name}/sources.yaml", (CATALOG % (grace, batches)).encode())
    put(name, DOCUMENTS if documents is None else documents)
    return f"s3://{BUCKET}/{name}"


def put(name: str, documents: dict[str, str]) -> None:
    store = files()
    for file, text in documents.items():
        store.pipe_file(f"{BUCKET}/{name}/docs/{file}", text.encode())


def on_disk(folder: Path, batches: int) -> Path:
    """The same home in a folder."""
    (folder / "docs").mkdir(parents=True)
    (folder / "sources.yaml").write_text(CATALOG % ("60", batches))
    for file, text in DOCUMENTS.items():
        (folder / "docs" / file).write_text(text)
    return folder


def run(home: str | Path, **options: Any) -> RunReport:
    return run_sources(load_catalog(home), options=RunOptions(workers=1, executor=EXECUTOR, **options))


def keys(name: str, prefix: str = "") -> list[str]:
    start = len(f"{BUCKET}/{name}/")
    return sorted(key[start:] for key in files().find(f"{BUCKET}/{name}/{prefix}".rstrip("/")))


def manifests(name: str) -> dict[str, dict[str, Any]]:
    store = files()
    return {
        key: json.loads(store.cat_file(f"{BUCKET}/{name}/{key}")) for key in keys(name, "tables/_manifest/")
    }


def published(name: str) -> dict[str, list[str]]:
    """SHA-256 of the objects that the manifests name, by table, in order of batches."""
    store = files()
    found: dict[str, list[str]] = {table: [] for table in TABLES}
    for manifest in manifests(name).values():
        for table, facts in manifest["files"].items():
            data = store.cat_file(f"{BUCKET}/{name}/{facts['object']}")
            assert hashlib.sha256(data).hexdigest() == facts["sha256"]
            found[table].append(facts["sha256"])
    return found


def of_folder(home: Path) -> dict[str, list[str]]:
    """The same of a home on a disk."""
    return {
        table: [
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((home / "tables" / table).rglob("*.parquet"))
        ]
        for table in TABLES
    }


def pull(url: str) -> list[str]:
    """Fetches all tables, as commands do that read them; what could not be had."""
    remote = remote_home(local_home(url))
    assert remote is not None
    return list(remote.pull().values())
