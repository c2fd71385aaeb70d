"""``chunk-assets repair``: rebuild exactly what verify finds wrong."""

from __future__ import annotations

import click

from chunk_assets.cli.chosen import Chosen, batch_options
from chunk_assets.cli.common import SOME_FAILED, Output, home_options
from chunk_assets.cli.verify import find, options, show


@click.command("repair")
@batch_options
@home_options
def command(out: Output, chosen: Chosen) -> int:
    """Rebuild faulty tables from the sound ones before them, and verify again."""
    from chunk_assets.verify import repair

    catalog = out.catalog()
    before = find(catalog, chosen)
    report = repair(catalog, before, options=options()) if before else None
    left = find(catalog, chosen) if before else []
    out.result(
        {
            "ok": not left,
            "repaired": len(before) - len(left),
            "embedded": report.embedded if report else 0,
            "files_written": list(report.files_written) if report else [],
            "faults": [fault.as_json() for fault in left],
        }
    )
    if not out.as_json and not out.quiet:
        out.console.print(f"{len(before)} faults found, {len(before) - len(left)} repaired.")
    show(out, left)
    return SOME_FAILED if left else 0
