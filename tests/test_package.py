"""The wheel: it builds, holds what it needs, and works without a repository or a development tool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

DATA = ("py.typed", "report/page.html", "report/page.css", "report/page.js", "defs/dagster.yaml")
CODE_AND_DATA = (".py", ".html", ".css", ".js", ".yaml", ".typed")
# Tools that a user does not install; the package must not import them.
DEVELOPMENT = ("pytest", "ruff", "mypy", "hypothesis", "mkdocs", "playwright", "build", "hatchling")
# Finds everything that is installed here but the editable package itself and the development tools.
SITE = """\
import importlib.abc, sys
sys.path.append({packages!r})

class Refused(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {development!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refused())
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    arguments = ("-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(root))
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment with the wheel in it; dependencies are those installed here."""
    folder = tmp_path_factory.mktemp("environment") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin/python"
    site = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    )
    arguments = (
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    )
    subprocess.run([sys.executable, *arguments], check=True, env=_plain())
    (site / "sitecustomize.py").write_text(
        SITE.format(packages=sysconfig.get_path("purelib"), development=DEVELOPMENT)
    )
    return python


def _plain() -> dict[str, str]:
    dropped = ("PYTHON", "CHUNK", "DAGSTER", "PIP")
    return {key: value for key, value in os.environ.items() if not key.startswith(dropped)}


def call(python: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *arguments], cwd=cwd, env=_plain(), capture_output=True, text=True, timeout=240, check=False
    )


def test_the_wheel_holds_the_whole_package_and_nothing_else(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"chunk_assets/{name}" for name in DATA} <= names
    found = (path for path in root.glob("chunk_assets/**/*") if path.name.endswith(CODE_AND_DATA))
    sources = {path.relative_to(root).as_posix() for path in found}
    assert sources <= names
    others = {name.partition("/")[0] for name in names} - {"chunk_assets"}
    assert all(name.endswith(".dist-info") for name in others)
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(entry).decode())
        licences = [name for name in archive.namelist() if "/licenses/" in name]
        points = archive.read(entry.replace("METADATA", "entry_points.txt")).decode()
    assert metadata["License-Expression"] == "Apache-2.0"
    assert {Path(name).name for name in licences} == {"LICENSE", "NOTICE"}
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "chunk-assets = chunk_assets.cli:main" in points


def test_init_run_and_search_work_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    where = call(installed, tmp_path, "-c", "import chunk_assets; print(chunk_assets.__file__)")
    assert str(installed.parent.parent) in where.stdout, where.stdout + where.stderr
    assert call(installed, tmp_path, "-m", "chunk_assets", "init", "project").returncode == 0
    catalog = tmp_path / "project/sources.yaml"
    catalog.write_text(catalog.read_text().replace("bge_small", "static"))
    run = call(installed, tmp_path, "-m", "chunk_assets", "run", "--home", "project", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["chunks"] >= 2
    question = ("search", "--home", "project", "--json", "When does the reading room open?")
    hits = json.loads(call(installed, tmp_path, "-m", "chunk_assets", *question).stdout)["hits"]
    assert "open from nine to five" in hits[0]["text"]
    report = call(installed, tmp_path, "-m", "chunk_assets", "report", "--home", "project", "--quiet")
    assert (report.returncode, report.stdout) == (0, ""), report.stderr


def test_dagster_finds_the_definitions_in_a_new_project(installed: Path, tmp_path: Path) -> None:
    assert call(installed, tmp_path, "-m", "chunk_assets", "init", "project").returncode == 0
    code = (
        "import os; os.environ['CHUNK_ASSETS_HOME'] = 'project'\n"
        "from dagster._core.workspace.load_target import WorkspaceFileTarget\n"
        "(origin,) = WorkspaceFileTarget(paths=['project/workspace.yaml']).create_origins()\n"
        "assert origin.loadable_target_origin.module_name == 'chunk_assets.definitions'\n"
        "from chunk_assets.definitions import defs\n"
        "keys = sorted(key.to_user_string() for key in defs.resolve_asset_graph().get_all_asset_keys())\n"
        "print([key for key in keys if key.startswith('documents/')])\n"
    )
    done = call(installed, tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    for name in ("raw_documents", "markdown_documents", "chunks", "embeddings"):
        assert f"'documents/{name}'" in done.stdout
