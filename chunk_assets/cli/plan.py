"""``chunk-assets plan``: what the next run would do, why and at what cost; it changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.chosen import Chosen, batch_options
from chunk_assets.cli.common import SOME_FAILED, Output, home_options

if TYPE_CHECKING:
    from chunk_assets.plan import Plan

DIFF_SAMPLES = 3
MARKS = {"=": "dim", "-": "red", "+": "green"}


@click.command("plan")
@batch_options
@click.option("--diff", is_flag=True, help="Show chunk boundaries before and after for sample documents.")
@click.option(
    "--retry-failed", is_flag=True, help="Include documents that failed too often to be tried again."
)
@home_options
def command(out: Output, chosen: Chosen, diff: bool, retry_failed: bool) -> int:
    """Say what the next run would convert, chunk and embed, and what it would cost. Calls no embedder."""
    from chunk_assets.pipeline import RunOptions
    from chunk_assets.plan import make_plan

    options = RunOptions(mode=os.environ.get("CHUNKING_FACTORY_MODE", ""), retry_parked=retry_failed)
    catalog = out.catalog()
    plan = make_plan(
        catalog,
        chosen.names(catalog),
        options,
        batches=chosen.batches(catalog),
        diff_samples=DIFF_SAMPLES if diff else 0,
    )
    out.result(plan.as_json() | ({"diff": _diff_json(plan)} if diff else {}))
    if not out.as_json:
        _show(out, plan)
    return SOME_FAILED if plan.problems else 0


def _show(out: Output, plan: Plan) -> None:
    columns = ("batch", "why", "convert", "chunks new / changed / gone / kept", "texts to embed", "tokens")
    rows = [
        (
            b.batch,
            ", ".join(f"{n} {reason}" for reason, n in b.reasons.items()),
            b.convert,
            f"{b.chunks_added} / {b.chunks_changed} / {b.chunks_removed} / {b.chunks_kept}",
            f"{b.texts_to_embed} + {b.sparse_texts_to_embed} sparse"
            if b.sparse_texts_to_embed
            else b.texts_to_embed,
            f"{b.tokens_to_embed:,}",
        )
        for b in plan.batches
        if b.reasons or b.texts_to_embed
    ]
    out.table("Plan" if rows else "Plan: nothing to do", columns, rows)
    if rows and not out.quiet:
        price = f", {plan.estimated_price:.4f} {plan.currency}" if plan.estimated_price else ""
        out.console.print(f"about {plan.estimated_seconds:.0f} s{price}")
    _show_diffs(out, plan)
    for problem in plan.problems:
        click.echo(f"problem: {problem}", err=True)


def _show_diffs(out: Output, plan: Plan) -> None:
    from rich.text import Text

    for document in plan.diffs:
        out.console.print(Text(document.document_id, style="bold"))
        for line in document.lines:
            where = f"{line.mark} {line.start_char:>8}–{line.end_char:<8} {' '.join(line.text.split())[:80]}"
            out.console.print(Text(where, style=MARKS.get(line.mark, "")))


def _diff_json(plan: Plan) -> list[dict[str, Any]]:
    return [
        {
            "document_id": document.document_id,
            "chunks": [
                {
                    "mark": line.mark,
                    "chunk_id": line.chunk_id,
                    "start_char": line.start_char,
                    "end_char": line.end_char,
                }
                for line in document.lines
            ],
        }
        for document in plan.diffs
    ]
