"""A Ray cluster of two nodes on loopback, where Ray is installed: equal bytes, also when a node dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chunk_assets.storage.tables import read_table
from tests.cluster.test_engines import after, home, run, tables

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Ray's own, of several kinds


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    found.add_node(num_cpus=1)
    try:
        yield found
    finally:
        found.shutdown()


def on(cluster: Any) -> str:
    return f"compute: {{engine: ray, address: '{cluster.address}'}}"


def kill_a_worker(victims: list[int]) -> None:
    """SIGKILL to one of the processes that run documents, on whichever node."""
    import psutil

    names = {p.pid: "".join(p.cmdline()) for p in psutil.Process().children(recursive=True)}
    busy = [pid for pid, name in names.items() if name.startswith("ray::_call")]
    idle = [pid for pid, name in names.items() if name.startswith("ray::")]
    os.kill((busy or idle)[0], signal.SIGKILL)
    victims.append((busy or idle)[0])


def test_two_ray_nodes_give_the_bytes_of_one_process_also_when_workers_and_a_node_are_killed(
    cluster: Any, tmp_path: Path
) -> None:
    alone = home(tmp_path / "alone")
    assert run(alone, workers=1).errors == ()
    together = home(tmp_path / "together", on(cluster))
    assert run(together).errors == ()
    assert tables(together) == tables(alone)
    victims: list[int] = []
    hurt = home(tmp_path / "hurt", on(cluster))
    assert run(hurt, progress=after((4, 12, 20), lambda: kill_a_worker(victims))).errors == ()
    assert len(set(victims)) == 3
    assert tables(hurt) == tables(alone)
    (path,) = (hurt / "tables/chunks").rglob("*.parquet")
    ids = read_table(path)["chunk_id"].to_pylist()
    assert len(ids) == len(set(ids))
    node = cluster.add_node(num_cpus=1)
    bereft = home(tmp_path / "bereft", on(cluster))
    lose = after((5,), lambda: cluster.remove_node(node, allow_graceful=False))
    assert run(bereft, progress=lose).errors == ()
    assert tables(bereft) == tables(alone)
