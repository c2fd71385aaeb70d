"""All tests, part by part: each part in a process of its own, one more at a time than there are cores.

The longest parts wait for servers half of their time.

What starts event loops (browsers, clusters, Dagster's servers) leaves some behind, and pytest would blame the
test that runs when they are collected. Processes of their own keep the parts apart.

Run it with ``python -m tests.all_parts``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# The longest first, so that no core waits for one at the end.
LONGEST = ("cluster", "e2e", "ui", "defs", "doors", "scenarios", "export", "benchmarks")
FILES_A_PART = 4
COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")


@dataclass(frozen=True, slots=True)
class Done:
    """What one part said."""

    names: tuple[str, ...]
    code: int
    output: str
    seconds: float

    @property
    def counts(self) -> Counter[str]:
        """Tests by outcome, from pytest's closing line."""
        last = self.output.strip().rsplit("\n", 1)[-1]
        return Counter({what: int(number) for number, what in COUNT.findall(last)})


def parts() -> Iterator[tuple[str, ...]]:
    """Each folder of tests, and the files beside the folders a few at a time."""
    folders = {path.parent for path in HERE.glob("*/test_*.py")}
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    for folder in sorted(folders, key=lambda f: (ranks.get(f.name, len(ranks)), f.name)):
        yield (f"tests/{folder.name}",)
    files = [f"tests/{path.name}" for path in sorted(HERE.glob("test_*.py"))]
    for first in range(0, len(files), FILES_A_PART):
        yield tuple(files[first : first + FILES_A_PART])


def run(names: tuple[str, ...]) -> Done:
    """One pytest process; its words are kept until it ends."""
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *names],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    return Done(names, ended.returncode, ended.stdout + ended.stderr, time.monotonic() - started)


def main() -> int:
    """Runs every part; 1 when a test failed or a part held none."""
    totals: Counter[str] = Counter()
    failed = 0
    with ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
        for future in as_completed([pool.submit(run, names) for names in parts()]):
            done = future.result()
            totals += done.counts
            failed += bool(done.code)
            say(f"== {' '.join(done.names)}: {done.seconds:.0f} s, exit code {done.code}\n{done.output}")
    bad = max(totals["failed"] + totals["error"], failed)
    say(f"{totals['passed']} passed, {bad} failed, {totals['skipped']} skipped")
    return 1 if failed else 0


def say(text: str) -> None:
    """A part's words at once, also into a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
