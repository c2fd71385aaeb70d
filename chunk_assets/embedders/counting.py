"""Token counts of whole inputs for embedders whose tokenizer is one of the shared counters."""

from __future__ import annotations

from collections.abc import Sequence

from chunk_assets.text.tokens import counter


def count_inputs(tokenizer: str, texts: Sequence[str]) -> list[int]:
    """Tokens of each text by the counter called ``tokenizer``, its special tokens included."""
    chosen = counter(tokenizer)
    return [count + chosen.special_tokens for count in chosen.count_many(texts)]
