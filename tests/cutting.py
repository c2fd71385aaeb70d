"""Texts to cut, and a text cut by one strategy."""

from __future__ import annotations

from typing import Any

from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.records import ChunkSpan


def cut(markdown: str, name: str = "section", **sizes: Any) -> list[ChunkSpan]:
    return chunk_markdown(markdown, strategy(name, sizes))


def texts(chunks: list[ChunkSpan]) -> list[str]:
    return [chunk.text for chunk in chunks]


def words(count: int) -> str:
    names = ("oak", "tar", "rope", "sail", "mast", "keel", "hull", "deck")
    return " ".join(f"{names[at % 8]}{at}" for at in range(count))
