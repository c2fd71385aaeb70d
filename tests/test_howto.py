"""The how-to pages, followed to the letter in a copy: files written, lines changed, commands run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = ("add_strategy", "add_converter", "add_embedder", "add_check")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
COPIED = ("chunk_assets", "tests", "docs", "data/samples/seed", "pyproject.toml")


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """What the pages touch and run, without caches."""
    for name in COPIED:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (root / name).is_dir():
            shutil.copytree(root / name, target, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
        else:
            shutil.copy(root / name, target)
    return tmp_path


def apply(text: str, diff: str) -> str:
    """``text`` with a page's diff in it; the old lines have to be there exactly once."""
    lines = diff.rstrip("\n").split("\n")
    old = "\n".join(line[1:] for line in lines if line[0] in " -")
    new = "\n".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"{text.count(old)} places look like this:\n{old}"
    return text.replace(old, new)


def follow(page: str, folder: Path) -> list[str]:
    """Does what a page says; the output of each of its commands."""
    outputs = []
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
    }
    for language, title, body in BLOCK.findall(page):
        if language == "python":
            (folder / title).write_text(body, encoding="utf-8")
        elif language == "diff":
            path = folder / title
            path.write_text(apply(path.read_text(encoding="utf-8"), body), encoding="utf-8")
        elif language == "bash":
            done = subprocess.run(
                ["bash", "-euc", body],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{body}{done.stdout}{done.stderr}"
            outputs.append(done.stdout)
    return outputs


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_how_to_page_works_as_it_is_written(root: Path, copy: Path, name: str) -> None:
    page = root.joinpath(f"docs/howto/{name}.md").read_text(encoding="utf-8")
    outputs = follow(page, copy)
    passed = [int(number) for output in outputs for number in re.findall(r"(\d+) passed", output)]
    assert passed
    assert passed[0] >= 5, "the contract suite hardly looked at the new plug-in"
    added = re.search(r'title="chunk_assets/\w+/(\w+)\.py"', page)
    assert added is not None
    if name == "add_converter":
        assert '"markdown": "Good evening.\\n"' in outputs[1]
    else:
        assert f"`{added[1]}`" in (copy / "docs/reference.md").read_text()


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_how_to_page_is_as_clean_as_ours(root: Path, tmp_path: Path, name: str) -> None:
    page = root.joinpath(f"docs/howto/{name}.md").read_text(encoding="utf-8")
    for language, title, body in BLOCK.findall(page):
        if language == "python":
            path = tmp_path / title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
            for action in ("check", "format --check"):
                done = subprocess.run(
                    [
                        sys.executable,
                        "-m",
                        "ruff",
                        *action.split(),
                        "--config",
                        str(root / "pyproject.toml"),
                        str(path),
                    ],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert done.returncode == 0, done.stdout
