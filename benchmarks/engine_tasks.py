"""What the benchmark of engines has its workers do: importable by name in their processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from chunk_assets.conversion import convert_source
from chunk_assets.converters.base import Options


def convert_here(path: str) -> tuple[int, float]:
    """Converts a document; the process that did it, and its processor seconds."""
    before = time.process_time()
    convert_source(path, Path(path).name, Options())
    return os.getpid(), time.process_time() - before


def nothing(number: int) -> int:
    """A document that takes no time."""
    return number
