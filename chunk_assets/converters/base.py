"""What a converter is: a pure function from bytes to markdown, with its version beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chunk_assets.records import Converted


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the conversion of one document, set per source in ``sources.yaml``."""

    max_bytes: int = 200_000_000
    """Size of the file."""
    max_pages: int = 5_000
    """Pages, slides or sheets."""
    max_output_chars: int = 50_000_000
    """Characters of the markdown."""
    max_seconds: float = 120.0
    """Seconds of the clock; then the worker is killed."""
    max_memory_mb: int = 2_048
    """Megabytes of the worker; over that it is killed."""
    max_archive_members: int = 10_000
    """Files in an archive."""
    max_unpacked_bytes: int = 500_000_000
    """Bytes of an archive's files together."""
    max_compression_ratio: float = 200.0
    """Unpacked size over packed size; more is a bomb."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to convert: limits, optional page recognition (``ocr``), and what HTML keeps."""

    limits: Limits = Limits()
    ocr: bool = False
    html_keep: str = "main"  # "main": without navigation; "all": everything


@dataclass(frozen=True, slots=True)
class Converter:
    """One file type. ``convert(data, options)`` raises ``DocumentFailure`` for bad input.

    ``version`` goes up whenever the output for any input changes: it is part of the fingerprint.
    """

    name: str
    version: int
    media_types: tuple[str, ...]
    convert: Callable[[bytes, Options], Converted]
