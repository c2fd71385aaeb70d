"""Servers that the tests of this folder talk to, each a process or thread of its own on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from chunk_assets.compute import WorkerPool
from tests.cluster.s3_server import BUCKET, ENVIRONMENT, Proxy, s3_process
from tests.postgres_server import postgres

__all__ = ["postgres"]


@pytest.fixture(scope="session")
def s3_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    with s3_process(tmp_path_factory.mktemp("s3") / "log.txt") as port:
        yield port


@pytest.fixture(scope="session")
def proxy(s3_port: int) -> Iterator[Proxy]:
    found = Proxy(s3_port)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def store(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The S3 server behind a well-behaved proxy; the SDK finds it and the credentials in the environment."""
    import s3fs

    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    # Twice is enough to see that it is tried again; five times, its default, would only be waited for.
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 2)
    proxy.reset()
    yield proxy
    proxy.reset()
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    """One worker process, started when a test first needs it and with what is in the environment then."""
    with WorkerPool(1) as found:
        yield found


@pytest.fixture
def bucket(store: Proxy) -> Any:
    """An empty bucket, as a function that puts objects into it."""
    import s3fs

    files = s3fs.S3FileSystem()
    if files.exists(BUCKET):
        files.rm(BUCKET, recursive=True)
    files.mkdir(BUCKET)

    def put(objects: dict[str, bytes]) -> None:
        for name, data in objects.items():
            files.pipe_file(f"{BUCKET}/docs/{name}", data)

    return put
