"""Vector blocks of a home in an object store: immutable files, named by their content, on both sides."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from chunk_assets.errors import StopRun
from chunk_assets.sources.remote import SIDE_BY_SIDE
from chunk_assets.storage.files import TEMPORARY
from chunk_assets.storage.remote.objects import Damaged, ObjectStore
from chunk_assets.storage.vector_blocks import SUFFIX

PREFIX = "vectors/"
# Blocks that another machine merges while they are fetched are found again in what they were merged into.
LOOKS = 3


class Blocks:
    """The vectors of all models below ``home``, as far as this process asked for them."""

    def __init__(self, store: ObjectStore, home: Path) -> None:
        self._store, self._home = store, home
        # By model: names that the store has.
        self._there: dict[str, set[str]] = {}
        self._turn = threading.Lock()

    def models(self) -> set[str]:
        """The fingerprints of all models that the store has vectors of."""
        return {key.split("/")[1] for key in self._store.list(PREFIX) if key.endswith(SUFFIX)}

    def pull(self, folder: Path) -> None:
        """Fetches the blocks of a model that are not here yet; a damaged one is left there, and made anew.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with self._turn:
            for _ in range(LOOKS):
                there = self._listed(folder)
                with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
                    wanted = sorted(there - _here(folder))
                    if all(list(threads.map(lambda name: self._fetch(folder, name), wanted))):
                        break
            self._there[folder.name] = there

    def push(self) -> None:
        """Puts the blocks that the store lacks."""
        with self._turn:
            for model, there in self._there.items():
                folder = self._home / "vectors" / model
                for name in sorted(_here(folder) - there):
                    with suppress(FileNotFoundError):  # merged into another one in this moment
                        self._store.upload(folder / name, f"{PREFIX}{model}/{name}")
                        there.add(name)

    def push_quietly(self) -> None:
        """``push`` while work goes on: a store that fails now is asked again."""
        with suppress(StopRun):
            self.push()

    @contextmanager
    def rewriting(self, folder: Path) -> Iterator[None]:
        """For a block of code that merges or drops vectors here: afterwards the store has the same blocks.

        What goes from the store is what was here before and is not after; blocks of others stay.
        """
        self.pull(folder)
        before = _here(folder)
        yield
        gone = before - _here(folder)
        self.push()
        with self._turn:
            self._store.delete(f"{PREFIX}{folder.name}/{name}" for name in sorted(gone))
            self._there[folder.name] -= gone

    def _listed(self, folder: Path) -> set[str]:
        prefix = f"{PREFIX}{folder.name}/"
        return {key.removeprefix(prefix) for key in self._store.list(prefix) if key.endswith(SUFFIX)}

    def _fetch(self, folder: Path, name: str) -> bool:
        """Whether the block was still there."""
        unfinished = folder / f"{TEMPORARY}{os.getpid()}-{name}.unfinished"
        digest = name.removesuffix(SUFFIX).split("-")[-1]
        with suppress(Damaged):
            if not self._store.download(f"{PREFIX}{folder.name}/{name}", unfinished, digest):
                return False
            unfinished.replace(folder / name)
        return True


def _here(folder: Path) -> set[str]:
    return {path.name for path in folder.glob(f"*{SUFFIX}")}
