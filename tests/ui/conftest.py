"""A home, its UI as ``chunk-assets dev`` starts it, and a headless browser."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.doors.conftest import TOPICS, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PATIENCE_MS = 180_000
LOCATION = "chunk_assets.definitions"
# Where docs/make_screenshots.py wants pictures of what the tests saw.
PICTURES = "CHUNK_ASSETS_SCREENSHOTS"
CATALOG = """\
embedder: {name: hash}
policies:
  wide: [{strategy: fixed, parameters: {max_chars: 20000, overlap_chars: 0}}]
sources:
  notes:
    path: notes
    description: What the people on duty wrote down.
    owners: ["team:operations"]
    slice: {by: bucket, count: 3}
    freshness: {within_hours: 2}
  leases:
    path: leases
    description: Cut over the embedder's bound on purpose.
    owners: ["team:legal"]
    max_tokens: 4000
    policy: wide
  letters:
    path: letters
    description: Looked at by its own schedule, every minute.
    schedule: {cron: "* * * * *"}
"""
SOURCES = ("notes", "leases", "letters")


@dataclass(frozen=True)
class Ui:
    """A running UI, and a page of a browser that looks at it."""

    home: Path
    address: str
    page: Page

    def open(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def picture(self, name: str) -> None:
        """Keeps what the page shows now, for the docs, when that is asked for."""
        if folder := os.environ.get(PICTURES):
            self.page.wait_for_timeout(1500)  # animations end
            self.page.screenshot(path=Path(folder, f"{name}.png"))


def write_documents(home: Path) -> None:
    """Three batches of notes with sections of all lengths, a lease that is cut too long, and a letter."""
    for number, topic in enumerate(TOPICS):
        sections = (
            f"## Part {part}\n\n"
            + " ".join(
                f"Step {step} of our work on {topic} is written down, and the person on duty signs it."
                for step in range(1, 2 + (part * part + 5 * number) % 23)
            )
            for part in range(1, 13 + 4 * number)
        )
        (home / "notes" / f"{topic}.md").write_text(f"# Notes on {topic}\n\n" + "\n\n".join(sections) + "\n")
    (home / "leases/warehouse.md").write_text(note("leases", 60))
    (home / "letters/answer.md").write_text(note("answers"))


def free_port() -> int:
    with closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def ask(address: str, query: str) -> dict[str, Any]:
    """One GraphQL query."""
    request = urllib.request.Request(
        f"{address}/graphql", json.dumps({"query": query}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        value: dict[str, Any] = json.load(answer)["data"]
    return value


@contextmanager
def dev_server(home: Path) -> Iterator[str]:
    """``chunk-assets dev`` on a free port, with its code loaded."""
    address = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "chunk_assets", "dev", "--home", str(home), "--port", str(port)]
    with (home / "dev.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        wait_until_loaded(address, process, home / "dev.log")
        yield address
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all that it started in its group, the polite way first."""
    os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(30)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until_loaded(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            if ask(address, "{repositoriesOrError {... on RepositoryConnection {nodes {name}}}}")[
                "repositoriesOrError"
            ].get("nodes"):
                return
        except OSError:
            pass
        time.sleep(1)
    pytest.fail(f"the UI did not start: {log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """An empty home in the UI; documents are written once nothing would start a run by itself."""
    if not CHROMIUM.exists():
        pytest.skip(f"needs a browser at {CHROMIUM}")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    home = tmp_path_factory.mktemp("ui") / "home"
    for source in SOURCES:
        (home / source).mkdir(parents=True)
    (home / "sources.yaml").write_text(CATALOG)
    with dev_server(home) as address, playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=str(CHROMIUM), args=list(QUIET))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE_MS)
        playwright.expect.set_options(timeout=PATIENCE_MS)
        yield Ui(home, address, page)
        browser.close()
