"""Progress as people and logs see it: a bar on a terminal, else a line at most every ten seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chunk_assets.cli.meter import Meter

LOG_SECONDS = 10.0
Step = Callable[[str, int, int, str], None]


@contextmanager
def showing(meter: Meter, *, quiet: bool) -> Iterator[Step]:
    """A progress function for the pipeline that feeds ``meter`` and shows it on standard error."""
    if quiet:
        yield meter
    elif sys.stderr.isatty():
        with _bar(meter) as step:
            yield step
    else:
        yield _logging(meter)


def _logging(meter: Meter) -> Step:
    last = meter.clock()

    def step(stage: str, done: int, total: int, unit: str) -> None:
        nonlocal last
        meter(stage, done, total, unit)
        if meter.clock() - last >= LOG_SECONDS:
            last = meter.clock()
            print(meter.line(), file=sys.stderr, flush=True)  # noqa: T201 - the log form of progress

    return step


@contextmanager
def _bar(meter: Meter) -> Iterator[Step]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=30), TextColumn("{task.fields[line]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4) as bar:
        task = bar.add_task("chunk-assets", total=1.0, line="")

        def step(stage: str, done: int, total: int, unit: str) -> None:
            meter(stage, done, total, unit)
            bar.update(task, completed=meter.share(), line=meter.line())

        yield step
