"""``chunk-assets calibrate``: propose parameters from a training split; it changes no setting."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import yaml

from chunk_assets.cli.common import Output, home_options


@click.command("calibrate")
@click.option("--strategy", "-s", default="semantic", show_default=True, help="The strategy to tune.")
@click.option(
    "--set",
    "sets",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with a question set  [default: HOME/golden]",
)
@click.option("--embedder", "-e", default="static", show_default=True, help="The retriever to measure with.")
@click.option("--current", default="", metavar="YAML", help="The parameters in use, as {name: value, …}.")
@click.option(
    "--proposal",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the proposal; never over a file.",
)
@home_options
def command(
    out: Output, strategy: str, sets: tuple[Path, ...], embedder: str, current: str, proposal: Path | None
) -> int:
    """Sweep parameters on the training questions, weigh the best on the held-out ones, write a proposal."""
    from chunk_assets.evaluation import Bench, load_set
    from chunk_assets.evaluation.calibrate import calibrate, write

    folders = sets or (Path(out.home, "golden"),)
    bench = Bench(cache=Path(out.home, "state", "evaluation"), workers=os.cpu_count() or 1)
    found = calibrate(
        [load_set(folder) for folder in folders],
        strategy,
        current=yaml.safe_load(current) if current else None,
        retriever=embedder,
        bench=bench,
        progress=lambda line: None if out.quiet else click.echo(line, err=True),
    )
    if proposal:
        write(found, proposal)
    value: dict[str, Any] = asdict(found) | {"worth_it": found.worth_it}
    out.result(value)
    if not out.as_json and not out.quiet:
        click.echo(f"best on the training split: {found.best.parameters}")
        for name, (mean, low, high) in found.gains.items():
            click.echo(
                f"{name}, held out: {mean:+.3f} [{low:+.3f}, {high:+.3f}] against the parameters in use"
            )
        click.echo(
            "worth changing"
            if found.worth_it
            else "no certain gain on held-out questions; keep what is in use"
        )
    return 0
