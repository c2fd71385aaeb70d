"""A stranger's first hour: the README's own code blocks, in order, on a clean copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Servers, installations and the project's own checks are other tests' business.
ELSEWHERE = ("make dev", "make check", "make test", "make bench", ".venv/bin/chunk-assets dev")


@dataclass(slots=True)
class Checkout:
    """A copy of the project as somebody else would clone it, beside the packages installed here."""

    root: Path

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("CHUNK")}
        return {**kept, "PYTHONPATH": str(self.root), "NO_COLOR": "1", "COLUMNS": "200"}

    def run(self, command: str, *, expect: tuple[int, ...] = (0,)) -> str:
        """What a shell line prints on standard output."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode in expect, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    if not (root / ".git").exists():
        pytest.skip("needs the repository, to copy what it holds and nothing else")
    target = tmp_path_factory.mktemp("stranger") / "chunk-assets"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
    install(target)
    # The smaller model that comes with the package: the same path in a tenth of the time.
    catalog = target / "data/sources.yaml"
    catalog.write_text(catalog.read_text().replace("name: bge_small", "name: static"))
    return Checkout(target)


def install(target: Path) -> None:
    """A .venv as the Makefile leaves it, made of the packages that are installed here."""
    folder = target / ".venv/bin"
    folder.mkdir(parents=True)
    for name, arguments in (("python", ""), ("chunk-assets", "-m chunk_assets")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        path.chmod(0o755)
    (target / ".venv/.installed").touch()


def lines(text: str) -> list[str]:
    """The commands of all shell blocks, in order."""
    found = []
    for language, body in BLOCK.findall(text):
        if language == "bash":
            found += [line.split("  #")[0].strip() for line in body.splitlines() if line.strip()]
    return found


@pytest.mark.slow
def test_the_readme_works_from_top_to_bottom(checkout: Checkout) -> None:
    readme = checkout.root.joinpath("README.md").read_text(encoding="utf-8")
    printed: dict[str, list[str]] = {}
    for line in lines(readme):
        if not line.startswith(ELSEWHERE):
            runs = line.startswith((".venv/bin/chunk-assets run",))
            output = checkout.run(line, expect=(0, 1) if runs else (0,))
            printed.setdefault(line.split(" --")[0].removeprefix(".venv/bin/chunk-assets "), []).append(
                output
            )
    assert "448" in printed["make demo"][0] or "chunks" in printed["make demo"][0]
    assert "annual_report_chunk_0000" in printed["preview data/samples/desk/annual_report.pdf"][0]
    added, changed = printed["plan"]
    assert re.search(r"desk/bucket-0\D+1 new\D+1\D", added), added
    assert "seed/bucket-0" in changed
    assert "policy" in changed or "strategy" in changed or "chunk" in changed
    assert "three full days" in printed['search "How long does a parcel stay in the locker?"'][0].lower()
    assert "what they claim to be" in printed["verify"][0]
    assert (checkout.root / "data/reports/seed.html").stat().st_size > 50_000
    assert (checkout.root / "my-project/tables/embeddings").is_dir()


@pytest.mark.slow
def test_the_python_of_the_readme_runs_on_its_tables(checkout: Checkout) -> None:
    readme = checkout.root.joinpath("README.md").read_text(encoding="utf-8")
    blocks = [body for language, body in BLOCK.findall(readme) if language == "python"]
    assert len(blocks) == 2
    if not (checkout.root / "data/tables").is_dir():
        checkout.run("make demo")
    for body in blocks:
        (checkout.root / "example.py").write_text(body)
        checkout.run(f"{sys.executable} -W error example.py")


@pytest.mark.slow
def test_a_second_run_has_nothing_to_do_and_git_sees_no_output(checkout: Checkout) -> None:
    if not (checkout.root / "data/tables").is_dir():
        checkout.run("make demo")
    assert "Nothing to do" in checkout.run(".venv/bin/chunk-assets run", expect=(1,))
    checkout.run(
        "git init -q . && git add -A && git -c user.name=n -c user.email=e@example.org commit -qm all"
    )
    committed = checkout.run("git ls-files").split("\n")
    outputs = ("data/tables", "data/vectors", "data/staging", "data/state", "data/locks", "data/reports")
    assert [name for name in committed if name.startswith((*outputs, "my-project/tables", ".venv"))] == []
