"""Texts that are hard to count, and the reference that counts them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from chunk_assets.text import vocabularies
from chunk_assets.text.tokens import engines

BGE = "bge-small-en-v1.5"
NAMES = ["cl100k_base", "o200k_base", BGE]
SURROGATE = re.compile("[\ud800-\udfff]")
PIECES = st.one_of(
    st.sampled_from(
        [
            *("the ", "The", "word", " ", " ", "  ", "\n", "\n\n", "\r\n", "\t", "'s", "'LL", "don't", "’s"),
            *("1", "123", "4567", "12.5", "$", "%", "...", "!?", "/", "//", "a/b", "<|endoftext|>", "[SEP]"),
            *("<|fim_prefix|>", "漢字", "かな", "。", "，", "ปลา", "हिन्दी", "क्ष", "é", "e\u0301", "\u0301"),
            *(
                "👩‍👩‍👧‍👦",
                "🇳🇴",
                "👍🏽",
                "\u00a0",
                "\u3000",
                "\u2028",
                "\x85",
                "\u200b",
                "\u200d",
                "x",
                "ABC",
                "aB",
                "ß",
            ),
            *(
                "½",
                "²",
                "Ⅳ",
                "-",
                "—",
                "“",
                "”",
                "(",
                ")",
                "[",
                "]",
                "{",
                "=",
                "_",
                "*",
                "#",
                "|",
                "İ",
                "ǅ",
                "ʰ",
            ),
            *(
                "\ud800",
                "\x00",
                "\x0c",
                "\x1c",
                "\x7f",
                "\ufffd",
                "\ue000",
                "\U0001f9ff",
                "\u0e33",
                "\u180e",
                "ﬁ",
            ),
            *(
                "unbelievable",
                "##ing",
                "x" * 99,
                "x" * 101,
                "é" * 60,
                "\u037e",
                "\u2329",
                "Å",
                "ΑΣ",
                "𠀀",
                "𝒜",
                "---",
            ),
        ]
    ),
    st.text(max_size=4),
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)
SLOW = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def reference(name: str) -> Callable[[str], int]:
    """What tiktoken or tokenizers count; a lone surrogate counts as the replacement character."""
    if name in vocabularies.RANKS:
        encode: Any = vocabularies.reference_encoding(name).encode_ordinary
        return lambda text: len(encode(SURROGATE.sub("\ufffd", text)))
    import tokenizers

    bert: Any = tokenizers.Tokenizer.from_buffer(vocabularies.BGE_SMALL.read())
    bert.no_truncation()
    bert.encode_special_tokens = True
    return lambda text: len(bert.encode(SURROGATE.sub("\ufffd", text), add_special_tokens=False).ids)


@cache
def engine(name: str) -> engines.Engine:
    """Built once: that takes longer than an example."""
    return engines.fastest(name)


def spans_of(text: str, data: st.DataObject) -> tuple[np.ndarray, np.ndarray]:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=8)) if text else {0})
    pairs = [(a, b) for a in cuts for b in cuts if a < b]
    return np.array([a for a, _ in pairs], dtype=np.int64), np.array([b for _, b in pairs], dtype=np.int64)
