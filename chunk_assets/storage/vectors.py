"""Vectors by the hash of what the embedder read: no text is embedded twice by one model.

Rows are appended in small immutable blocks, so a kill costs at most the block that was not full yet,
and two writers never meet in one file. Small blocks are merged into segments now and then (ADR 0007).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.storage.files import TEMPORARY, remove_tree, writing
from chunk_assets.storage.vector_blocks import KEY_BYTES, Block, as_void, blocks_of, write_block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)
BLOCK_ROWS = 256
# A segment is put together in memory: this bounds what merging needs.
SEGMENT_ROWS = 8_192
# More small blocks than this are merged when a run ends: opening files is what a start costs.
MANY_BLOCKS = 64


def input_key(text: str) -> bytes:
    """The key of one embedder input: 32 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Pruned:
    """What pruning found or did: vectors kept and dropped, and bytes freed."""

    kept: int
    dropped: int
    bytes_freed: int


class VectorStore:
    """The vectors of one model under ``folder``; ``width`` is their dimension.

    Memory: 24 bytes a vector for the index, and what is asked for.
    """

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._pending: dict[bytes, NDArray[np.float32]] = {}
        self._blocks: list[Block] = []
        self._loaded = False
        # Blocks whose content was compared with their name.
        self._sound: set[Path] = set()

    def __len__(self) -> int:
        """Vectors on disk (a vector that two runs made at once counts twice)."""
        self._load()
        return sum(block.count for block in self._blocks)

    def contains(self, keys: Sequence[bytes]) -> NDArray[np.bool_]:
        """Which of the keys have a vector."""
        import numpy as np

        found = self._find_sound(keys) >= 0
        return found | np.fromiter((key in self._pending for key in keys), np.bool_, len(keys))

    def get(self, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """``float32[n, width]`` and which rows were found; the others are zero."""
        try:
            return self._get(keys)
        except (FileNotFoundError, ValueError):  # merged away, or cut short, since the index was read
            self._loaded = False
            return self._get(keys)

    def add(self, key: bytes, vector: NDArray[np.float32]) -> None:
        """Keeps one vector; every ``BLOCK_ROWS`` of them are on disk."""
        self._pending[key] = vector
        if len(self._pending) >= BLOCK_ROWS:
            self.flush()

    def flush(self) -> None:
        """Writes what is waiting. Call it also when embedding failed: what is paid for is kept."""
        import numpy as np

        if not self._pending:
            return
        self._load()
        keys = np.frombuffer(b"".join(self._pending), np.uint8).reshape(-1, KEY_BYTES)
        vectors = np.stack(list(self._pending.values())).astype(np.float32, copy=False)
        self._index_more([write_block(self.folder, keys, vectors)], made_here=True)
        self._pending.clear()

    def compact(self, *, force: bool = False) -> int:
        """Merges small blocks into segments; the number of files that are gone. Nothing is lost by a kill."""
        self._forget()
        small = [block for block in blocks_of(self.folder, self.width) if block.count < SEGMENT_ROWS // 2]
        if len(small) < 2 or (len(small) < MANY_BLOCKS and not force):
            return 0
        kept = self._rewrite(small, None)
        return self._drop(small, kept)

    def prune(self, referenced: Iterable[bytes], *, dry_run: bool = False) -> Pruned:
        """Drops every vector whose key is not referenced; the caller sees to it that no run is going on."""
        import numpy as np

        self._forget()
        wanted = np.frombuffer(b"".join(set(referenced)), np.uint8).reshape(-1, KEY_BYTES)
        blocks = list(blocks_of(self.folder, self.width))
        total = sum(block.count for block in blocks)
        touched = [b for b in blocks if not _wanted_rows(b, wanted).all()]
        kept = sum(int(_wanted_rows(block, wanted).sum()) for block in blocks)
        if not dry_run and touched:
            self._drop(touched, self._rewrite(touched, wanted))
        row_bytes = KEY_BYTES + 4 * self.width
        return Pruned(kept, total - kept, (total - kept) * row_bytes)

    def drop(self, keys: Iterable[bytes]) -> int:
        """Forgets single vectors, so that their texts are embedded again; how many there were."""
        import numpy as np

        unwanted = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, KEY_BYTES)
        self._forget()
        dropped = 0
        for block in list(blocks_of(self.folder, self.width)):
            kept = ~_wanted_rows(block, unwanted)
            dropped += int((~kept).sum())
            if not kept.all():
                vectors = np.asarray(block.vectors()[kept])
                fresh = {write_block(self.folder, block.keys()[kept], vectors).path} if kept.any() else set()
                self._drop([block], fresh)
        return dropped

    def damaged(self) -> list[str]:
        """Names of files that are not what their name says."""
        whole = {block.path.name for block in blocks_of(self.folder, self.width or None) if block.sound}
        names = [p.name for p in sorted(self.folder.glob("*")) if not p.name.startswith(TEMPORARY)]
        return [name for name in names if name not in whole]

    def remove_damaged(self) -> list[str]:
        """Removes the files that ``damaged`` names: their texts will be embedded again when needed."""
        names = self.damaged()
        with writing(self.folder):
            for name in names:
                (self.folder / name).unlink(missing_ok=True)
        self._forget()
        return names

    # The index: sorted halves of the keys, and where their rows are.

    def _load(self) -> None:
        if not self._loaded:
            self._forget()
            self._loaded = True
            self._index_more(list(blocks_of(self.folder, self.width)))

    def _forget(self) -> None:
        import numpy as np

        self._blocks, self._loaded = [], False
        self._high = np.empty(0, np.uint64)
        self._low = np.empty(0, np.uint64)
        self._place = np.empty(0, np.int64)

    def _index_more(self, blocks: list[Block], *, made_here: bool = False) -> None:
        import numpy as np

        high, low, place = [self._high], [self._low], [self._place]
        for block in blocks:
            halves = block.keys()[:, :16].copy().view(">u8").astype(np.uint64)
            high.append(halves[:, 0])
            low.append(halves[:, 1])
            place.append((np.int64(len(self._blocks)) << 32) + np.arange(block.count, dtype=np.int64))
            self._blocks.append(block)
            self._sound.update([block.path] if made_here else [])
        joined = np.concatenate(high)
        order = np.argsort(joined, kind="stable")
        self._high, self._low = joined[order], np.concatenate(low)[order]
        self._place = np.concatenate(place)[order]

    def _find_sound(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """``_find`` in blocks that are what their names say; others are removed when they are met."""
        import numpy as np

        while True:
            places = self._find(keys)
            used = [self._blocks[number] for number in np.unique(places[places >= 0] >> 32).tolist()]
            damaged = [block for block in used if block.path not in self._sound and not block.sound]
            if not damaged:
                self._sound.update(block.path for block in used)
                return places
            for block in damaged:
                if block.path.exists():  # not merged away by another run since the index was read
                    logger.warning("%s is damaged: its vectors are made anew when needed", block.path)
            self._drop(damaged, set())
            self._loaded = False

    def _find(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Places (block << 32 | row) of keys, -1 where there is none."""
        import numpy as np

        self._load()
        halves = np.frombuffer(b"".join(keys), np.uint8).reshape(-1, KEY_BYTES)[:, :16].copy().view(">u8")
        high, low = halves[:, 0].astype(np.uint64), halves[:, 1].astype(np.uint64)
        at = np.searchsorted(self._high, high)
        found = np.full(len(keys), -1, np.int64)
        open_rows = np.arange(len(keys))
        while len(open_rows):  # more than one round only for equal first halves
            inside = at[open_rows] < len(self._high)
            open_rows = open_rows[inside]
            open_rows = open_rows[self._high[at[open_rows]] == high[open_rows]]
            hit = self._low[at[open_rows]] == low[open_rows]
            found[open_rows[hit]] = self._place[at[open_rows[hit]]]
            open_rows = open_rows[~hit]
            at[open_rows] += 1
        return found

    def _get(self, keys: Sequence[bytes]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        import numpy as np

        places = self._find_sound(keys)
        vectors = np.zeros((len(keys), self.width), np.float32)
        found = places >= 0
        numbers = places >> 32
        for number in np.unique(numbers[found]).tolist():
            rows = np.flatnonzero(numbers == number)
            # Mapped anew each time: pages of a map that is kept count as memory of this process.
            vectors[rows] = self._blocks[number].vectors()[places[rows] & 0xFFFFFFFF]
        for row, key in enumerate(keys):
            if not found[row] and key in self._pending:
                vectors[row], found[row] = self._pending[key], True
        return vectors, found

    def _rewrite(self, blocks: list[Block], wanted: NDArray[np.uint8] | None) -> set[Path]:
        """Writes the (wanted) rows of blocks into segments; the files that now hold them."""
        return {write_block(self.folder, *rows).path for rows in _portions(blocks, wanted)}

    def _drop(self, blocks: list[Block], kept: set[Path]) -> int:
        gone = [block.path for block in blocks if block.path not in kept]
        with writing(self.folder):
            for path in gone:
                path.unlink(missing_ok=True)
        return len(gone)


def _wanted_rows(block: Block, wanted: NDArray[np.uint8]) -> NDArray[np.bool_]:
    import numpy as np

    return np.isin(as_void(block.keys()), as_void(wanted))


def _portions(
    blocks: list[Block], wanted: NDArray[np.uint8] | None
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.float32]]]:
    """Rows of the blocks, at most ``SEGMENT_ROWS`` and one block's at a time."""
    import numpy as np

    keys: list[NDArray[np.uint8]] = []
    vectors: list[NDArray[np.float32]] = []
    for block in blocks:
        rows = slice(None) if wanted is None else _wanted_rows(block, wanted)
        keys.append(block.keys()[rows])
        vectors.append(np.asarray(block.vectors()[rows]))
        if sum(map(len, keys)) >= SEGMENT_ROWS:
            yield np.concatenate(keys), np.concatenate(vectors)
            keys, vectors = [], []
    if sum(map(len, keys)):
        yield np.concatenate(keys), np.concatenate(vectors)


def stores_of(home: Path) -> list[Path]:
    """The folders of all models that a home has vectors of."""
    folder = home / "vectors"
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def remove_store(folder: Path) -> None:
    """Removes all vectors of one model."""
    remove_tree(folder)
