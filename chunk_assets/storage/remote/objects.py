"""A prefix of an object store, as the few operations that a home in it is made of.

Whole objects only. An upload that breaks off leaves nothing that is read: data objects are named by their
content and become part of a table when a manifest names them, and manifests are put in one request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chunk_assets.errors import ConfigurationError, StopRun
from chunk_assets.sources.remote import EXTRAS, SIDE_BY_SIDE, filesystem_of
from chunk_assets.storage.remote.conditional import Answer, Conflict, Door, door_of
from chunk_assets.storage.tables import hash_file


class StoreUnavailable(StopRun):
    """The object store of a home does not answer as it should."""

    exit_code = 1


class Damaged(StoreUnavailable):
    """An object is not what its name or manifest says."""


@dataclass(frozen=True, slots=True)
class Found:
    """A listed object: a token that is another one when its content is, and its size in bytes."""

    token: str
    size: int
    modified: float


class ObjectStore:
    """The objects below a URL, by keys relative to it."""

    def __init__(self, url: str) -> None:
        self.url = url
        # The store's clock, as of its last answer: the clocks of machines need not agree.
        self.now = 0.0

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        try:
            filesystem, prefix = filesystem_of(self.url, {})
        except (ImportError, ValueError) as error:
            msg = f"home {self.url}: {error}; {EXTRAS}"
            raise ConfigurationError(msg) from error
        return filesystem, prefix.rstrip("/")

    @cached_property
    def _door(self) -> Door:
        return door_of(self._opened[0])

    def path(self, key: str) -> str:
        """The name of an object in the filesystem of the store."""
        return f"{self._opened[1]}/{key}"

    def uri(self, key: str) -> str:
        """The URL of an object."""
        return f"{self.url}/{key}"

    def get(self, key: str) -> Answer | None:
        """An object with its token, or ``None``."""
        with self._asking(key):
            try:
                answer = self._door.get(self.path(key))
            except FileNotFoundError:
                return None
        self.now = answer.now
        return answer

    def put(self, key: str, data: bytes) -> str:
        """Puts an object whatever was there; its token."""
        with self._asking(key):
            return self._door.put(self.path(key), data)

    def put_if(self, key: str, data: bytes, token: str | None) -> str:
        """Puts an object if its token is still this one (``None``: if there is none); the new token.

        The content must be unlike that of any other writer, so that an answer that got lost on its way
        is told from a refusal.

        Raises:
            Conflict: somebody else put or removed it.
        """
        with self._asking(key):
            try:
                return self._door.put_if(self.path(key), data, token)
            except Conflict:
                there = self.get(key)
                if there is not None and there.data == data:
                    return there.token
                raise

    def delete(self, keys: Iterable[str]) -> None:
        """Removes objects; those that are gone already are no fault."""
        for key in keys:
            with self._asking(key), suppress(FileNotFoundError):
                self._opened[0].rm_file(self.path(key))

    def list(self, prefix: str) -> dict[str, Found]:
        """Every object below a prefix that ends in a slash: all of them, or an error."""
        filesystem, start = self._opened[0], len(self._opened[1]) + 1
        with self._asking(prefix):
            filesystem.invalidate_cache()
            found = filesystem.find(self.path(prefix.rstrip("/")), detail=True)
            return {
                name[start:]: Found(self._door.token(facts), facts["size"] or 0, self._door.modified(facts))
                for name, facts in found.items()
                if facts["type"] == "file" and not name.endswith("/")
            }

    def get_many(self, keys: Iterable[str]) -> Iterator[tuple[str, Answer | None]]:
        """Small objects, side by side."""
        with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
            wanted = list(keys)
            yield from zip(wanted, threads.map(self.get, wanted), strict=True)

    def upload(self, path: Path, key: str) -> None:
        """Puts a file under a name that nobody else uses for another content."""
        with self._asking(key):
            self._opened[0].put_file(str(path), self.path(key))

    def download(self, key: str, path: Path, sha256: str) -> bool:
        """Fetches an object into a new file; ``False`` when there is no such object.

        ``sha256`` is that of its content, or the beginning of it.

        Raises:
            Damaged: what came is not what it must be, also the second time.
            StoreUnavailable: nothing came.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        for attempt in (1, 2):
            with self._asking(key):
                try:
                    self._opened[0].get_file(self.path(key), str(path))
                except FileNotFoundError:
                    path.unlink(missing_ok=True)
                    return False
                except OSError:
                    if attempt == 2:
                        raise
                    continue
            if hash_file(path)[0].startswith(sha256):
                return True
        path.unlink(missing_ok=True)
        raise Damaged(f"{self.uri(key)} is not what its manifest says")

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        try:
            yield
        except (StopRun, Conflict, FileNotFoundError):
            raise
        except Exception as error:
            msg = f"{self.uri(key)}: the object store does not answer: {type(error).__name__}: {error}"
            raise StoreUnavailable(msg) from error
