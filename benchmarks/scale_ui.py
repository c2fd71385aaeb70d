"""What the web server needs for the page of an asset with many batches, and to launch runs on them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.scale_homes import bucketed

PATIENCE_SECONDS = 240
TABLES = ("raw_documents", "markdown_documents", "chunks", "embeddings")
# What the page of an asset asks for when it shows its batches.
PAGE = """{assetNodeOrError(assetKey: {path: ["s0", "chunks"]}) {... on AssetNode {
  partitionStats {numMaterialized numPartitions numFailed}
  partitionKeysByDimension {name partitionKeys}
  assetPartitionStatuses {... on DefaultPartitionStatuses {
    materializedPartitions failedPartitions materializingPartitions unmaterializedPartitions}}
  assetChecksOrError {... on AssetChecks {checks {name description blocking}}}}}}"""
READY = "{repositoriesOrError {... on RepositoryConnection {nodes {name}}}}"
LAUNCH = """mutation ($run: ExecutionParams!) {launchPipelineExecution(executionParams: $run) {__typename}}"""
BACKFILL = """mutation ($it: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $it) {__typename}}"""


def page_case(batches: int) -> dict[str, float]:
    """Processor and wall seconds of the web server (and its code server) with ``batches`` batches.

    Every batch is recorded as materialized. ``first`` is the first look at the page of an asset, which
    fills Dagster's cache, ``page`` a later one; ``launch`` is a run of one batch, ``backfill`` all of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        bucketed(home, 1, batches)
        materialize(home, batches)
        with web_server(home) as (address, process):
            figures = {"ready_mb": memory_mb(process)}
            for name, query, variables in (
                ("first", PAGE, {}),
                ("page", PAGE, {}),
                ("launch", LAUNCH, {"run": run_of("bucket-0")}),
                ("backfill", BACKFILL, {"it": backfill_of(batches)}),
            ):
                before, started = processor(process), time.perf_counter()
                answer = ask(address, query, variables)
                assert not failed(answer), answer
                figures[f"{name}_wall"] = time.perf_counter() - started
                figures[f"{name}_cpu"] = processor(process) - before
            figures["peak_mb"] = memory_mb(process)
    return {"cpu": figures["page_cpu"], **figures}


def failed(answer: dict[str, Any]) -> bool:
    """Whether a mutation did not succeed."""
    kinds = [value.get("__typename", "") for value in answer.values()]
    return any(kind and not kind.endswith("Success") for kind in kinds)


def materialize(home: Path, batches: int) -> None:
    """Records every batch of ``chunks`` as materialized, as if long ago."""
    import dagster as dg

    from chunk_assets.defs.home import open_instance

    key = dg.AssetKey(["s0", "chunks"])
    with open_instance(home) as instance:
        for number in range(batches):
            instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=f"bucket-{number}"))


def run_of(slice_key: str) -> dict[str, Any]:
    """One batch, as the button of the UI asks for it."""
    selector = {
        "repositoryLocationName": "chunk_assets.definitions",
        "repositoryName": "__repository__",
        "pipelineName": "ingest_s0",
    }
    tags = [{"key": "dagster/partition", "value": slice_key}]
    return {
        "selector": selector,
        "mode": "default",
        "runConfigData": {},
        "executionMetadata": {"tags": tags},
    }


def backfill_of(batches: int) -> dict[str, Any]:
    """All batches of all four assets."""
    keys = [{"path": ["s0", table]} for table in TABLES]
    return {"assetSelection": keys, "partitionNames": [f"bucket-{number}" for number in range(batches)]}


@contextmanager
def web_server(home: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """``dagster-webserver`` on a free port, with the code of the home loaded."""
    from chunk_assets.defs.home import instance_folder

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "CHUNK_ASSETS_HOME": str(home),
        "DAGSTER_HOME": str(instance_folder(home)),
    }
    command = [sys.executable, "-m", "dagster_webserver", "-m", "chunk_assets.definitions", "-p", str(port)]
    with (home / "web.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not loaded(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((home / "web.log").read_text()[-2000:])
            time.sleep(0.5)
        yield address, process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def loaded(address: str) -> bool:
    """Whether the server answers and its code is loaded."""
    try:
        return bool(ask(address, READY, {})["repositoriesOrError"].get("nodes"))
    except OSError:
        return False


def ask(address: str, query: str, variables: dict[str, Any]) -> dict[str, Any]:
    """One GraphQL request."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/graphql", body, headers)  # noqa: S310 - our own server
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 - the same
        value: dict[str, Any] = json.load(answer)
    if "data" not in value or value.get("errors"):
        raise RuntimeError(str(value)[:2000])
    data: dict[str, Any] = value["data"]
    return data


def processor(process: subprocess.Popen[bytes]) -> float:
    """Processor seconds of a process and all that it started, so far."""
    return sum(sum(one.cpu_times()[:2]) for one in family(process))


def memory_mb(process: subprocess.Popen[bytes]) -> float:
    """Resident memory of a process and all that it started."""
    return float(sum(one.memory_info().rss for one in family(process))) / 1e6


def family(process: subprocess.Popen[bytes]) -> list[Any]:
    """A process and its descendants."""
    import psutil

    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]
