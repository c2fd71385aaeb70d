"""``chunk-assets dev``: Dagster's UI and daemon for one home, on this machine only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from chunk_assets.cli.common import Output, home_options


@click.command("dev")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; the UI has no login, so mind who can reach it.",
)
@click.option(
    "--port", default=3000, show_default=True, type=click.IntRange(1, 65535), help="Port of the UI."
)
@home_options
def command(out: Output, host: str, port: int) -> None:
    """Start the Dagster UI and its daemon for this home."""
    from chunk_assets.defs.home import instance_folder

    catalog = out.catalog()
    environment = {
        **os.environ,
        "CHUNK_ASSETS_HOME": str(Path(catalog.home).resolve()),
        "DAGSTER_HOME": str(instance_folder(catalog.home)),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }
    arguments = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-m",
        "chunk_assets.definitions",
        "-h",
        host,
        "-p",
        str(port),
    ]
    if not out.quiet:
        click.echo(f"Dagster UI of {catalog.home}: http://{host}:{port}", err=True)
    os.execve(sys.executable, arguments, environment)  # noqa: S606 - our own interpreter, no shell
