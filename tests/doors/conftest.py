"""A small home of real files, and the command line as a person calls it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CATALOG = """\
embedder: {name: %(embedder)s}
sources:
  notes:
    path: notes
    default_metadata: {company: Alder & Finch Ltd}
  filings:
    path: filings
    id_template: "{cik}_{accession_number}"
    date: filing_date
    slice: {by: month, start: 2026-01}
"""
FILINGS = """\
file,cik,accession_number,filing_date,company
one.txt,0000000007,0000000007-26-000001,2026-01-15,Alder
two.html,0000000007,0000000007-26-000002,2026-02-15,Alder
"""
TOPICS = ("boilers", "leases", "grain", "turbines", "parking", "archives")


def note(topic: str, paragraphs: int = 4) -> str:
    """A short markdown document about one thing, different for each topic."""
    body = [
        f"## Part {n}\n\nOur work on {topic} in part {n} covers intake, storage and release. "
        f"Each of the {n + 2} steps for {topic} is written down. The person on duty signs it before noon."
        for n in range(1, paragraphs + 1)
    ]
    return f"# Notes on {topic}\n\n" + "\n\n".join(body) + "\n"


def make_home(folder: Path, embedder: str = "hash") -> Path:
    """A home with two sources, six notes in one batch and two filings in two."""
    (folder / "notes").mkdir(parents=True)
    (folder / "filings").mkdir()
    (folder / "sources.yaml").write_text(CATALOG % {"embedder": embedder})
    for topic in TOPICS:
        (folder / "notes" / f"{topic}.md").write_text(note(topic))
    (folder / "filings/metadata.csv").write_text(FILINGS)
    (folder / "filings/one.txt").write_text("Revenue rose to 12.4 million. Costs fell by 3 %. " * 20)
    table = "<table><tr><th>Year</th><th>Sales</th></tr><tr><td>2025</td><td>31</td></tr></table>"
    (folder / "filings/two.html").write_text(
        f"<html><body><h1>Report</h1><p>Sales grew.</p>{table}</body></html>"
    )
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@dataclass(frozen=True)
class Called:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.out)
        return value


def call(*arguments: str) -> Called:
    """Runs ``chunk-assets`` in this process, through its entry point."""
    from chunk_assets.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["chunk-assets", *arguments])
        patch.delenv("CHUNK_ASSETS_HOME", raising=False)
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    return Called(code, out.getvalue(), err.getvalue())


def call_elsewhere(*arguments: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Called:
    """Runs ``chunk-assets`` in a process of its own, with warnings as errors."""
    environment = {**os.environ, "PYTHONWARNINGS": "error", **(env or {})}
    environment.pop("CHUNK_ASSETS_HOME", None)
    done = subprocess.run(
        [sys.executable, "-m", "chunk_assets", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=cwd,
        timeout=240,
        check=False,
    )
    return Called(done.returncode, done.stdout, done.stderr)


def run(home: Path, *arguments: str) -> Called:
    """``chunk-assets run --json`` on a home."""
    return call("run", "--home", str(home), "--json", "--quiet", *arguments)


def digests(home: Path) -> dict[str, str]:
    """SHA-256 of every published table file, by path."""
    return {
        path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((home / "tables").rglob("*.parquet"))
    }


def written_at(home: Path) -> dict[str, int]:
    """When every published table file was written, in nanoseconds."""
    return {str(path): path.stat().st_mtime_ns for path in sorted((home / "tables").rglob("*.parquet"))}


def copy_home(home: Path, to: Path) -> Path:
    """Catalog and documents of a home, without its tables."""
    for name in ("notes", "filings"):
        shutil.copytree(home / name, to / name)
    shutil.copy(home / "sources.yaml", to / "sources.yaml")
    return to
