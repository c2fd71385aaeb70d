"""``chunk-assets sources``: what the catalog names, and what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.common import SOME_FAILED, Output, home_options

if TYPE_CHECKING:
    from chunk_assets.catalog import Catalog

MOST_NOTES = 10


@click.command("sources")
@click.option("--documents", is_flag=True, help="List every document with its id, batch and metadata.")
@home_options
def command(out: Output, documents: bool) -> int:
    """List the sources with path, slices, policy, and the documents that are there now."""
    catalog = out.catalog()
    rows = [_row(catalog, name, documents=documents) for name in catalog.sources]
    out.result({"sources": rows})
    columns = ("source", "path", "batches", "documents", "bytes", "policy", "problem")
    out.table("Sources", columns, [tuple(row[column] for column in columns) for row in rows])
    for row in rows:
        for note in row["notes"][:MOST_NOTES]:
            click.echo(f"{row['source']}: {note}", err=True)
        if more := row["notes"][MOST_NOTES:]:
            click.echo(f"{row['source']}: {len(more)} more such notes; --json has all", err=True)
    if documents:
        listed = [
            (d["document_id"], d["file"], d["batch"], d["status"]) for row in rows for d in row["listed"]
        ]
        out.table("Documents", ("document", "file", "batch", "status"), listed)
    return SOME_FAILED if any(row["problem"] for row in rows) else 0


def _row(catalog: Catalog, name: str, *, documents: bool) -> dict[str, Any]:
    from chunk_assets.errors import SourceUnavailable
    from chunk_assets.sources import list_source

    row: dict[str, Any] = {
        "source": name,
        "path": catalog.source(name).path,
        "policy": catalog.policy_name(name),
        "batches": 0,
        "documents": 0,
        "bytes": 0,
        "problem": "",
        "notes": [],
    }
    try:
        listing = list_source(catalog, name)
    except SourceUnavailable as error:
        return row | {"problem": str(error), "listed": []}
    row |= {
        "batches": len(listing.by_slice()),
        "documents": len(listing.documents),
        "bytes": sum(document.size_bytes for document in listing.documents),
        "problem": "; ".join(listing.problems),
        "notes": list(listing.notes),
    }
    if documents:
        row["listed"] = [
            {
                "document_id": d.document_id,
                "file": d.relative_path,
                "batch": f"{name}/{d.slice}",
                "status": d.status,
                "reason": d.reason,
                "tags": list(d.metadata.tags),
            }
            for d in listing.documents
        ]
    return row
