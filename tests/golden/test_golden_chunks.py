"""Golden chunks as a person can read them: the document with a ruler line before each chunk."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.policy import BUILT_IN
from chunk_assets.records import DocumentMetadata
from chunk_assets.strategies import STRATEGIES

HERE = Path(__file__).parent
TEXTS = sorted(HERE.glob("texts/*.md"))


@pytest.fixture(scope="module")
def pages(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_strategies", root / "docs" / "make_strategies.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(path: Path, drawn: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawn + "\n", encoding="utf-8")
        pytest.fail(f"rewrote {path.name}; read the diff, then run without --update-golden")
    assert path.read_text(encoding="utf-8") == drawn + "\n", f"{path.name}: --update-golden rewrites it"


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_no_border_of_a_strategy_has_moved(
    name: str, text: Path, pages: ModuleType, request: pytest.FixtureRequest
) -> None:
    markdown = text.read_text(encoding="utf-8")
    chunks = chunk_markdown(markdown, strategy(name, {"max_tokens": 120}))
    compare(HERE / "chunks" / f"{text.stem}.{name}.txt", pages.ruler(chunks), request)


@pytest.mark.parametrize("policy", sorted(BUILT_IN))
def test_no_border_of_a_policy_has_moved(
    policy: str, pages: ModuleType, request: pytest.FixtureRequest
) -> None:
    meta = DocumentMetadata(file_type="markdown", has_headings=True, has_clean_paragraphs=True)
    chunks = chunk_markdown(pages.SAMPLE, BUILT_IN[policy].choose(meta))
    compare(HERE / "chunks" / f"sample.policy-{policy}.txt", pages.ruler(chunks), request)


def test_there_is_no_golden_file_without_a_test() -> None:
    known = {f"{text.stem}.{name}.txt" for text in TEXTS for name in STRATEGIES}
    known |= {f"sample.policy-{policy}.txt" for policy in BUILT_IN}
    assert {path.name for path in (HERE / "chunks").iterdir()} == known


def test_the_page_of_strategies_is_what_its_script_writes(pages: ModuleType) -> None:
    assert pages.PAGE.read_text(encoding="utf-8") == pages.page(), "run python docs/make_strategies.py"
