"""Clusters and a store on loopback, each in processes of its own, started and ended by the benchmark."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT

PATIENCE_SECONDS = 120.0
ANYBODY = {
    "AWS_ACCESS_KEY_ID": "anybody",
    "AWS_SECRET_ACCESS_KEY": "anything",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextmanager
def dask(folder: Path) -> Iterator[str]:
    """A scheduler and two workers over TCP; the address of the scheduler."""
    import distributed

    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    listen = ("--host", "127.0.0.1", "--port", str(port), "--dashboard-address", "127.0.0.1:0")
    work = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder))
    with ExitStack() as stack:
        start(stack, folder, "distributed.cli.dask_scheduler", *listen)
        wait_for(port)
        for _ in range(2):
            start(stack, folder, "distributed.cli.dask_worker", address, *work)
        connect: Any = distributed.Client
        with connect(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE_SECONDS)
        yield address


@contextmanager
def ray(folder: Path) -> Iterator[str]:
    """Two nodes of one processor each; the address of the head. It has folders of its own."""
    del folder
    os.environ["PYTHONPATH"] = str(ROOT)
    from ray.cluster_utils import Cluster

    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    found.add_node(num_cpus=1)
    try:
        yield str(found.address)
    finally:
        found.shutdown()


@contextmanager
def s3(folder: Path) -> Iterator[str]:
    """An S3-speaking server with an empty bucket; the URL of the bucket. Sets the environment of the SDK."""
    import moto  # noqa: F401 - the server is a module of it
    import s3fs

    port = free_port()
    os.environ.update(ANYBODY, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
    with ExitStack() as stack:
        start(stack, folder, "moto.server", "-H", "127.0.0.1", "-p", str(port))
        wait_for(port)
        s3fs.S3FileSystem().mkdir("benchmark")
        yield "s3://benchmark"


def start(stack: ExitStack, folder: Path, module: str, *options: str) -> None:
    """A process of this Python, killed when the stack is left."""
    log = stack.enter_context((folder / f"{module}.txt").open("ab"))
    command = [sys.executable, "-W", "ignore", "-m", module, *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=environment)
    stack.callback(process.wait)
    stack.callback(process.kill)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int) -> None:
    """Until something listens."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens on {port}")
