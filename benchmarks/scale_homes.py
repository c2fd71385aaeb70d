"""What the cases of ``benchmarks.scale`` share: homes of any size, and processor time with children."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

TEXT = (
    "Work on item {n} in part {p} covers intake, storage and release. Each of the {p} steps for item {n} is "
    "written down, and the person on duty signs it before noon. "
)


def bucketed(home: Path, sources: int, count: int, embedder: str = "hash") -> tuple[str, ...]:
    """A catalog with ``sources`` sources of ``count`` batches each; gives their names."""
    names = tuple(f"s{number}" for number in range(sources))
    rows = "".join(f"  {name}: {{path: {name}, slice: {{by: bucket, count: {count}}}}}\n" for name in names)
    (home / "sources.yaml").write_text(f"embedder: {{name: {embedder}}}\nsources:\n{rows}")
    for name in names:
        (home / name).mkdir()
    return names


def fresh_home(folder: str, documents: int, embedder: str = "hash") -> Path:
    """A source ``s0`` of one batch, with documents of twelve sections each."""
    home = Path(folder)
    bucketed(home, 1, 1, embedder)
    for n in range(documents):
        parts = (f"## Part {p}\n\n{TEXT.format(n=n, p=p) * 6}" for p in range(1, 13))
        (home / "s0" / f"{n}.md").write_text(f"# Item {n}\n\n" + "\n\n".join(parts))
    return home


def spent(work: Callable[[], Any]) -> float:
    """Processor seconds of this process and of its ended children."""
    before = os.times()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def peak_mb() -> float:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
