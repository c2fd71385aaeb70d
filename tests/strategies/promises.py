"""What every chunking must keep, checked with independent tools: tiktoken, tokenizers, regex."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import numpy as np
import regex

from chunk_assets.chunking import CONTENT_KINDS, ChunkingStrategy, embedder_text
from chunk_assets.records import ChunkSpan
from chunk_assets.text import reasons, vocabularies
from chunk_assets.text.document import TextDocument

CLUSTER = regex.compile(r"\X")
LINE_END = re.compile(r"[^\S\n\r\f]*[\n\r\f]")


@functools.cache
def tiktoken_encoding() -> Any:
    return vocabularies.reference_encoding("cl100k_base")


@functools.cache
def bert_tokenizer() -> Any:
    import tokenizers

    engine = tokenizers.Tokenizer.from_buffer(vocabularies.BGE_SMALL.read())
    engine.no_truncation()
    return engine


def policy_tokens(text: str) -> int:
    return len(tiktoken_encoding().encode_ordinary(text))


def model_tokens(text: str) -> int:
    return len(bert_tokenizer().encode(text))


def check_all(
    markdown: str, chunks: list[ChunkSpan], chosen: ChunkingStrategy, max_model_tokens: int
) -> None:
    check_spans(markdown, chunks)
    check_counts(chunks, chosen, max_model_tokens)
    check_borders(markdown, chunks)
    check_overlap(chunks, chosen)


def check_spans(markdown: str, chunks: list[ChunkSpan]) -> None:
    covered = np.zeros(len(markdown), dtype=bool)
    for chunk in chunks:
        assert chunk.text == markdown[chunk.start_char : chunk.end_char]
        assert not chunk.text.isspace()
        assert chunk.text == chunk.text.rstrip()
        # A blank with a mark on it is one character to a reader.
        assert CLUSTER.match(chunk.text).group().strip()
        covered[chunk.start_char : chunk.end_char] = True
    lost = [at for at in np.flatnonzero(~covered).tolist() if not markdown[at].isspace()]
    assert not lost, f"lost {markdown[lost[0] :][:30]!r}"
    for before, after in itertools.pairwise(chunks):
        assert before.start_char < after.start_char
        assert before.end_char < after.end_char
        assert after.overlap_chars == max(0, before.end_char - after.start_char)


def check_counts(chunks: list[ChunkSpan], chosen: ChunkingStrategy, max_model_tokens: int) -> None:
    bound = chosen.parameters.sizes().max_tokens or 1 << 40
    chars = chosen.parameters.sizes().max_chars or 1 << 40
    for chunk in chunks:
        assert chunk.token_count == policy_tokens(chunk.text)
        assert chunk.model_token_count == model_tokens(embedder_text(chunk.context, chunk.text))
        assert chunk.model_token_count <= max_model_tokens
        if len(CLUSTER.findall(chunk.text)) > 1:
            assert policy_tokens(embedder_text(chunk.context, chunk.text)) <= bound
            assert len(chunk.text) <= chars
        assert chunk.content_kind in CONTENT_KINDS
        assert chunk.split_reason in reasons.SPLIT_REASONS
    assert not chunks or chunks[-1].split_reason == "end"


def check_borders(markdown: str, chunks: list[ChunkSpan]) -> None:
    document = TextDocument(markdown)
    points = document.sentence_starts
    starts, ends = document.trimmed(points, np.append(points[1:], len(markdown)))
    filled = ends > starts
    starts_at, ends_at = set(starts[filled].tolist()), set(ends[filled].tolist())
    clusters = {0, *(found.end() for found in CLUSTER.finditer(markdown))}
    cut = False  # whether the chunk before says that it ended inside a sentence
    for chunk in chunks:
        end = chunk.end_char
        inside = chunk.split_reason in reasons.INSIDE_SENTENCE
        if chunk.split_reason == "code_line":
            inside = True
            assert LINE_END.match(markdown, end)
        if chunk.split_reason != "oversized_character":
            assert end in clusters
        assert cut or chunk.start_char in clusters
        in_word = markdown[end - 1].isalnum() and markdown[end : end + 1].isalnum()
        if in_word and chunk.split_reason not in {"oversized_word", "oversized_character"}:
            assert end in ends_at, f"cut in the word {markdown[end - 8 : end + 8]!r}"
        assert inside or end in ends_at, f"{chunk.split_reason} cuts {markdown[end - 20 : end + 20]!r}"
        assert cut or chunk.start_char in starts_at, f"begins inside {chunk.text[:20]!r}"
        cut = inside


def check_overlap(chunks: list[ChunkSpan], chosen: ChunkingStrategy) -> None:
    sizes = chosen.parameters.sizes()
    for _, after in itertools.pairwise(chunks):
        if not after.overlap_chars:
            continue
        assert sizes.overlap_tokens or sizes.overlap_chars
        if sizes.overlap_tokens:
            assert policy_tokens(after.text[: after.overlap_chars]) <= sizes.overlap_tokens
        if sizes.overlap_chars:
            assert after.overlap_chars <= sizes.overlap_chars
