"""The report as a person sees it, in a headless Chromium: bands, keys, search, filters, hostile text."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from chunk_assets.api import run
from tests.doors.conftest import call
from tests.report.conftest import ROWS, Seen, look, report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

# Of each band: the indexes of its chunks and its text.
BANDS = "[...document.querySelectorAll('#text span')].map(s => [s.dataset.chunks, s.textContent])"
STEPS = """() => {
  document.activeElement.blur();
  const started = performance.now();
  for (let i = 0; i < 50; i++) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true}));
    document.getElementById("text").getBoundingClientRect();
  }
  return performance.now() - started;
}"""


@pytest.fixture(scope="module")
def everything(reported: Path) -> Path:
    return report(reported)


def published(home: Path, source: str) -> list[dict[str, Any]]:
    path = home / f"tables/chunks/source={source}/slice=bucket-0/part-0.parquet"
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


@pytest.mark.parametrize("document", ["manual.md", "evil.md", "stock.csv"])
def test_the_bands_are_exactly_the_published_chunks(
    window: Seen, everything: Path, reported: Path, document: str
) -> None:
    page = window.open(everything)
    window.choose(document)
    texts: dict[int, str] = {}
    for inside, text in page.evaluate(BANDS):
        for index in map(int, inside.split()):
            texts[index] = texts.get(index, "") + text
    source = "store" if document == "stock.csv" else "desk"
    rows = [row for row in published(reported, source) if row["document_id"].endswith(document)]
    assert [texts[row["chunk_index"]] for row in rows] == [row["text"] for row in rows]
    assert len(texts) == len(rows)


def test_a_hostile_document_is_shown_and_runs_nothing(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    window.choose("evil.md")
    for _ in range(2):
        page.keyboard.press("j")
    page.click("#outline button")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("a").count() == 0
    assert page.locator("script").count() == 2
    shown = page.locator("#text").evaluate("e => e.textContent")
    assert "</script><script>window.hacked=1</script>" in shown
    assert "@DATA@, @SCRIPT@ and @TITLE@" in shown


def test_a_script_put_into_the_page_would_not_run_either(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.hacked = 1';"
        " document.body.append(s); }"
    )
    assert page.evaluate("window.hacked") is None
    assert len(window.errors) == 1
    assert "Content Security Policy" in window.errors.pop()


def test_details_of_a_chunk_are_its_row(window: Seen, everything: Path, reported: Path) -> None:
    page = window.open(everything)
    window.choose("evil.md")
    page.locator("#text span", has_text="It ends here").click()
    row = next(row for row in published(reported, "desk") if "It ends here" in row["text"])
    details = page.inner_text("#details")
    for text in (
        row["chunk_id"],
        row["chunk_sha256"],
        f"{row['token_count']} in the text",
        f"{row['model_token_count']} of 512",
        f"{row['start_char']} to {row['end_char']}",
        row["heading_path"][-1],
        f"{row['split_reason']}: the document ends here",
        row["strategy"],
    ):
        assert text in details
    assert row["context"].strip() in page.inner_text("#details .context")


def test_keys_step_through_chunks_and_documents(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    window.choose("manual.md")
    page.evaluate("document.activeElement.blur()")
    for key in "jjjk":
        page.keyboard.press(key)
    assert page.inner_text("#details h2 >> nth=0").lower() == "chunk 2 of 12"
    assert page.locator("#text .on").count() > 0
    page.keyboard.press("n")
    assert page.evaluate("shown().id").endswith("torn.pdf")
    page.keyboard.press("p")
    assert page.evaluate("shown().id").endswith("manual.md")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"


def test_a_search_marks_places_and_goes_on_into_other_documents(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    window.choose("manual.md")
    page.fill("#search", "valve of step 7")
    assert page.inner_text("#count") == "1 of 12 chunks"
    assert "step 7 is turned" in page.inner_text("#text .on >> nth=0")
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)") == ["valve of step 7"]
    assert page.locator("#text .dim").count() >= 11
    page.fill("#search", "Note 77 tells")
    assert page.inner_text("#count") == "0 of 12 chunks, 1 in other documents"
    page.press("#search", "Enter")
    assert page.evaluate("shown().id").endswith("stock.csv")
    assert "Note 77 tells" in page.inner_text("#text .on >> nth=0")
    page.press("#search", "Escape")
    page.keyboard.press("Escape")
    assert page.inner_text("#count") == f"{ROWS} of {ROWS} chunks"


def test_a_search_for_signs_of_regular_expressions_is_a_search_for_these_signs(
    window: Seen, everything: Path
) -> None:
    page = window.open(everything)
    window.choose("evil.md")
    page.fill("#search", "[link](javascript")
    assert page.inner_text("#count").startswith("1 of 2 chunks")
    page.fill("#search", "😀 THE SMILE")
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)") == ["😀 the smile"]


def test_filters_count_faults_and_leave_only_them_bright(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    labels = page.evaluate("[...document.querySelectorAll('#filter option')].map(o => o.textContent)")
    assert "over the embedder's limit (0)" in labels
    window.choose("manual.md")
    page.select_option("#filter", "table")
    assert page.inner_text("#count") == f"0 of 12 chunks, {ROWS} in other documents"
    assert page.locator("#text .s:not(.dim)").count() == 0


def test_a_document_that_failed_says_why(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    window.choose("torn.pdf")
    assert "torn.pdf: broken: " in page.inner_text("#state.bad")
    assert "no chunks" in page.inner_text("#details")


def test_two_policies_stand_side_by_side_with_moved_starts_marked(window: Seen, reported: Path) -> None:
    path = report(reported, "desk__manual.md", "--compare", "sentence_window")
    page = window.open(path)
    assert page.evaluate("documents.length") == 1
    assert page.inner_text("#text-head").startswith("published: 12 chunks, 11 starts not kept")
    assert page.inner_text("#other-head").startswith("sentence_window: ")
    assert page.locator("#text .moved").count() == 11
    assert page.locator("#text .start").count() == 1
    tops = page.evaluate("['text', 'other'].map(id => document.getElementById(id).scrollHeight)")
    assert tops[0] == tops[1], "both columns wrap alike, so that they can scroll as one"


def test_the_map_opens_the_chunk_of_a_point(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    window.choose("manual.md")
    page.evaluate("dots.get('desk__evil.md_chunk_0001').dispatchEvent(new MouseEvent('click'))")
    assert page.evaluate("[shown().id, state.chunk]") == ["desk__evil.md", 1]
    assert page.locator("#legend li").count() == 2


def test_a_thousand_chunks_step_without_lag(window: Seen, everything: Path) -> None:
    page = window.open(everything)
    window.choose("stock.csv")
    assert page.evaluate("shown().chunks.length") == ROWS
    milliseconds = page.evaluate(STEPS)
    assert page.evaluate("state.chunk") == 49
    assert milliseconds < 10_000, milliseconds


def test_dark_and_light_follow_the_system_and_both_can_be_read(browser: Browser, everything: Path) -> None:
    contrast = """() => {
      const numbers = (c) => c.match(/\\d+/g).map(Number);
      const light = (c) => { const [r, g, b] = numbers(c); return .2126*r + .7152*g + .0722*b; };
      const of = (node) => getComputedStyle(node);
      const back = of(document.body).backgroundColor;
      return [light(back), ...[...document.querySelectorAll('#text .s')].slice(0, 8)
        .map((n) => Math.abs(light(of(n).color) - light(of(n).backgroundColor)))];
    }"""
    for scheme in ("light", "dark"):
        seen = look(browser, color_scheme=scheme)
        back, *differences = seen.open(everything).evaluate(contrast)
        assert (back > 200) == (scheme == "light")
        assert min(differences) > 100
        seen.page.close()


def test_a_narrow_window_still_shows_text_and_details(browser: Browser, everything: Path) -> None:
    page = look(browser).page
    page.set_viewport_size({"width": 600, "height": 800})
    page.goto(everything.as_uri())
    assert page.locator("#text").is_visible()
    assert page.locator("#details").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
    page.close()


@pytest.mark.parametrize(
    ("name", "documents"),
    [("", 4), ("desk", 3), ("store/bucket-0", 1), ("desk__manual.md", 1)],
    ids=["all", "source", "batch", "document"],
)
def test_a_page_is_written_for(window: Seen, reported: Path, name: str, documents: int) -> None:
    page = window.open(report(reported, *([name] if name else [])))
    assert page.evaluate("documents.length") == documents


def test_a_name_that_is_not_published_is_an_error_with_the_known_ones(reported: Path) -> None:
    called = call("report", "--home", str(reported), "nothing")
    assert called.code == 2
    assert "desk/bucket-0, store/bucket-0" in called.err


@pytest.fixture(scope="module")
def samples(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The seed samples with vectors that mean something."""
    home = tmp_path_factory.mktemp("pictured")
    shutil.copytree(root / "data/samples/seed", home / "seed", ignore=shutil.ignore_patterns("long_*"))
    (home / "sources.yaml").write_text("embedder: {name: static}\nsources: {seed: {path: seed}}\n")
    assert run(home).exit_code == 0
    return home


@pytest.mark.parametrize(
    ("name", "scheme", "arguments"),
    [
        ("report", "light", ()),
        ("report_dark", "dark", ()),
        ("report_compare", "light", ("--compare", "sentence_window")),
    ],
)
def test_a_picture_of_the_report_shows_a_chosen_chunk(
    browser: Browser, samples: Path, tmp_path: Path, name: str, scheme: Any, arguments: tuple[str, ...]
) -> None:
    folder = Path(os.environ.get("CHUNK_ASSETS_SCREENSHOTS", tmp_path))
    seen = look(browser, color_scheme=scheme)
    page = seen.open(report(samples, "seed", *arguments, "--out", str(tmp_path / "page.html")))
    seen.choose("short_faq.md")
    page.evaluate("document.activeElement.blur()")
    for _ in range(4):
        page.keyboard.press("j")
    assert page.locator("#text .on").first.is_visible()
    picture = page.screenshot(path=str(folder / f"{name}.png"))
    assert len(picture) > 40_000
    assert seen.errors == []
    page.close()
