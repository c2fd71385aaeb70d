"""What all benchmarks share: arguments, fair timing, and one form of result.

Time is processor time, since wall time measures the neighbours too. Contenders take turns, so that a
slow minute of the machine hits all of them, and the median of the turns counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The folder of real documents and question sets that may lie beside the checkout.
SHARED = ROOT.parent / "shared"


@dataclass(slots=True)
class Result:
    """What one benchmark found.

    ``ratios``: ours over the other's in the same run. ``figures``: anything else, by name.
    ``table``: rows for a person, the first one names the columns. ``absent``: contenders that are not
    installed. ``notes``: what the reader must know to read the figures.
    """

    name: str
    ratios: dict[str, float] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    table: list[Sequence[Any]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def parser(description: str) -> argparse.ArgumentParser:
    """The arguments of every benchmark: ``--quick`` and ``--json``."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--quick", action="store_true", help="a small size that ends within 50 seconds")
    made.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return made


def interleaved(
    contenders: Mapping[str, Callable[[], object]], turns: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Median seconds of each contender over ``turns`` rounds in which all take their turn.

    The first round is not counted: it loads libraries and fills caches.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(turns + 1):
        for name, run in contenders.items():
            started = clock()
            run()
            if turn:
                seconds[name].append(clock() - started)
    return {name: statistics.median(values) for name, values in seconds.items()}


def ratio(ours: float, other: float) -> float:
    """``ours`` over ``other``, rounded for reading; 0 when there is nothing to divide by."""
    return round(ours / other, 4) if other else 0.0


def finish(result: Result, arguments: argparse.Namespace) -> None:
    """Writes the result: JSON on standard output, or a table and notes."""
    if arguments.json:
        keys = ("name", "ratios", "figures", "absent", "notes")
        json.dump({key: getattr(result, key) for key in keys}, sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    print(f"{result.name}\n")
    print_table(result.table)
    for name, value in result.ratios.items():
        print(f"{name}: {value:g}")
    for line in [*result.notes, *(f"not installed: {name}" for name in result.absent)]:
        print(line)


def print_table(rows: Sequence[Sequence[Any]]) -> None:
    """Columns as wide as their widest cell, numbers to the right."""
    if not rows:
        return
    texts = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(texts[0]))]
    for row, values in zip(texts, rows, strict=True):
        cells = [
            text.ljust(width) if isinstance(value, str) else text.rjust(width)
            for text, width, value in zip(row, widths, values, strict=True)
        ]
        print("  ".join(cells).rstrip())
    print()


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
