"""The command line ``chunk-assets``: one file a command, loaded when it is called."""

from __future__ import annotations

import importlib
import sys

import click

from chunk_assets import __version__

# Command → (module, what it does); the order is that of the help page.
COMMANDS = {
    "init": "write a new project: catalog, Dagster settings and an example",
    "run": "bring tables up to date: list, convert, chunk, embed, check, publish",
    "plan": "say what the next run would do and cost; changes nothing",
    "status": "show batches, documents and failures as they stand",
    "sources": "list the sources and what is in them",
    "preview": "show the chunks of one file",
    "convert": "convert files to markdown, one JSON line each",
    "search": "find passages that answer a question",
    "report": "write an HTML page that shows documents and their chunks",
    "verify": "re-derive what the tables claim and name what is wrong",
    "repair": "rebuild exactly what verify finds wrong",
    "evaluate": "measure retrieval on question sets",
    "calibrate": "propose parameters of a strategy from questions",
    "export": "deliver chunks and vectors to a vector store",
    "backfill": "run many batches of a source, each on its own",
    "versions": "build, compare, promote and roll back versions of the tables",
    "files": "name the files of one consistent version of a table, for other programs",
    "prune": "drop vectors that nothing needs, and old runs",
    "alerts": "show open incidents, or send a test alert",
    "doctor": "check this machine and this home, with the mend for each fault",
    "dev": "start the Dagster UI on 127.0.0.1",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that ``--help`` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of ``COMMANDS``."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command from the module of its name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"chunk_assets.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chunk-assets")
def chunk_assets() -> None:
    """Verified, reproducible chunk and embedding tables from business documents.

    A home is a folder with a sources.yaml; its tables, vectors and state lie in it. To begin: init, run,
    report, search, dev.

    Exit codes: 0 all well; 1 some documents or a check failed; 2 bad usage or configuration; 3 another run
    holds the lock; 130 stopped by Ctrl-C.
    """


def main() -> None:
    """The entry point: errors become one sentence and an exit code."""
    from chunk_assets.cli.common import ending_well

    with ending_well():
        sys.exit(chunk_assets(prog_name="chunk-assets", standalone_mode=False))
