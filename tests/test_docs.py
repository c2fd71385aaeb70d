"""The documentation says what the code does: the reference is written from it, links lead somewhere."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest

from chunk_assets.catalog import Catalog, Source
from chunk_assets.checks import CHECKS
from chunk_assets.cli import COMMANDS
from chunk_assets.strategies import STRATEGIES

if TYPE_CHECKING:
    from pathlib import Path

ANCHOR = re.compile(r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)\)")
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
    names = [*COMMANDS, *STRATEGIES, *CHECKS, *Source.model_fields, *Catalog.model_fields]
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


def test_links_to_places_on_pages_lead_to_headings(root: Path) -> None:
    broken = []
    for page in root.glob("docs/**/*.md"):
        for target, anchor in ANCHOR.findall(page.read_text()):
            path = (page.parent / target) if target else page
            if path.suffix == ".md" and anchor not in anchors(path.read_text()):
                broken.append(f"{page.name}: {target}#{anchor}")
    assert broken == []


def anchors(text: str) -> set[str]:
    """The names that mkdocs gives to headings."""
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", plain, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_every_page_is_in_the_navigation(root: Path) -> None:
    listed = set(re.findall(r"[\w/-]+\.md", root.joinpath("mkdocs.yml").read_text()))
    pages = {page.relative_to(root / "docs").as_posix() for page in root.glob("docs/**/*.md")}
    assert pages == listed


def test_a_newcomer_finds_every_place_that_contributing_names(root: Path) -> None:
    text = root.joinpath("CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:chunk_assets|docs|tests|data|benchmarks)/[^`]*)`", text)
    assert len(named) > 12
    missing = [name for name in named if not list(root.glob(re.sub(r"<name>", "*", name.rstrip("/"))))]
    assert missing == []


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(root: Path, tmp_path: Path) -> None:
    built = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "site/reference/index.html").is_file()
    assert not list((tmp_path / "site").rglob("*.py"))


def test_every_command_that_the_pages_call_exists_with_its_options(root: Path) -> None:
    wrong = []
    for page in [*root.glob("*.md"), *root.glob("docs/**/*.md")]:
        if page.name == "CHANGELOG.md" or "adr" in page.parts:
            continue
        for line in re.findall(r"chunk-assets ([a-z]+[^\n`]*)", fenced(page.read_text())):
            words = line.split("#")[0].split()
            if words[0] in COMMANDS:
                known = options_of(words[0])
                used = [word.split("=")[0] for word in words[1:] if word.startswith("--")]
                wrong += [f"{page.name}: {words[0]} {option}" for option in used if option not in known]
            else:
                wrong.append(f"{page.name}: {words[0]}")
    assert wrong == []


def fenced(text: str) -> str:
    """What stands in code: blocks and spans."""
    return "\n".join(re.findall(r"^```bash.*?^```$|`chunk-assets [^`]+`", text, re.MULTILINE | re.DOTALL))


def options_of(name: str) -> set[str]:
    """The options of a command and of its subcommands."""
    command = importlib.import_module(f"chunk_assets.cli.{name}").command
    commands = [command, *(command.commands.values() if isinstance(command, click.Group) else [])]
    return {"--help", *(o for c in commands for p in c.params for o in [*p.opts, *p.secondary_opts])}


def test_no_page_names_a_registry_host(root: Path) -> None:
    parts = (("pypi", "org"), ("python", "hosted"), ("registry", "npmjs"), ("deb", "debian"))
    hosts = re.compile("|".join(rf"{first}\.?{second}" for first, second in parts))
    names = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("*.lock"), *root.glob("*.toml")]
    assert [name.name for name in names if hosts.search(name.read_text())] == []
