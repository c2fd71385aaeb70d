"""Promise 3: no chunk is longer than the embedder reads, counted by the embedder's own tokenizer."""

from __future__ import annotations

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import CHUNKS, Outcome
from chunk_assets.text.contexts import embedder_text


def run(batch: BatchTables) -> Outcome:
    """Counts every embedder input again and compares with the bound and with the stored figure."""
    chunks = list(
        rows(
            batch.tables.get(CHUNKS),
            "document_id",
            "page_start",
            "chunk_id",
            "context",
            "text",
            "model_token_count",
        )
    )
    stored = [row[5] for row in chunks]
    counted = stored
    if batch.count_model_tokens is not None:
        counted = batch.count_model_tokens([embedder_text(row[3], row[4]) for row in chunks])
    over = [(tokens - batch.max_model_tokens, row) for tokens, row in zip(counted, chunks, strict=True)]
    over = sorted((item for item in over if item[0] > 0), key=lambda item: (-item[0], item[1][2]))
    wrong = sum(a != b for a, b in zip(stored, counted, strict=True))
    lost, total = sum(excess for excess, _ in over), sum(counted)
    share = len(over) / len(chunks) if chunks else 0.0
    return verdict(
        CHECK,
        passed=not over and not wrong,
        summary=f"{len(over):,} of {count(len(chunks), 'chunk')} over {batch.max_model_tokens} tokens "
        f"({share:.1%}); "
        f"{lost:,} of {total:,} tokens would be lost; {wrong:,} stored counts are wrong",
        counts={
            "chunks": len(chunks),
            "over": len(over),
            "share_over": share,
            "tokens_lost": lost,
            "largest": max(counted, default=0),
            "limit": batch.max_model_tokens,
            "wrong_counts": wrong,
        },
        examples=examples(
            (row[0], row[1], f"{row[2]} has {batch.max_model_tokens + excess} tokens") for excess, row in over
        ),
    )


CHECK = Check(
    "token_bounds",
    CHUNKS,
    ERROR,
    "No embedder input (context, text and special tokens) is over the limit of the embedder.",
    run,
)
