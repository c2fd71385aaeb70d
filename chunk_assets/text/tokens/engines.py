"""Byte-pair engines: the fastest installed one of those that give tiktoken's ids.

An engine is a function from a text, as UTF-8, to its ids as one array. Special tokens are never matched.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets.text import vocabularies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_LONG = 1 << 16
Engine = Callable[[bytes], "NDArray[np.uint32]"]

# Contractions in both cases, digits, marks, white space of many kinds, scripts with and without
# blanks, emoji, code, spelled special tokens: an engine that gets these ids right may be used.
SAMPLE = (
    "It's we'Ll DON'T o'clock 1234567 12.5% $1,000 x1y22 HTTPServer don’t <|endoftext|> <|fim_prefix|>\n\n"
    "\tfor (i = 0; i<10; ++i) { a[i] /= b->c; }\r\n   \n  trailing  \u00a0\u3000nbsp \u2028 "
    "e\u0301tude Übergröße\n"
    "漢字かな交じり文。ปลาจำนวนมาก हिन्दी में العربية עברית 한국어 Ελληνικά Русский 👩‍👩‍👧‍👦🇳🇴👍🏽 ½ ² Ⅳ\n"
    "---- ==== //// !!!\n/// path/to/file.txt https://a.b/c?d=e&f=g  ISO-8859-1"
    " aaaaaaaaaaaaaaaa        end   "
)
# SHA-256 of tiktoken's ids of the sample, as little-endian uint32.
_EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        "cl100k_base": "18f80544b37dc28074ac6724c037cb961dd3717972d9951da6e9190d58cbae4d",
        "o200k_base": "860ed91821eb55f2865276a543f3b0aad95a0eac1285f60eadb5476330657088",
    }
)


def tiktoken_engine(name: str) -> Engine:
    """The reference, and the fallback."""
    encoding = vocabularies.reference_encoding(name)
    return lambda data: np.array(encoding.encode_ordinary(data.decode()), dtype=np.uint32)


def splintr_engine(name: str) -> Engine:
    """``splintr-rs`` over the pinned ranks, without special tokens."""
    import splintr

    pattern = {"cl100k_base": splintr.CL100K_BASE_PATTERN, "o200k_base": splintr.O200K_BASE_PATTERN}[name]
    encode: Callable[[str], bytes] = splintr.Tokenizer.from_bytes(
        vocabularies.RANKS[name].read(), pattern
    ).encode_flat
    return lambda data: np.frombuffer(encode(data.decode()), dtype="<u4")


def gigatoken_engine(name: str) -> Engine:
    """``gigatoken`` over the pinned ranks, without special tokens."""
    import gigatoken

    scheme = {"cl100k_base": "gpt4", "o200k_base": "o200k"}[name]

    def build() -> Engine:
        with tempfile.TemporaryDirectory() as folder:  # it reads ranks from a file only
            path = Path(folder, f"{name}.tiktoken")
            path.write_bytes(vocabularies.RANKS[name].read())
            backend: Any = gigatoken.Tokenizer.from_tiktoken(path, scheme, {}).backend
        encode: Engine = backend.encode
        return encode

    return _Renewed(build)


class _Renewed:
    """An engine that remembers every word it meets, built anew before that takes over some 50 MB.

    How many words are new is guessed: in prose, nearly all are known and of one or two tokens; in
    random words none are; a text without blanks has one for each 64 bytes or so.
    """

    _MOST = 400_000

    def __init__(self, build: Callable[[], Engine]) -> None:
        self._build = build
        self._encode, self._met = build(), 0

    def __call__(self, data: bytes) -> NDArray[np.uint32]:
        ids = self._encode(data)
        self._met += _new_words(data, len(ids))
        if self._met > self._MOST:
            self._encode, self._met = self._build(), 0
        return ids


def _new_words(data: bytes, tokens: int) -> int:
    if 3 * tokens < len(data):
        return 0  # prose, whose blanks need not be counted
    blanks = data.count(b" ")
    if 16 * blanks >= len(data):
        return min(blanks, max(0, tokens - 2 * blanks))
    # Short texts are parts of long ones, that were counted, or single words.
    return len(data) // 64 if len(data) >= _LONG else 0


# Fastest first.
FAST: Mapping[str, Callable[[str], Engine]] = MappingProxyType(
    {"gigatoken": gigatoken_engine, "splintr": splintr_engine}
)


def is_right(name: str, engine: Engine) -> bool:
    """Whether ``engine`` gives tiktoken's ids for the sample."""
    return digest(engine(SAMPLE.encode())) == _EXPECTED[name]


def digest(ids: NDArray[np.uint32]) -> str:
    """SHA-256 of the ids as little-endian ``uint32``."""
    return hashlib.sha256(np.asarray(ids, dtype="<u4").tobytes()).hexdigest()


def fastest(name: str) -> Engine:
    """The fastest engine that is installed and right about the sample, else tiktoken."""
    for build in FAST.values():
        try:
            engine = build(name)
        except (ImportError, OSError):  # not installed, or no temporary folder to read ranks from
            continue
        if is_right(name, engine):
            return engine
    return tiktoken_engine(name)
