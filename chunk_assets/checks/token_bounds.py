"""Promise 3: no chunk is longer than the embedder reads, counted by the embedder's own tokenizer."""

from __future__ import annotations

from typing import Any

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import CHUNKS, Outcome
from chunk_assets.text.contexts import embedder_text

COLUMNS = ("document_id", "page_start", "chunk_id", "context", "text", "model_token_count")


def run(batch: BatchTables) -> Outcome:
    """Stored counts against the bound; embedder inputs counted again, against the bound and the stored.

    With a bound on recounts the longest texts are counted, and others spread evenly: the embedder counts
    whatever it is sent once more and refuses what is too long.
    """
    chunks = list(rows(batch.tables.get(CHUNKS), *COLUMNS))
    counted = [row[5] for row in chunks]
    again = _again(batch, chunks)
    for place, tokens in again.items():
        counted[place] = tokens
    wrong = sum(chunks[place][5] != tokens for place, tokens in again.items())
    over = [(tokens - batch.max_model_tokens, row) for tokens, row in zip(counted, chunks, strict=True)]
    over = sorted((item for item in over if item[0] > 0), key=lambda item: (-item[0], item[1][2]))
    lost, total = sum(excess for excess, _ in over), sum(counted)
    share = len(over) / len(chunks) if chunks else 0.0
    return verdict(
        CHECK,
        passed=not over and not wrong,
        summary=f"{len(over):,} of {count(len(chunks), 'chunk')} over {batch.max_model_tokens} tokens "
        f"({share:.1%}); {lost:,} of {total:,} tokens would be lost; "
        f"{len(again):,} counted again, {wrong:,} stored counts are wrong",
        counts={
            "chunks": len(chunks),
            "over": len(over),
            "share_over": share,
            "tokens_lost": lost,
            "largest": max(counted, default=0),
            "limit": batch.max_model_tokens,
            "counted_again": len(again),
            "wrong_counts": wrong,
        },
        examples=examples(
            (row[0], row[1], f"{row[2]} has {batch.max_model_tokens + excess} tokens") for excess, row in over
        ),
    )


def _again(batch: BatchTables, chunks: list[tuple[Any, ...]]) -> dict[int, int]:
    """Counts by the embedder's tokenizer, by place in the table."""
    if batch.count_model_tokens is None:
        return {}
    texts = [embedder_text(row[3], row[4]) for row in chunks]
    places = _sample(texts, len(texts) if batch.recount is None else batch.recount)
    return dict(zip(places, batch.count_model_tokens([texts[place] for place in places]), strict=True))


def _sample(texts: list[str], most: int) -> list[int]:
    """All places when there are few; else half of ``most`` for the longest texts, half evenly spread."""
    if len(texts) <= most:
        return list(range(len(texts)))
    half = max(1, most // 2)
    longest = sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place))[:half]
    return sorted({*longest, *range(0, len(texts), -(-len(texts) // half))})


CHECK = Check(
    "token_bounds",
    CHUNKS,
    ERROR,
    "No embedder input (context, text and special tokens) is over the limit of the embedder.",
    run,
    {CHUNKS: COLUMNS},
)
