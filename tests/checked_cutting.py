"""A text cut by one strategy and checked against what every chunking must keep."""

from __future__ import annotations

from typing import Any

import regex

from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.records import ChunkSpan
from chunk_assets.strategies import STRATEGIES
from tests.strategies.promises import check_spans

PACKERS = tuple(name for name in sorted(STRATEGIES) if name != "fixed")


def cut(text: str, name: str, size: int, overlap: int = 0, **more: Any) -> list[ChunkSpan]:
    chosen = strategy(name, {"max_tokens": size, "overlap_tokens": overlap, "min_tokens": 0, **more})
    chunks = chunk_markdown(text, chosen)
    check_spans(text, chunks)
    single = [c for c in chunks if c.token_count > size]
    assert all(len(regex.findall(r"\X", chunk.text)) == 1 for chunk in single), "over the limit"
    return chunks
