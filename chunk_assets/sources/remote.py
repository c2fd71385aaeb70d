"""Files behind an fsspec URL (``s3://``, ``gs://``, …): whole listings and whole bytes, or an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from chunk_assets.errors import DocumentFailure, SourceUnavailable

if TYPE_CHECKING:
    from chunk_assets.sources.files import Entry

# One GET an object: s3fs joins concurrent ranges without asking whether each came whole, or of one version.
# A store that hangs is given up after a minute and tried again a few times.
S3_DEFAULTS: Mapping[str, Any] = {
    "max_concurrency": 1,
    "use_listings_cache": False,
    "config_kwargs": {"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 2}},
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {"s3": S3_DEFAULTS, "s3a": S3_DEFAULTS}
# A body may take this long, plus a second for each so many bytes: slower than that is a hanging store.
PATIENCE_SECONDS = 120.0
SLOWEST_BYTES_PER_SECOND = 100_000
# Requests at once for the small files that describe documents.
SIDE_BY_SIDE = 16
EXTRAS = "install chunk-assets[s3], [gcs] or [azure]"

Found = tuple[str, str, Mapping[str, Any]]


def filesystem_of(url: str, storage_options: Mapping[str, Any]) -> tuple[Any, str]:
    """The fsspec filesystem of ``url`` and the path in it.

    ``storage_options`` of the catalog win over ``DEFAULTS``; credentials and endpoint that they do not give
    are found by the store's own SDK (environment, profile, role of the machine).

    Raises:
        ImportError: the filesystem's package is not installed.
    """
    import fsspec

    options: dict[str, Any] = {**DEFAULTS.get(url.split("://", 1)[0], {}), **storage_options}
    filesystem, path = fsspec.core.url_to_fs(url, **options)
    return filesystem, path


def walk_remote(root: str, storage_options: Mapping[str, Any]) -> Iterator[Found]:
    """Relative path, URL and facts of every file below ``root``: all of them, or an error.

    Raises:
        SourceUnavailable: whatever an SDK raises, also on the last page.
    """
    try:
        filesystem, prefix = filesystem_of(root, storage_options)
        filesystem.invalidate_cache()
        found = filesystem.find(prefix, detail=True)
    except ImportError as error:
        msg = f"{root} needs an extra: {error}; {EXTRAS}"
        raise SourceUnavailable(msg) from error
    except Exception as error:  # half a listing is worse than none
        msg = f"{root} can't be listed: {type(error).__name__}: {error}"
        raise SourceUnavailable(msg) from error
    start = len(prefix.rstrip("/"))
    for name, facts in found.items():
        relative = name[start:].lstrip("/")
        if relative and not relative.endswith("/"):
            yield relative, filesystem.unstrip_protocol(name), facts


def read_remote(url: str, size_bytes: int, storage_options: Mapping[str, Any]) -> bytes:
    """The whole object of ``size_bytes``.

    Raises:
        FileNotFoundError: it is gone.
        DocumentFailure: ``unreadable`` when there are more or fewer bytes than were listed.
    """
    filesystem, path = filesystem_of(url, storage_options)
    return _whole(filesystem.cat_file(path, **_patience(filesystem, size_bytes)), size_bytes)


def read_many(root: str, entries: Sequence[Entry], storage_options: Mapping[str, Any]) -> dict[str, bytes]:
    """The small files ``entries`` of a source by location, fetched side by side.

    Raises:
        SourceUnavailable: one of them can't be read; what it says of documents is then not known.
    """
    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        found = threads.map(
            lambda entry: read_remote(entry.location, entry.size_bytes, storage_options), entries
        )
        try:
            return dict(zip((entry.location for entry in entries), found, strict=True))
        except Exception as error:
            threads.shutdown(wait=False, cancel_futures=True)
            msg = f"{root}: metadata files can't be read: {type(error).__name__}: {error}"
            raise SourceUnavailable(msg) from error


def _whole(data: Any, size_bytes: int) -> bytes:
    if len(data) != size_bytes:
        raise DocumentFailure("unreadable", f"{len(data)} bytes came of the {size_bytes} that were listed")
    return bytes(data)


def _patience(filesystem: Any, size_bytes: int) -> dict[str, float]:
    from fsspec.asyn import AsyncFileSystem

    if not isinstance(filesystem, AsyncFileSystem):
        return {}
    return {"timeout": PATIENCE_SECONDS + size_bytes / SLOWEST_BYTES_PER_SECOND}
