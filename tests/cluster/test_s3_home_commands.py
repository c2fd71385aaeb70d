"""The commands of a home in an object store: the same as of one on a disk, and DuckDB beside them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from chunk_assets.catalog.origin import local_home
from tests.cluster import s3_home as s3
from tests.cluster.s3_server import Proxy
from tests.doors.conftest import call

ONE = {"n0.md": "# Badges\n\nA guest badge may be used for one day. It is handed back at noon.\n"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Proxy) -> Path:
    monkeypatch.setenv("CHUNK_ASSETS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_every_command_works_on_a_home_in_a_bucket(cache: Path, tmp_path: Path) -> None:
    url = s3.make("commands", ONE)
    ran = call("run", "--home", url, "--json", "--workers", "1")
    assert ran.code == 0, ran.err
    assert ran.json["documents"] == {"ok": 1}
    refused = call("init", url)
    assert (refused.code, "copy what it wrote" in refused.err) == (2, True)
    shutil.rmtree(cache)  # another machine
    page = tmp_path / "page.md"
    page.write_text("One sentence. Another one.")
    assert call("preview", "--home", url, "--json", str(page)).code == 0
    assert (Path(local_home(url)) / "sources.yaml").is_file()
    assert call("run", "--home", url, "--json").json["runs"] == 0
    assert call("status", "--home", url, "--json").json["batches"][0]["state"] == "current"
    hits = call("search", "--home", url, "--json", "How long may a guest badge be used?").json["hits"]
    assert "one day" in hits[0]["text"]
    assert call("verify", "--home", url, "--json").json["ok"]
    plan = call("plan", "--home", url, "--json").json
    assert (plan["convert"], plan["texts_to_embed"]) == (0, 0)
    assert call("prune", "--home", url, "--json").json["vectors"] == 0
    report = call("report", "--home", url, "--json", "docs")
    assert report.code == 0, report.err
    doctor = call("doctor", "--home", url, "--json").json["findings"]
    assert [finding["ok"] for finding in doctor if url in finding["what"]] == [True, True]
    refused = call("versions", "create", "--home", url, "next")
    assert (refused.code, "prefix of its own" in refused.err) == (2, True)


def test_duckdb_reads_the_list_of_one_version_while_another_one_is_made() -> None:
    duckdb = pytest.importorskip("duckdb")
    import s3fs

    url = s3.make("duckdb", ONE)
    s3.run(url)
    old = call("files", "--home", url, "chunks", "--json").json["files"]
    s3.put("duckdb", {"n0.md": "# Badges\n\nA guest badge is for two days.\n"})
    s3.run(url)
    new = call("files", "--home", url, "chunks").out.split()
    connection = duckdb.connect()
    connection.register_filesystem(s3fs.S3FileSystem())
    texts = [
        " ".join(
            text for (text,) in connection.execute("select text from read_parquet(?)", [names]).fetchall()
        )
        for names in (old, new)
    ]
    assert "one day" in texts[0]
    assert "two days" in texts[1]
    assert all(name.startswith(f"{url}/tables/chunks/source=docs/slice=bucket-") for name in old + new)
    disk = local_home(url)
    assert call("files", "--home", disk, "chunks").out.split() == new


RUN = """
import sys
from chunk_assets.catalog import load_catalog
from chunk_assets.pipeline import RunOptions, run_sources
print(run_sources(load_catalog(sys.argv[1]), options=RunOptions(workers=1)).errors)
"""


def test_a_run_killed_between_its_uploads_and_its_commit_changes_nothing_and_is_made_up_for(
    store: Proxy, tmp_path: Path
) -> None:
    url = s3.make("killed", ONE)
    s3.run(url)
    before = s3.published("killed")
    s3.put("killed", {"n0.md": "# Badges\n\nA guest badge is for two days.\n"})
    reached: list[float] = []

    def hold(proxy: Proxy, method: str, path: str) -> str:
        if method == "PUT" and "_manifest" in path:
            reached.append(time.monotonic())
            return "hang"
        return ""

    store.fault = hold
    environment: dict[str, Any] = os.environ | {"CHUNK_ASSETS_CACHE": str(tmp_path / "other")}
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", RUN, url], env=environment)
    end = time.monotonic() + 120
    while not reached and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    store.reset()
    assert reached
    uploaded = set(s3.keys("killed", "tables/chunks/"))
    assert len(uploaded) == 2
    assert s3.published("killed") == before
    time.sleep(3.2)  # the lock of the dead run lives for two seconds, and the store's clock counts whole ones
    report = s3.run(url)
    assert (report.errors, report.embedded) == ((), 0)
    assert s3.published("killed") != before
    assert set(s3.keys("killed", "tables/chunks/")) == uploaded
