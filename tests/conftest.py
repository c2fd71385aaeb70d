"""Fixtures that every test file may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real files beside the checkout; the test skips when it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared folder at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root folder."""
    return ROOT


def pytest_addoption(parser: pytest.Parser) -> None:
    """Golden files are rewritten on request, and that run always fails so that it can't pass in CI."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files, then fail")
