"""What the benchmark of engines has its workers do: importable by name in their processes."""

from __future__ import annotations

from pathlib import Path

from chunk_assets.conversion import convert_source
from chunk_assets.converters.base import Options


def convert_here(path: str) -> str:
    """The status of a document's conversion."""
    return convert_source(path, Path(path).name, Options()).status


def nothing(number: int) -> int:
    """A document that takes no time."""
    return number
