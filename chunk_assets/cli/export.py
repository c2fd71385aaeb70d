"""``chunk-assets export``: deliver the published chunks and vectors to a store."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from chunk_assets.cli.common import Output, home_options


@click.command("export")
@click.option("--to", required=True, help="lancedb, qdrant, pgvector, duckdb, faiss or parquet.")
@click.option("--target", required=True, help="Path, URL or connection string of the store.")
@click.option("--collection", default="chunks", show_default=True, help="Table, collection or index there.")
@click.option("--source", "-s", default=None, help="Only this source.")
@click.option("--recreate", is_flag=True, help="Make the collection anew, as a change of the model needs.")
@click.option("--dry-run", is_flag=True, help="Compare only.")
@home_options
def command(out: Output, to: str, target: str, **how: Any) -> int:
    """Make a vector store hold exactly the published chunks, by writing only what differs."""
    from chunk_assets.export import export

    if how["source"]:
        out.catalog().source(how["source"])
    report = export(out.home, to, target, **how)
    out.result(asdict(report) | {"equal": report.equal})
    names = ("added", "changed", "removed", "unchanged", "total", "without_vector", "sampled", "altered")
    out.table(f"{to} {report.collection}", names, [[getattr(report, name) for name in names]])
    return 0
