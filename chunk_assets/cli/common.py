"""What every command shares: ``--home``, ``--json``, ``--quiet``, exit codes and output."""

from __future__ import annotations

import functools
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.errors import ChunkAssetsError, StopRun

if TYPE_CHECKING:
    from rich.console import Console

    from chunk_assets.catalog import Catalog

SOME_FAILED = 1
BAD_USAGE = 2
INTERRUPTED = 130
# Commands that need nothing of the home, and those that read no table of it: one in an object store is not
# fetched for them.
WITHOUT_HOME = frozenset({"init", "convert", "doctor"})
WITHOUT_TABLES = frozenset({"preview", "sources", "dev", "files", "show", "test"})


@dataclass(frozen=True, slots=True)
class Output:
    """Where a command's words go: one JSON object on standard output, or text for a person."""

    home: str
    as_json: bool
    quiet: bool

    def catalog(self) -> Catalog:
        """The catalog of the home."""
        from chunk_assets.catalog import load_catalog

        return load_catalog(self.home)

    @property
    def console(self) -> Console:
        """For people: standard output, or standard error when standard output carries JSON."""
        from rich.console import Console

        return Console(
            stderr=self.as_json, quiet=self.quiet, highlight=False, soft_wrap=not sys.stdout.isatty()
        )

    def result(self, value: dict[str, Any]) -> None:
        """Prints the JSON object, when one was asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """A table for people; nothing with ``--quiet`` or ``--json``."""
        from rich.table import Table
        from rich.text import Text

        if self.quiet or self.as_json:
            return
        table = Table(
            title=title, title_justify="left", show_edge=False, header_style="bold", show_header=any(columns)
        )
        for name in columns:
            table.add_column(name)
        for row in rows:
            table.add_row(*(Text(str(cell)) for cell in row))
        self.console.print(table)


def home_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--home``, ``--json`` and ``--quiet``, and passes them on as ``out: Output``."""

    @functools.wraps(function)  # the options that are there already come along
    def wrapped(*args: Any, home: str, as_json: bool, quiet: bool, **kwargs: Any) -> Any:
        return function(*args, out=Output(_folder_of(home), as_json, quiet), **kwargs)

    options = (
        click.option(
            "--home",
            default=_default_home,
            help="Folder or s3:// (gs://, abfs://) URL that holds sources.yaml  "
            "[default: $CHUNK_ASSETS_HOME, else data]",
        ),
        click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output."),
        click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors."),
    )
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def _folder_of(home: str) -> str:
    """The folder to work in. That of a home in an object store is brought up to date first."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.catalog.origin import local_home
    from chunk_assets.storage.remote import remote_home

    folder = local_home(home)
    remote, name = remote_home(folder), click.get_current_context().info_name
    if remote is None or name in WITHOUT_HOME:
        return folder
    load_catalog(folder)  # puts sources.yaml into the folder
    if name not in WITHOUT_TABLES:
        for fault in remote.pull().values():
            click.echo(f"problem: {fault}; 'chunk-assets repair' makes it anew", err=True)
    return folder


def _default_home() -> str:
    from chunk_assets.catalog.home import default_home

    return default_home(os.environ)


@contextmanager
def ending_well() -> Iterator[None]:
    """Turns our errors, click's and Ctrl-C into a sentence on standard error and an exit code."""
    # It reports with a traceback every Ctrl-C that comes while it closes a connection, and passes it on.
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
    try:
        yield
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        # Once is enough: what is being closed now must not be interrupted again.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        click.echo("\nStopped. What was finished is kept; the same command goes on from there.", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except ChunkAssetsError as error:
        click.echo(f"chunk-assets: {error}", err=True)
        sys.exit(error.exit_code if isinstance(error, StopRun) else SOME_FAILED)
