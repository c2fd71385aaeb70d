"""``chunk-assets verify``: re-derive what the tables claim, and name what is wrong."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from chunk_assets.cli.chosen import Chosen, batch_options
from chunk_assets.cli.common import SOME_FAILED, Output, home_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunk_assets.catalog import Catalog
    from chunk_assets.pipeline import RunOptions
    from chunk_assets.verify import Fault


@click.command("verify")
@batch_options
@home_options
def command(out: Output, chosen: Chosen) -> int:
    """Check schemas, hashes, ids, coverage, orphans and a sample of vectors, against the files themselves."""
    faults = find(out.catalog(), chosen)
    out.result({"ok": not faults, "faults": [fault.as_json() for fault in faults]})
    show(out, faults)
    return SOME_FAILED if faults else 0


def find(catalog: Catalog, chosen: Chosen) -> list[Fault]:
    """The faults of the batches asked for, or of all."""
    from chunk_assets.verify import verify

    return verify(catalog, chosen.names(catalog), batches=chosen.batches(catalog), options=options())


def options() -> RunOptions:
    """Options with the chunking mode of the environment, which decides what is right."""
    from chunk_assets.pipeline import RunOptions

    return RunOptions(mode=os.environ.get("CHUNKING_FACTORY_MODE", ""), owner="chunk-assets")


def show(out: Output, faults: Sequence[Fault]) -> None:
    """The faults as a table, or one sentence when there are none."""
    rows = [(fault.batch, fault.table, fault.row, fault.what) for fault in faults]
    if rows:
        out.table(f"{len(rows)} faults", ("batch", "table", "row", "what"), rows)
    elif not out.quiet and not out.as_json:
        out.console.print("The tables are what they claim to be.")
