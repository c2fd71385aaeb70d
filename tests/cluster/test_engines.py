"""One catalog on one process, on two, and on a Dask cluster: equal bytes, also when workers die."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.compute import WorkerPool, engine
from chunk_assets.compute.engines import Cluster, ClusterLost
from chunk_assets.errors import ConfigurationError
from chunk_assets.pipeline import RunOptions, RunReport, run_sources
from chunk_assets.records import MARKDOWN_DOCUMENTS, TABLES
from chunk_assets.storage.tables import read_table
from tests.cluster.s3_server import free_port, wait_for
from tests.doors.conftest import note

DOCUMENTS = 30
CATALOG = """
embedder: {name: hash, dimension: 16}
%s
sources:
  docs: {path: docs, retries: {max_attempts: 1}}
"""


def ended(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()


class DaskCluster:
    """A scheduler and worker processes that talk over TCP on loopback."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        options = ("--host", "127.0.0.1", "--port", str(self.port), "--dashboard-address", "127.0.0.1:0")
        self.scheduler = self.start("dask_scheduler", *options)
        wait_for(self.port, self.scheduler)

    def start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        log = self.stack.enter_context((self.folder / f"{module}.txt").open("ab"))
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.{module}", *options]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=os.environ | QUIET)
        self.stack.callback(ended, process)
        return process

    def add_worker(self) -> None:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        self.workers.append(self.start("dask_worker", self.address, *options))

    def wait_for_workers(self, count: int, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if (self.folder / "dask_scheduler.txt").read_text().count("Register worker") >= count:
                return
            time.sleep(0.2)
        raise TimeoutError((self.folder / "dask_worker.txt").read_text()[-2000:])


QUIET = {"DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "True", "PYTHONUNBUFFERED": "1"}


@contextmanager
def dask_cluster(folder: Path) -> Iterator[DaskCluster]:
    pytest.importorskip("distributed")
    with ExitStack() as stack:
        cluster = DaskCluster(folder, stack)
        cluster.add_worker()
        cluster.add_worker()
        cluster.wait_for_workers(2)
        yield cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with dask_cluster(tmp_path_factory.mktemp("dask")) as found:
        yield found


def home(folder: Path, compute: str = "") -> Path:
    (folder / "docs").mkdir(parents=True)
    for number in range(DOCUMENTS):
        (folder / "docs" / f"n{number:02d}.md").write_text(note(f"topic {number}", 2 + number % 3))
    (folder / "docs/t.csv").write_text("year,sales\n2024,31\n2025,44\n")
    (folder / "sources.yaml").write_text(CATALOG % compute)
    return folder


def on(address: str) -> str:
    return f"compute: {{engine: dask, address: '{address}'}}"


def run(folder: Path, **options: Any) -> RunReport:
    return run_sources(load_catalog(folder), options=RunOptions(**options))


def tables(folder: Path) -> dict[str, list[str]]:
    return {
        table: [
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted((folder / "tables" / table).rglob("*.parquet"))
        ]
        for table in TABLES
    }


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = home(tmp_path_factory.mktemp("one") / "home")
    assert run(folder, workers=1).errors == ()
    return tables(folder)


def after(counts: tuple[int, ...], what: Callable[[], object]) -> Callable[[str, int, int, str], None]:
    """A progress function that does something whenever so many conversions have been told of."""
    seen: list[int] = []

    def tell(stage: str, done: int, total: int, unit: str) -> None:
        if stage == MARKDOWN_DOCUMENTS:
            seen.append(done)
            if len(seen) in counts:
                what()

    return tell


def test_two_processes_and_a_dask_cluster_give_the_bytes_of_one_process(
    expected: dict[str, list[str]], cluster: DaskCluster, tmp_path: Path
) -> None:
    two = home(tmp_path / "two")
    assert run(two, workers=2).errors == ()
    dask = home(tmp_path / "dask", on(cluster.address))
    report = run(dask)
    assert report.errors == ()
    assert tables(two) == expected
    assert tables(dask) == expected


def test_three_dask_workers_killed_in_the_middle_change_nothing(
    expected: dict[str, list[str]], cluster: DaskCluster, tmp_path: Path
) -> None:
    cluster.add_worker()
    cluster.add_worker()
    cluster.wait_for_workers(4)
    folder = home(tmp_path / "home", on(cluster.address))
    victims = iter(cluster.workers[:3])
    assert run(folder, progress=after((4, 12, 20), lambda: next(victims).kill())).errors == ()
    assert [victim.wait(10) for victim in cluster.workers[:3]] == [-9, -9, -9]
    assert cluster.workers[3].poll() is None
    assert tables(folder) == expected
    (path,) = (folder / "tables/chunks").rglob("*.parquet")
    ids = read_table(path)["chunk_id"].to_pylist()
    assert len(ids) == len(set(ids))


def test_a_lost_scheduler_ends_the_run_and_publishes_nothing(tmp_path: Path) -> None:
    (tmp_path / "dask").mkdir()
    with dask_cluster(tmp_path / "dask") as own:
        folder = home(tmp_path / "home", on(own.address))

        def lose() -> None:
            for process in (*own.workers, own.scheduler):
                process.kill()

        report = run(folder, progress=after((3,), lose))
    assert [type(error) for error in report.errors] == [ClusterLost]
    assert tables(folder) == {table: [] for table in TABLES}


def test_engines_that_can_not_be_had_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    local = engine("local", "", 2)
    assert isinstance(local, WorkerPool)
    assert local.workers == 2
    local.close()
    with pytest.raises(ConfigurationError, match="unknown engine 'spark'; known: dask, local, ray"):
        engine("spark", "", 1)
    with pytest.raises(ConfigurationError, match="address"):
        engine("dask", "", 1)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError, match=r"chunk-assets\[ray\]"):
        engine("ray", "auto", 1)
    assert issubclass(Cluster, WorkerPool.__mro__[1])


@pytest.mark.parametrize("setting", ["{engine: dask}", "{address: 'tcp://h:1'}", "{engine: spark}"])
def test_an_engine_without_its_address_is_refused_when_the_catalog_is_read(
    setting: str, tmp_path: Path
) -> None:
    (tmp_path / "sources.yaml").write_text(CATALOG % f"compute: {setting}")
    with pytest.raises(ConfigurationError, match="compute"):
        load_catalog(tmp_path)
