"""The documentation says what the code does: the reference is written from it, links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from chunk_assets.catalog import models
from chunk_assets.checks import CHECKS
from chunk_assets.cli import COMMANDS
from chunk_assets.strategies import STRATEGIES

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def reference(root: Path) -> str:
    return root.joinpath("docs/reference.md").read_text()


def test_the_reference_page_is_what_the_code_writes(root: Path, reference: str) -> None:
    script = (
        "import sys; sys.path.insert(0, 'docs'); import make_reference as m; sys.stdout.write(m.reference())"
    )
    written = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    )
    assert written.stdout == reference, "run: python docs/make_reference.py"


def test_every_command_strategy_check_and_setting_is_named(reference: str) -> None:
    names = [*COMMANDS, *STRATEGIES, *CHECKS, *models.Source.model_fields, *models.Catalog.model_fields]
    assert [
        name
        for name in names
        if name != "home" and f"`{name}`" not in reference and f" {name}`" not in reference
    ] == []


def test_links_between_pages_lead_to_files(root: Path) -> None:
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("data/*.md")]
    broken = [
        f"{page.name}: {link}"
        for page in pages
        for link in LINK.findall(page.read_text())
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_no_page_names_a_registry_host(root: Path) -> None:
    hosts = re.compile(r"pypi\.org|pythonhosted|registry\.npmjs|deb\.debian")
    names = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("*.lock"), *root.glob("*.toml")]
    assert [name.name for name in names if hosts.search(name.read_text())] == []
