"""A week of arrivals, edits and deletions in one process: sensor ticks and the runs they ask for."""

from __future__ import annotations

import os
import random
import shutil
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.defs.build import build_definitions
from chunk_assets.defs.home import open_instance
from chunk_assets.defs.runs import SILENT
from chunk_assets.errors import ChunkAssetsError
from tests.doors.conftest import digests, note, run

if TYPE_CHECKING:
    from pathlib import Path

# 500 by hand, as in: CHUNK_ASSETS_EVENTS=500 pytest tests/e2e/test_week.py
EVENTS = int(os.environ.get("CHUNK_ASSETS_EVENTS", "24"))
EVENTS_A_TICK = max(8, EVENTS // 20)
CATALOG = """\
embedder: {name: hash}
retries: {max_attempts: 50, first_wait_minutes: 0}
deletion_guard: {share: 1.0}
sources:
  minutes: {path: minutes, slice: {by: bucket, count: 2}}
  letters: {path: letters}
  uploads: {path: uploads}
  share: {path: share}
"""
SOURCES = ("minutes", "letters", "uploads", "share")


@dataclass
class Week:
    """A home in which things happen: ``uploads`` get broken files, ``share`` is unmounted at times."""

    home: Path
    chance: random.Random
    definitions: dg.Definitions
    count: int = 0
    runs: int = 0
    failed_ticks: int = 0
    seen: dict[str, int] = field(default_factory=dict)

    def event(self) -> None:
        """One arrival, edit or deletion."""
        source = self.chance.choice(SOURCES)
        folder = self.home / source
        if not folder.is_dir():
            (self.home / "unmounted").rename(folder)
        files = sorted(folder.iterdir())
        kind = self.chance.choice(("arrival", "arrival", "edit", "deletion")) if len(files) > 2 else "arrival"
        self.seen[kind] = self.seen.get(kind, 0) + 1
        self.count += 1
        if kind == "deletion":
            self.chance.choice(files).unlink()
            return
        path = self.chance.choice(files) if kind == "edit" else folder / f"{self.count}.md"
        if source == "uploads" and self.chance.random() < 0.4:
            path.with_suffix(".pdf").write_bytes(b"%PDF-1.7\nhalf an upload " + bytes([self.count % 256]))
        else:
            path.write_text(note(f"topic {self.count}", self.chance.randint(1, 4)))

    def unmount(self) -> None:
        if (self.home / "share").is_dir():
            (self.home / "share").rename(self.home / "unmounted")

    def change_policy(self) -> None:
        """Another policy for everybody; the daemon's runs load the catalog anew, as these do."""
        catalog = self.home / "sources.yaml"
        catalog.write_text("policy: sentence_window\n" + catalog.read_text())
        self.definitions = build_definitions(load_catalog(self.home))

    def tick(self, instance: dg.DagsterInstance) -> int:
        """One tick of the sensor, and a run for each request; a failed tick is what an operator would see."""
        repository = self.definitions.get_repository_def()
        with dg.build_sensor_context(instance=instance, repository_def=repository) as context:
            try:
                asked = repository.get_sensor_def("arrivals").evaluate_tick(context).run_requests or []
            except (dg.Failure, ChunkAssetsError, dg.DagsterError):
                self.failed_ticks += 1
                return 0
        for request in asked:
            job = self.definitions.resolve_job_def(str(request.job_name))
            job.execute_in_process(
                partition_key=request.partition_key,
                instance=instance,
                raise_on_error=False,
                run_config=SILENT,
                tags=dict(request.tags),
            )
        self.runs += len(asked)
        return len(asked)

    def pass_by(self, instance: dg.DagsterInstance) -> None:
        """All events, with a tick after every few of them and one change of policy in the middle."""
        ticks = EVENTS // EVENTS_A_TICK
        for number in range(ticks):
            for _ in range(EVENTS_A_TICK):
                self.event()
            if number == ticks // 2:
                self.change_policy()
            if self.chance.random() < 0.3:
                self.unmount()
            self.tick(instance)

    def end_well(self, instance: dg.DagsterInstance) -> None:
        """The share is back, half uploads are gone, and ticks go on until there is nothing to do."""
        if not (self.home / "share").is_dir():
            (self.home / "unmounted").rename(self.home / "share")
        for path in (self.home / "uploads").glob("*.pdf"):
            path.unlink()
        while self.tick(instance):
            pass


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_a_week_of_changes_gives_the_tables_of_one_clean_build(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for source in SOURCES:
        (home / source).mkdir(parents=True)
        (home / source / "first.md").write_text(note(source))
    (home / "sources.yaml").write_text(CATALOG)
    week = Week(home, random.Random(11), build_definitions(load_catalog(home)))
    with open_instance(home) as instance:
        week.pass_by(instance)
        week.end_well(instance)
    clean = tmp_path / "clean"
    for source in SOURCES:
        shutil.copytree(home / source, clean / source)
    shutil.copy(home / "sources.yaml", clean / "sources.yaml")
    assert run(clean).code == 0
    assert digests(home) == digests(clean)
    assert min(week.seen.values()) > 0
    sys.stderr.write(f"{week.seen}, {week.runs} runs, {week.failed_ticks} failed ticks\n")
