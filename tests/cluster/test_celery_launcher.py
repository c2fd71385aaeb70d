"""Runs on two Celery workers over Redis, with Dagster's daemon: one worker is killed while it works."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.s3_server import free_port, wait_for
from tests.doors.conftest import digests, make_home

PATIENCE = 180.0
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, log: Path, environment: dict[str, str], *command: str) -> subprocess.Popen[bytes]:
    """A command with a process group of its own, so that it can be killed with its children."""
    output = stack.enter_context(log.open("wb"))
    process = subprocess.Popen(
        command, stdout=output, stderr=output, env=environment, cwd=log.parent, start_new_session=True
    )
    stack.callback(kill, process)
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def broker(processes: ExitStack, tmp_path: Path) -> str:
    pytest.importorskip("dagster_celery", reason="the extra celery is not installed")
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip("no redis-server on this machine")
    port = free_port()
    options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    redis = start(processes, tmp_path / "redis.txt", dict(os.environ), server, *options)
    wait_for(port, redis)
    return f"redis://127.0.0.1:{port}/0"


def until(check: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} took longer than {PATIENCE:.0f} seconds")


def configure(root: Path, folder: Path, broker: str) -> None:
    """The settings of ``deploy/celery``, with the broker of this test and shorter waits."""
    settings = yaml.safe_load((folder / "dagster.yaml").read_text())
    settings |= yaml.safe_load((root / "deploy/celery/dagster.yaml").read_text())
    settings["run_monitoring"] |= {"poll_interval_seconds": 1}
    (folder / "dagster.yaml").write_text(yaml.safe_dump(settings))


def test_a_killed_celery_worker_costs_time_and_no_document(
    broker: str, processes: ExitStack, root: Path, tmp_path: Path
) -> None:
    from chunk_assets.catalog import load_catalog
    from chunk_assets.defs.home import instance_folder, open_instance
    from chunk_assets.defs.pruning import end_dead_runs
    from chunk_assets.pipeline import Batch, run_sources
    from chunk_assets.storage.layout import Layout
    from chunk_assets.storage.locks import is_held

    alone = make_home(tmp_path / "alone")
    assert run_sources(load_catalog(alone)).errors == ()
    home = make_home(tmp_path / "home")
    folder = instance_folder(home)
    configure(root, folder, broker)
    environment = os.environ | {
        "CHUNK_ASSETS_HOME": str(home),
        "DAGSTER_HOME": str(folder),
        "CHUNK_ASSETS_CELERY_BROKER": broker,
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    bin_folder = Path(sys.executable).parent
    worker = ("-A", "dagster_celery.app", "worker", "-c", "1", "-l", "info", "-Q", "dagster")
    environment["PYTHONPATH"] = os.pathsep.join([str(root / "deploy/celery"), str(root)])
    workers = [
        start(
            processes,
            tmp_path / f"worker{n}.txt",
            environment,
            str(bin_folder / "celery"),
            *worker,
            "-n",
            f"w{n}",
        )
        for n in (1, 2)
    ]
    daemon = (str(bin_folder / "dagster-daemon"), "run", "-m", "chunk_assets.definitions")
    start(processes, tmp_path / "daemon.txt", environment, *daemon)
    layout = Layout(home)
    lock = layout.batch_lock(Batch("notes", "bucket-0"))
    until(lambda: is_held(lock), "the first run")
    victim = until(lambda: working(workers, lock), "finding the worker")
    kill(victim)
    assert not (home / "tables/chunks/source=notes").exists()
    with open_instance(home) as instance:
        until(lambda: end_dead_runs(instance, layout, time.time(), silent=1.0), "noticing it")
        until(lambda: digests(home) == digests(alone), "the other runs")


def working(workers: list[subprocess.Popen[bytes]], lock: Path) -> subprocess.Popen[bytes] | None:
    """The worker whose process holds the lock."""
    from chunk_assets.storage.locks import holder

    owner = holder(lock)
    groups = {process.pid: process for process in workers}
    return groups.get(os.getpgid(owner.pid)) if owner else None
