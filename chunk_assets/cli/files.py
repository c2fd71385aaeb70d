"""``chunk-assets files``: the files of a table, for programs that read Parquet by themselves."""

from __future__ import annotations

import click

from chunk_assets.cli.common import Output, home_options
from chunk_assets.records import TABLES


@click.command("files")
@click.argument("table", type=click.Choice(TABLES))
@click.option("--source", "-s", "sources", multiple=True, help="Only this source (may be repeated).")
@home_options
def command(out: Output, table: str, sources: tuple[str, ...]) -> int:
    """Name the files of TABLE in one consistent version of every batch, one on a line.

    For a home in an object store they are URLs: give the list to DuckDB, Polars or Spark as it is. Objects
    that are not on it are of versions before, or of runs that did not end.
    """
    from chunk_assets.pipeline.places import table_files

    found = [name for name in table_files(out.home, table) if not sources or _source(name) in sources]
    out.result({"table": table, "files": found})
    if not out.as_json and not out.quiet:
        for name in found:
            click.echo(name)
    return 0


def _source(name: str) -> str:
    return next(part for part in name.split("/") if part.startswith("source=")).removeprefix("source=")
