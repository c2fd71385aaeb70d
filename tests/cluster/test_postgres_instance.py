"""Code server, web server and daemon as processes of their own, with runs kept in PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from chunk_assets.defs.arrivals import BATCH_TAG
from chunk_assets.defs.home import instance_folder
from chunk_assets.defs.storage import POSTGRES_VARIABLE
from chunk_assets.records import TABLES
from tests.cluster.s3_server import free_port, wait_for
from tests.doors.conftest import make_home

PATIENCE = 240.0
# The batch's tag makes a run that the sensor asks for wait for this one.
TAGS = {"dagster/partition": "bucket-0", BATCH_TAG: "notes/bucket-0"}
WORKSPACE = "load_from:\n  - grpc_server: {host: 127.0.0.1, port: %d, location_name: chunk_assets}\n"
READY = "{ repositoriesOrError { __typename ... on RepositoryConnection { nodes { name } } } }"
LAUNCH = """
mutation($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }
"""
STATUS = "query($id: ID!) { runOrError(runId: $id) { __typename ... on Run { status } } }"


@contextmanager
def process(log: Path, environment: dict[str, str], *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command of the environment's Dagster, ended after the block."""
    with log.open("wb") as output:
        started = subprocess.Popen(command, stdout=output, stderr=output, env=environment, cwd=log.parent)
        try:
            yield started
        finally:
            started.terminate()
            try:
                started.wait(20)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def ask(port: int, query: str, **variables: Any) -> dict[str, Any]:
    answer = httpx.post(
        f"http://127.0.0.1:{port}/graphql", json={"query": query, "variables": variables}, timeout=90
    )
    return dict(answer.json()["data"])


def until(check: Callable[[], Any], what: str) -> Any:
    """The first true answer of ``check``."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.5)
    raise AssertionError(f"{what} took longer than {PATIENCE:.0f} seconds")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_batch_is_materialized_through_graphql_with_runs_in_postgresql(
    postgres: str, tmp_path: Path
) -> None:
    home = make_home(tmp_path / "home")
    facts = dict(part.split("=", 1) for part in postgres.split())
    url = f"postgresql://{facts['user']}@{facts['host']}:{facts['port']}/{facts['dbname']}"
    folder = instance_folder(home)
    environment = os.environ | {
        "CHUNK_ASSETS_HOME": str(home),
        "DAGSTER_HOME": str(folder),
        POSTGRES_VARIABLE: url,
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    bin_folder = Path(sys.executable).parent
    code, web = free_port(), free_port()
    workspace = tmp_path / "workspace.yaml"
    workspace.write_text(WORKSPACE % code)
    serve = ("code-server", "start", "-h", "127.0.0.1", "-p", str(code), "-m", "chunk_assets.definitions")
    show = ("-h", "127.0.0.1", "-p", str(web), "-w", str(workspace))
    with (
        process(tmp_path / "code.txt", environment, str(bin_folder / "dagster"), *serve) as server,
        process(tmp_path / "web.txt", environment, str(bin_folder / "dagster-webserver"), *show) as pages,
        process(
            tmp_path / "daemon.txt",
            environment,
            str(bin_folder / "dagster-daemon"),
            "run",
            "-w",
            str(workspace),
        ),
    ):
        wait_for(code, server, PATIENCE)
        wait_for(web, pages, PATIENCE)
        repository = until(lambda: repositories(web), "loading the code location")[0]
        run_id = launch(web, repository)
        final = until(lambda: over(web, run_id), "the run")
    assert final == "SUCCESS", (tmp_path / "code.txt").read_text()[-2000:]
    for table in TABLES:
        assert list((home / "tables" / table).rglob("*.parquet"))
    assert (run_id, "SUCCESS") in runs_in(url)  # the sensor may have asked for others by now
    assert list(folder.rglob("*.db")) == []


def repositories(port: int) -> list[str]:
    found = ask(port, READY)["repositoriesOrError"]
    return [node["name"] for node in found.get("nodes", [])]


def launch(port: int, repository: str) -> str:
    params = {
        "selector": {
            "repositoryName": repository,
            "repositoryLocationName": "chunk_assets",
            "jobName": "ingest_notes",
        },
        "mode": "default",
        "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in TAGS.items()]},
    }
    answer = ask(port, LAUNCH, params=params)["launchPipelineExecution"]
    assert answer["__typename"] == "LaunchRunSuccess", answer
    return str(answer["run"]["runId"])


def over(port: int, run_id: str) -> str:
    status = ask(port, STATUS, id=run_id)["runOrError"]["status"]
    return status if status in {"SUCCESS", "FAILURE", "CANCELED"} else ""


def runs_in(url: str) -> list[tuple[str, str]]:
    import psycopg2

    connection = psycopg2.connect(url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("select run_id, status from runs order by 1")
            return [(run_id, status) for run_id, status in cursor.fetchall()]
    finally:
        connection.close()
