"""``chunk-assets init``: a new project that runs at once."""

from __future__ import annotations

import re
from pathlib import Path

import click

from chunk_assets.cli.common import Output, home_options
from chunk_assets.errors import ConfigurationError

CATALOG = """\
# What this project reads, and how. Paths are relative to this folder.
# Every setting, with its unit and default: chunk-assets' docs, page "Reference".

embedder:
  name: bge_small

policy: auto

sources:
  documents:
    path: documents
    description: Put files here, PDF, Word, Excel, CSV, HTML, Markdown, text, PowerPoint or e-mail.
    owners: []
    default_metadata: {}
    default_tags: []
"""
WELCOME = """\
# Welcome

This file is an example of a source document. Run the pipeline, then ask for something it says.

## Opening hours

The reading room is open from nine to five on weekdays. On the first Saturday of a month it opens at ten.

## Lending

Four books may be borrowed for three weeks. A book that nobody has reserved can be kept for two more weeks.
"""
WORKSPACE = """\
load_from:
  - python_module:
      module_name: chunk_assets.definitions
      location_name: chunk_assets
"""
IGNORED = "tables\n.tables-next\nstaging\nstate\nvectors\nlocks\nversions\nreports\ndagster\n"


@click.command("init")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@home_options
def command(out: Output, folder: Path) -> None:
    """Write a new project into FOLDER: catalog, Dagster settings and an example document."""
    if re.match(r"[a-z][a-z0-9+.-]+:/", str(folder)):
        raise ConfigurationError(f"init writes to a folder, not to {folder}; copy what it wrote to the URL")
    if folder.joinpath("sources.yaml").exists():
        msg = f"{folder / 'sources.yaml'} is there already; nothing was written"
        raise ConfigurationError(msg)
    from chunk_assets.defs.home import SETTINGS

    files = {
        "sources.yaml": CATALOG,
        "workspace.yaml": WORKSPACE,
        "dagster/dagster.yaml": SETTINGS.read_text(encoding="utf-8"),
        "documents/welcome.md": WELCOME,
        ".gitignore": IGNORED,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    out.result({"home": str(folder), "files": sorted(files)})
    if not out.quiet and not out.as_json:
        click.echo(f"Wrote {', '.join(sorted(files))} to {folder}.")
        click.echo(f"Next: chunk-assets run --home {folder}")
        click.echo(f"Then: chunk-assets search --home {folder} 'When does the reading room open?'")
