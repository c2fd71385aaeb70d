"""A small home and its Dagster instance, whose empty databases are made once and copied."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from chunk_assets.defs.home import INSTANCE_FOLDER, open_instance
from tests.alerts.receiver import receiving
from tests.doors.conftest import make_home

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import dagster as dg

    from tests.alerts.receiver import Receiver


@pytest.fixture(scope="session")
def empty_instance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Dagster folder of a home in which nothing was run."""
    home = tmp_path_factory.mktemp("empty")
    with open_instance(home) as instance:
        instance.get_runs_count()
    return home / INSTANCE_FOLDER


@pytest.fixture
def home(tmp_path: Path, empty_instance: Path) -> Path:
    """Two sources, nothing run."""
    folder = make_home(tmp_path / "home")
    shutil.copytree(empty_instance, folder / INSTANCE_FOLDER)
    return folder


@pytest.fixture
def instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of ``home``."""
    with open_instance(home) as opened:
        yield opened


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Hears what the alerts sensor tells."""
    with receiving() as server:
        monkeypatch.setenv("CHUNK_ASSETS_ALERT_WEBHOOK", server.url)
        yield server
