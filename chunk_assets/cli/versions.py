"""``chunk-assets versions``: tables built beside the published ones, promoted and rolled back."""

from __future__ import annotations

from pathlib import Path

import click

from chunk_assets.cli.common import Output, home_options


@click.group("versions")
def command() -> None:
    """Build, compare, promote and roll back versions of the tables."""


@command.command("list")
@home_options
def listing(out: Output) -> int:
    """Show the published version and all beside it."""
    from chunk_assets.pipeline.versions import versions

    out.catalog()
    rows = [
        {
            "version": info.name,
            "batches": info.batches,
            "documents": info.documents,
            "chunks": info.chunks,
            "models": list(info.models),
        }
        for info in versions(out.home)
    ]
    out.result({"versions": rows})
    shown = [(r["version"] or "(published)", r["batches"], r["documents"], r["chunks"]) for r in rows]
    out.table("Versions", ("version", "batches", "documents", "chunks"), shown)
    return 0


@command.command("create", short_help="Start a version beside the published tables.")
@click.argument("name")
@click.option(
    "--settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A sources.yaml for this version, with another policy or embedder  [default: the home's]",
)
@home_options
def create(out: Output, name: str, settings: Path | None) -> int:
    """Start a version from the published tables; 'run --version NAME' then makes what differs."""
    from chunk_assets.pipeline.versions import create_version

    out.catalog()
    layout = create_version(out.home, name, settings.read_text(encoding="utf-8") if settings else None)
    out.result({"version": name, "folder": str(layout.root)})
    if not out.quiet and not out.as_json:
        click.echo(f"{layout.root}; next: chunk-assets run --home {out.home} --version {name}")
    return 0


@command.command("promote", short_help="Make a version the published one.")
@click.argument("name")
@click.option(
    "--loss", type=float, help="By how much recall fell, as 'evaluate' measured it; refused if over --margin."
)
@click.option(
    "--margin", type=float, default=0.02, show_default=True, help="The loss that is still accepted."
)
@home_options
def promote(out: Output, name: str, loss: float | None, margin: float) -> int:
    """Make a complete version the published one; readers see one or the other."""
    from chunk_assets.pipeline.versions import promote as promote_version

    out.catalog()
    promote_version(out.home, name, loss=loss, margin=margin)
    out.result({"published": name})
    if not out.quiet and not out.as_json:
        click.echo(f"{name} is published; 'chunk-assets versions rollback' takes it back")
    return 0


@command.command("rollback")
@home_options
def rollback(out: Output) -> int:
    """Undo the last promotion."""
    from chunk_assets.pipeline.versions import rollback as roll_back

    out.catalog()
    name = roll_back(out.home)
    out.result({"rolled_back": name})
    if not out.quiet and not out.as_json:
        click.echo(f"the tables are those of before; {name} is beside them again")
    return 0


@command.command("drop")
@click.argument("name")
@home_options
def drop(out: Output, name: str) -> int:
    """Remove a version that is not published."""
    from chunk_assets.pipeline.versions import drop_version

    out.catalog()
    drop_version(out.home, name)
    out.result({"dropped": name})
    if not out.quiet and not out.as_json:
        click.echo(f"{name} is gone; the published tables are untouched")
    return 0
