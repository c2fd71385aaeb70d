"""A home with a hostile, a long, a damaged and two plain documents, and a headless Chromium to look at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chunk_assets.api import run
from tests.doors.conftest import call

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
ROWS = 1000
HOSTILE = (
    '# Evil </script><img src=x onerror="window.hacked=1">\n\n'
    "Before 😀 the smile 👩‍👩‍👧 and \u2028 a line separator. </script><script>window.hacked=1</script> "
    "[link](javascript:window.hacked=1) <svg onload=window.hacked=1> &lt;b&gt; stays as it is.\n\n"
    "## Next 🎈 part\n\nThe words @DATA@, @SCRIPT@ and @TITLE@ are text like any other. It ends here 🎉.\n"
)
CATALOG = """\
embedder: {name: hash}
sources:
  desk: {path: desk}
  store: {path: store}
"""
MANUAL = "# Manual\n\n" + "\n\n".join(
    f"## Step {n}\n\nThe valve of step {n} is turned by hand. The wheel goes round {n} times before noon."
    for n in range(1, 13)
)


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose tables are published."""
    home = tmp_path_factory.mktemp("reported")
    for folder in ("desk", "store"):
        (home / folder).mkdir()
    (home / "sources.yaml").write_text(CATALOG)
    (home / "desk/evil.md").write_text(HOSTILE, encoding="utf-8")
    (home / "desk/manual.md").write_text(MANUAL)
    (home / "desk/torn.pdf").write_bytes(b"%PDF-1.4 torn")
    rows = (f'{i},item {i},"Note {i} tells of a part of the store."' for i in range(ROWS))
    (home / "store/stock.csv").write_text("id,name,note\n" + "\n".join(rows) + "\n")
    assert run(home).exit_code in (0, 1)
    return home


def report(home: Path, *arguments: str) -> Path:
    """The page that ``chunk-assets report`` writes."""
    called = call("report", "--home", str(home), "--json", *arguments)
    assert called.code == 0, called.err
    return Path(called.json["report"])


@dataclass(slots=True)
class Seen:
    """An open page, and everything that went wrong or out of it."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: Path) -> Page:
        """Loads a file; what it asks for besides itself is a request."""
        self.page.goto(path.as_uri())
        return self.page

    def choose(self, document: str) -> None:
        """Shows the document whose id ends so."""
        value = self.page.evaluate(
            "end => [...document.querySelectorAll('#document option')]"
            ".find(o => o.textContent.split(' ')[0].endsWith(end)).value",
            document,
        )
        self.page.select_option("#document", value)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"needs a browser at {CHROMIUM}")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    with sync_api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=str(CHROMIUM), args=list(ARGUMENTS))
        yield chromium
        chromium.close()


def look(browser: Browser, **settings: Any) -> Seen:
    """A new window that takes down errors and requests."""
    page = browser.new_page(viewport={"width": 1360, "height": 820}, **settings)
    seen = Seen(page)
    page.on("console", lambda message: seen.errors.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("dialog", lambda dialog: (seen.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: seen.requests.append(request.url))
    return seen


@pytest.fixture
def window(browser: Browser) -> Iterator[Seen]:
    seen = look(browser)
    yield seen
    seen.page.close()
    assert seen.errors == []
    assert [url for url in seen.requests if not url.startswith("file://")] == []
