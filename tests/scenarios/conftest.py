"""Fixtures of the scenarios; ``homes`` says what a home is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import CATALOG, Home

from chunk_assets.compute import WorkerPool


@pytest.fixture(scope="session")
def executor() -> Iterator[WorkerPool]:
    with WorkerPool(1) as pool:
        yield pool


@pytest.fixture
def home(tmp_path: Path, executor: WorkerPool) -> Home:
    found = Home(tmp_path, executor)
    found.catalog(CATALOG)
    found.docs.mkdir()
    return found
