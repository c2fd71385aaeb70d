"""A Ray cluster of two nodes on loopback, where Ray is installed: equal bytes, also when a node dies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def test_two_ray_nodes_give_the_bytes_of_one_process_also_when_one_is_killed(
    cluster: Any, tmp_path: Path
) -> None:
    alone = home(tmp_path / "alone")
    assert run(alone, workers=1).errors == ()
    together = home(tmp_path / "together", on(cluster))
    assert run(together).errors == ()
    assert tables(together) == tables(alone)
    victim = cluster.add_node(num_cpus=1)
    hurt = home(tmp_path / "hurt", on(cluster))
    lose = after((5,), lambda: cluster.remove_node(victim, allow_graceful=False))
    assert run(hurt, progress=lose).errors == ()
    assert tables(hurt) == tables(alone)
