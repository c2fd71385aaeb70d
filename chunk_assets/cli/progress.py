"""Progress that keeps its word: weighted by bytes, then by chunks, and never going back.

The whole run is one bar. Reading and converting weigh what their bytes are known to cost, embedding
what its texts cost; the rates are measured as the run goes, so the time left follows the work left.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

LOG_SECONDS = 10.0
# Seconds of work one unit costs until this run has measured it: bytes read and converted, documents
# chunked, texts embedded. Only their ratios matter, and only at the start.
FIRST_COST = {"bytes": 2e-6, "documents": 2e-3, "texts": 0.15}
# Texts to expect from a byte of source when nothing is known yet.
TEXTS_PER_BYTE = 1 / 2_000


@dataclass(slots=True)
class Stage:
    """What is known of one kind of work: units done and to do, and the seconds they took."""

    unit: str
    done: float = 0.0
    total: float = 0.0
    seconds: float = 0.0

    @property
    def cost(self) -> float:
        """Seconds a unit, as measured, leaning on the first guess while little is done."""
        guess = FIRST_COST[self.unit]
        weight = min(1.0, self.seconds / 2.0)
        measured = self.seconds / self.done if self.done else guess
        return weight * measured + (1 - weight) * guess


@dataclass(slots=True)
class Meter:
    """Work done and left over all batches of a run. ``clock`` gives seconds that never go back."""

    total_bytes: int
    clock: Callable[[], float] = time.monotonic
    stages: dict[str, Stage] = field(default_factory=dict)
    failures: int = 0
    documents: int = 0
    current: str = ""
    _last: float = 0.0
    _base: dict[str, tuple[float, float]] = field(default_factory=dict)
    _share: float = 0.0

    def start_batch(self) -> None:
        """The counters of a stage start again with each batch; what went before is kept."""
        self._base = {name: (stage.done, stage.total) for name, stage in self.stages.items()}
        self._last = self.clock()

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        """Takes one step of a stage of the current batch (see ``pipeline.Progress``)."""
        now = self.clock()
        known = self.stages.setdefault(stage, Stage(unit))
        before, total_before = self._base.get(stage, (0.0, 0.0))
        known.seconds += max(0.0, now - self._last)
        known.done = max(known.done, before + done)
        known.total = max(known.total, total_before + total)
        self.current, self._last = stage, now

    def finish_batch(self, size_bytes: int) -> None:
        """All work of a batch is done, also the parts that had nothing to do."""
        for name, stage in self.stages.items():
            _, total_before = self._base.get(name, (0.0, 0.0))
            if stage.total > total_before:
                stage.done = stage.total
        self._bytes_done += size_bytes

    _bytes_done: int = 0

    def left(self) -> float:
        """Seconds of work left, from the units to do and their measured costs."""
        return max(0.0, sum(cost * (total - done) for cost, done, total in self._work()))

    def share(self) -> float:
        """Work done as a share of all, from 0 to 1; never smaller than it was before."""
        done = sum(cost * part for cost, part, _ in self._work())
        whole = done + self.left()
        self._share = max(self._share, done / whole if whole else 0.0)
        return min(self._share, 1.0)

    def _work(self) -> Iterator[tuple[float, float, float]]:
        """(cost, done, total) of each kind of work, with what later batches will bring foreseen."""
        ahead = max(0, self.total_bytes - self._bytes_done)
        for stage in self.stages.values():
            total = stage.total
            if stage.unit == "bytes":
                total = max(total, float(self.total_bytes))
            elif stage.unit == "texts" and self._bytes_done:
                total += ahead * stage.done / self._bytes_done
            elif stage.unit == "texts":
                total = max(total, self.total_bytes * TEXTS_PER_BYTE)
            yield stage.cost, min(stage.done, total), total

    def line(self) -> str:
        """One line for a log: stage, share, units and time left."""
        stage = self.stages.get(self.current)
        units = f"{stage.done:,.0f}/{stage.total:,.0f} {stage.unit}" if stage else ""
        rate = f", {1 / stage.cost:,.1f} {stage.unit}/s" if stage and stage.done else ""
        left = clock_time(self.left())
        return f"{self.share():4.0%} {self.current} {units}{rate}, {left} left, {self.failures} failed"


def clock_time(seconds: float) -> str:
    """Seconds as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


@contextmanager
def showing(meter: Meter, *, quiet: bool) -> Iterator[Callable[[str, int, int, str], None]]:
    """A progress function: a bar on a terminal, else a line at most every ten seconds on standard error."""
    if quiet:
        yield meter
    elif sys.stderr.isatty():
        with _bar(meter) as step:
            yield step
    else:
        yield _logging(meter)


def _logging(meter: Meter) -> Callable[[str, int, int, str], None]:
    last = meter.clock()

    def step(stage: str, done: int, total: int, unit: str) -> None:
        nonlocal last
        meter(stage, done, total, unit)
        if meter.clock() - last >= LOG_SECONDS:
            last = meter.clock()
            print(meter.line(), file=sys.stderr, flush=True)  # noqa: T201 - the log form of progress

    return step


@contextmanager
def _bar(meter: Meter) -> Iterator[Callable[[str, int, int, str], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TextColumn("{task.fields[line]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4) as bar:
        task: TaskID = bar.add_task("chunk-assets", total=1.0, line="")

        def step(stage: str, done: int, total: int, unit: str) -> None:
            meter(stage, done, total, unit)
            _update(bar, task, meter)

        yield step


def _update(bar: Bar, task: TaskID, meter: Meter) -> None:
    bar.update(task, completed=meter.share(), line=meter.line())
