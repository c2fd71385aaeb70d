"""A daemon left alone with a folder: changes are in the tables soon, what goes wrong is told once."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from chunk_assets.defs.home import instance_folder, open_instance
from chunk_assets.records import TABLES
from tests.alerts.receiver import Receiver, receiving
from tests.doors.conftest import digests, note, run
from tests.e2e.services import Daemon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

# 20 by hand, as in: CHUNK_ASSETS_KILLS=20 pytest tests/e2e -k killed
KILLS = int(os.environ.get("CHUNK_ASSETS_KILLS", "3"))
CATALOG = """\
embedder: {name: hash}
policies:
  wide: [{strategy: fixed, parameters: {max_chars: 20000, overlap_chars: 0}}]
retries: {max_attempts: 100, first_wait_minutes: 0.1}
operation: {sensor_seconds: 5}
sources:
  notes:
    path: notes
"""
BROKEN = CATALOG.replace("    path: notes\n", "    path: notes\n    max_tokens: 4000\n    policy: wide\n")
TICKS_ALLOWED = 2


def make_home(folder: Path) -> Path:
    (folder / "notes").mkdir(parents=True)
    write(folder / "sources.yaml", CATALOG)
    settings = instance_folder(folder) / "dagster.yaml"
    text = settings.read_text()
    quick = text.replace("start_timeout_seconds: 300", "start_timeout_seconds: 45").replace(
        "poll_interval_seconds: 30", "poll_interval_seconds: 5"
    )
    assert quick.count("45") == text.count("45") + 1
    settings.write_text(quick)
    return folder


def write(path: Path, text: str) -> None:
    """All at once, as an editor or an upload does it."""
    path.with_suffix(".tmp~").write_text(text)
    path.with_suffix(".tmp~").rename(path)


def rows(home: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted((home / "tables" / table).rglob("*.parquet")):
        with suppress(FileNotFoundError):  # replaced between the listing of the folder and its reading
            found += pq.ParquetFile(path).read().to_pylist()
    return found


def documents(home: Path, table: str) -> set[str]:
    return {str(row["document_id"]).removeprefix("notes__") for row in rows(home, table)}


def texts(home: Path) -> Counter[str]:
    return Counter(str(row["text"]) for row in rows(home, "chunks"))


def ticks_until_run(home: Path, since: float) -> int:
    """How many ticks of the arrivals sensor it took, from ``since`` on, until one asked for a run."""
    with open_instance(home) as instance:
        (state,) = [s for s in instance.all_instigator_state() if s.instigator_name == "arrivals"]
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, after=since)
    for number, tick in enumerate(sorted(ticks, key=lambda tick: tick.timestamp), start=1):
        if tick.run_ids:
            return number
    return 0


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


@pytest.fixture
def daemon(tmp_path: Path, receiver: Receiver) -> Iterator[Daemon]:
    started = Daemon(make_home(tmp_path / "home"), receiver.url)
    started.start()
    yield started
    started.kill()


def told(receiver: Receiver) -> list[tuple[str, str, str]]:
    return [(n["event"], n["name"], n["batch"]) for n in receiver.notices]


OPENED = ("opened", "token_bounds", "notes/bucket-0")
RECOVERED = ("recovered", "token_bounds", "notes/bucket-0")


def test_a_folder_is_followed_and_a_fault_is_told_once(daemon: Daemon, receiver: Receiver) -> None:
    home = daemon.home

    def within_two_ticks(change: Callable[[], object], true: Callable[[], bool], what: str) -> None:
        since = time.time()
        change()
        daemon.until(true, what)
        assert 1 <= ticks_until_run(home, since) <= TICKS_ALLOWED, what

    def drop() -> None:
        write(home / "notes/boilers.md", note("boilers", 40))
        write(home / "notes/leases.md", note("leases"))

    both = {"boilers.md", "leases.md"}
    within_two_ticks(drop, lambda: all(documents(home, table) == both for table in TABLES), "two documents")
    before = texts(home)
    write(home / "notes/leases.md", note("leases").replace("before noon", "before dusk", 1))
    daemon.until(lambda: texts(home) != before, "an edit")
    gone, fresh = before - texts(home), texts(home) - before
    assert (len(gone), len(fresh)) == (1, 1)
    assert "before dusk" in next(iter(fresh))

    within_two_ticks(
        (home / "notes/leases.md").unlink,
        lambda: all(documents(home, table) == {"boilers.md"} for table in TABLES),
        "a deletion",
    )
    published = digests(home)
    write(home / "sources.yaml", BROKEN)
    daemon.until(lambda: bool(receiver.notices), "an alert")
    time.sleep(12)  # two more ticks, which have nothing new to say
    assert told(receiver) == [OPENED]
    alert = receiver.notices[0]
    assert (alert["severity"], alert["kind"], alert["asset"]) == ("error", "check", "notes/chunks")
    assert "boilers" in alert["example"]
    assert "max_tokens" in alert["mend"]
    assert "tokens would be lost" in alert["summary"]
    assert "/runs/" in alert["link"]
    assert digests(home) == published

    write(home / "sources.yaml", CATALOG)
    daemon.until(lambda: RECOVERED in told(receiver), "a recovery")
    assert told(receiver) == [OPENED, RECOVERED]
    assert digests(home) == published


def test_killed_at_random_moments_it_ends_with_the_same_tables_and_incidents(
    daemon: Daemon,
    receiver: Receiver,
    tmp_path: Path,
) -> None:
    chance = random.Random(7)
    home = daemon.home
    stop = threading.Event()
    kills: list[str] = []

    def killing() -> None:
        while len(kills) < KILLS and not stop.wait(chance.uniform(0.3, 1.6) * pace):
            kind = chance.choices(("daemon", "all", "run"), (6, 3, 3))[0]
            if kind == "run" and daemon.kill_run():
                kills.append("run")
                continue
            daemon.kill(alone=kind != "all")
            kills.append("all" if kind == "all" else "daemon")
            daemon.start()

    killer = threading.Thread(target=killing)
    # How long a start, a tick and a run take on this machine now: a daemon must now and then get so far.
    began = time.monotonic()
    write(home / "notes/boilers.md", note("boilers", 40))
    daemon.until(lambda: "boilers.md" in documents(home, "embeddings"), "the first document")
    pace = time.monotonic() - began
    killer.start()
    try:
        for number in range(max(2, KILLS // 3)):
            name = f"part{number}.md"
            write(home / "notes" / name, note(f"topic {number}"))
            daemon.until(lambda name=name: name in documents(home, "embeddings"), name, 40 * pace)
        write(home / "sources.yaml", BROKEN)
        daemon.until(lambda: OPENED in told(receiver), "an alert", 40 * pace)
        killer.join()
        write(home / "notes/part0.md", note("topic zero"))
        write(home / "sources.yaml", CATALOG)
        daemon.until(lambda: RECOVERED in told(receiver), "a recovery")
    finally:
        stop.set()
        killer.join()
    clean = tmp_path / "clean"
    make_home(clean)
    for path in (home / "notes").glob("*.md"):
        write(clean / "notes" / path.name, path.read_text())
    assert run(clean).code == 0
    daemon.until(lambda: digests(home) == digests(clean), "the tables of a clean build")
    checks = [n for n in receiver.notices if n["kind"] == "check"]
    notices = Counter(f"{n['kind']} {n['event']} {n['key']}" for n in receiver.notices)
    sys.stderr.write(f"kills: {dict(Counter(kills))}; notices: {dict(notices)}\n")
    assert {(n["event"], n["name"], n["batch"]) for n in checks} == {OPENED, RECOVERED}
    assert len({n["key"] for n in checks}) == 2
    assert {n["kind"] for n in receiver.notices} <= (
        {"check"} if set(kills) == {"daemon"} else {"check", "run"}
    )
    assert len(kills) == KILLS
