"""Block files of the vector store: immutable, named by their content, complete or not there at all.

Layout: a header of 16 bytes (``CAV1``, width, 0, count; little endian ``uint32``), ``count`` keys of 32
bytes, ``count`` vectors of ``width`` ``float32``. Rows are in the order of their keys.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.storage.files import read_if_there, write_atomic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"CAV1"
HEADER = struct.Struct("<4sIII")
KEY_BYTES = 32
SUFFIX = ".vectors"


@dataclass(frozen=True, slots=True)
class Block:
    """A readable block file: its name, rows, and width of a vector."""

    path: Path
    count: int
    width: int

    def keys(self) -> NDArray[np.uint8]:
        """``uint8[count, 32]``, sorted."""
        import numpy as np

        with self.path.open("rb") as file:
            file.seek(HEADER.size)
            data = file.read(self.count * KEY_BYTES)
        return np.frombuffer(data, np.uint8).reshape(self.count, KEY_BYTES)

    def vectors(self) -> NDArray[np.float32]:
        """``float32[count, width]``, mapped, not read; stays valid when the file is removed."""
        import numpy as np

        shape = (self.count, self.width)
        return np.memmap(self.path, "<f4", "r", HEADER.size + self.count * KEY_BYTES, shape)

    @property
    def sound(self) -> bool:
        """Whether the content is what the name says; reads the whole file. One that is gone is not."""
        data = read_if_there(self.path)
        return data is not None and _name(self.count, hashlib.sha256(data).hexdigest()) == self.path.name


def blocks_of(folder: Path, width: int | None) -> Iterator[Block]:
    """Every complete block of a width (``None``: any) in a folder, by name; others are left alone."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        block = _open(path)
        if block is not None and width in (None, block.width):
            yield block


def _open(path: Path) -> Block | None:
    try:
        with path.open("rb") as file:
            magic, width, _, count = HEADER.unpack(file.read(HEADER.size))
            size = file.seek(0, 2)
    except (FileNotFoundError, struct.error):
        return None
    complete = size == HEADER.size + count * (KEY_BYTES + 4 * width)
    return Block(path, count, width) if magic == MAGIC and complete else None


def write_block(folder: Path, keys: NDArray[np.uint8], vectors: NDArray[np.float32]) -> Block:
    """Writes rows as one block, sorted by key, each key once."""
    import numpy as np

    _, first = np.unique(as_void(keys), return_index=True)
    keys, vectors = keys[first], vectors[first]
    count, width = vectors.shape
    data = b"".join(
        (
            HEADER.pack(MAGIC, width, 0, count),
            np.ascontiguousarray(keys).tobytes(),
            np.ascontiguousarray(vectors, dtype="<f4").tobytes(),
        )
    )
    block = Block(folder / _name(count, hashlib.sha256(data).hexdigest()), count, width)
    if not (block.path.exists() and block.sound):  # cut short or altered: that is mended here
        write_atomic(block.path, data)
    return block


def as_void(keys: NDArray[np.uint8]) -> NDArray[np.void]:
    """Keys as one comparable value a row."""
    import numpy as np

    return np.ascontiguousarray(keys).view(f"V{KEY_BYTES}").reshape(-1)


def _name(count: int, digest: str) -> str:
    return f"{count:06d}-{digest[:24]}{SUFFIX}"
