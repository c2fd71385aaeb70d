"""A home in an object store: the same tables, one writer at a time, and nothing half done is ever seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chunk_assets.catalog import load_catalog
from chunk_assets.catalog.origin import local_home
from tests.cluster import s3_home as s3
from tests.cluster.s3_server import Proxy


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Proxy) -> Path:
    """A working folder of this test's own; another machine is another folder."""
    monkeypatch.setenv("CHUNK_ASSETS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def another_machine(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("CHUNK_ASSETS_CACHE", str(folder))


def test_a_home_in_a_bucket_and_one_on_a_disk_have_the_same_bytes(tmp_path: Path) -> None:
    url = s3.make("same")
    disk = s3.on_disk(tmp_path / "disk")
    assert s3.run(url).errors == ()
    assert s3.run(disk).errors == ()
    assert s3.published("same") == s3.of_folder(disk)
    assert s3.of_folder(Path(local_home(url))) == s3.of_folder(disk)
