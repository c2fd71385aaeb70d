"""How far a run is, and how long it will take: work is weighed in seconds, not in files.

Three kinds of work cost time: bytes read and converted, documents chunked, texts embedded. What a unit
costs is measured as the run goes. How many texts later batches will bring is foreseen from the sizes and
kinds of their files, corrected by how the foresight did on the batches that are done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

# Seconds of work a unit costs until this run has measured it; only their ratios matter, and only at first.
FIRST_COST = {"bytes": 2e-6, "documents": 2e-3, "texts": 0.1}
# After so many seconds of one kind of work its measured cost is believed alone.
BELIEVED_AFTER_SECONDS = 2.0
# Texts to expect from a byte of a file; office files are compressed or mostly pictures and styles.
TEXTS_PER_BYTE = {"md": 1 / 300, "txt": 1 / 400, "csv": 1 / 200, "html": 1 / 1_000, "htm": 1 / 1_000}
TEXTS_PER_BYTE |= {"pdf": 1 / 3_000, "docx": 1 / 4_000, "xlsx": 1 / 800, "pptx": 1 / 15_000, "eml": 1 / 800}
OTHERWISE = 1 / 2_000


@dataclass(frozen=True, slots=True)
class Load:
    """The work of one batch as far as its listing tells."""

    size_bytes: int
    texts: float

    @classmethod
    def of(cls, files: Iterable[tuple[str, int]]) -> Load:
        """The load of files, given as path and size in bytes."""
        known = list(files)
        texts = sum(size * TEXTS_PER_BYTE.get(_suffix(path), OTHERWISE) for path, size in known)
        return cls(sum(size for _, size in known), texts)


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix.lower().lstrip(".")


@dataclass(slots=True)
class Stage:
    """One kind of work in one stage: units done and to do in the current batch, and over all before."""

    unit: str
    done: float = 0.0
    total: float = 0.0
    done_before: float = 0.0
    seconds: float = 0.0

    @property
    def cost(self) -> float:
        """Seconds a unit: measured, leaning on the first guess while little is done."""
        whole = self.done_before + self.done
        guess = FIRST_COST.get(self.unit, 0.01)
        weight = min(1.0, self.seconds / BELIEVED_AFTER_SECONDS) if whole else 0.0
        return weight * (self.seconds / whole if whole else 0.0) + (1 - weight) * guess


@dataclass(slots=True)
class Meter:
    """Work done and left over all batches of a run. ``clock`` gives seconds that never go back."""

    clock: Callable[[], float] = time.monotonic
    ahead: list[Load] = field(default_factory=list)
    current: Load = Load(0, 0.0)
    stages: dict[str, Stage] = field(default_factory=dict)
    stage: str = ""
    failures: int = 0
    batches: int = 0
    _foreseen: float = 0.0
    _found: float = 0.0
    _last: float = 0.0
    _share: float = 0.0

    def expect(self, loads: Iterable[Load]) -> None:
        """The batches of the run, in their order."""
        self.ahead = list(loads)

    def start_batch(self) -> None:
        """The next batch begins; its stages count from zero."""
        self.current = self.ahead.pop(0) if self.ahead else Load(0, 0.0)
        self._last = self.clock()

    def __call__(self, stage: str, done: int, total: int, unit: str) -> None:
        """Takes one step of a stage of the current batch (see ``pipeline.Progress``)."""
        now = self.clock()
        known = self.stages.setdefault(stage, Stage(unit))
        known.seconds += max(0.0, now - self._last)
        known.done, known.total = max(known.done, float(done)), max(known.total, float(total))
        self.stage, self._last = stage, now

    def finish_batch(self) -> None:
        """The current batch is done; how its texts were foreseen corrects what is foreseen for the rest."""
        self.batches += 1
        for stage in self.stages.values():
            if stage.unit == "texts" and stage.total:
                self._foreseen += self.current.texts
                self._found += stage.total
            stage.done_before += stage.total
            stage.done = stage.total = 0.0

    def left(self) -> float:
        """Seconds of work left."""
        return max(0.0, sum(cost * todo for cost, _, todo in self._work()))

    def share(self) -> float:
        """Work done as a share of all, from 0 to 1; never smaller than it was before."""
        done = sum(cost * part for cost, part, _ in self._work())
        whole = done + self.left()
        self._share = max(self._share, done / whole if whole else 0.0)
        return min(self._share, 1.0)

    def _work(self) -> Iterator[tuple[float, float, float]]:
        """(cost, done, to do) of each stage: the rest of this batch, and what later ones will bring."""
        later_bytes = sum(load.size_bytes for load in self.ahead)
        factor = self._found / self._foreseen if self._foreseen else 1.0
        later_texts = factor * sum(load.texts for load in self.ahead)
        for name in ("raw_documents", "markdown_documents", "chunks", "embeddings"):
            unit = {"chunks": "documents", "embeddings": "texts"}.get(name, "bytes")
            stage = self.stages.get(name) or Stage(unit)
            here = {"bytes": float(self.current.size_bytes), "texts": factor * self.current.texts}.get(
                unit, 0.0
            )
            rest = (stage.total or here) - stage.done
            later = {"bytes": later_bytes, "texts": later_texts}.get(unit, 0.0)
            yield stage.cost, stage.done_before + stage.done, max(0.0, rest) + later

    def line(self) -> str:
        """One line for a log: share, stage, units, rate, time left and failures."""
        stage = self.stages.get(self.stage)
        units = f"{stage.done:,.0f}/{stage.total:,.0f} {stage.unit}" if stage else ""
        rate = f", {1 / stage.cost:,.1f} {stage.unit}/s" if stage and stage.done and stage.cost else ""
        left = clock_time(self.left())
        return f"{self.share():4.0%} {self.stage} {units}{rate}, {left} left, {self.failures} failed"


def clock_time(seconds: float) -> str:
    """Seconds as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
