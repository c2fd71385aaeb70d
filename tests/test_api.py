"""The Python API: five names, and every example that is written about them."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chunk_assets
from chunk_assets import api
from chunk_assets.chunking import embedder_text
from chunk_assets.errors import ChunkAssetsError, ConfigurationError
from tests.doors.conftest import make_home, note

NAMES = ("load_catalog", "convert", "chunk", "embed", "run")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_package_offers_exactly_five_names() -> None:
    assert sorted(api.__all__) == sorted(NAMES)
    assert sorted(set(chunk_assets.__all__) - {"__version__"}) == sorted(NAMES)
    for name in NAMES:
        assert getattr(chunk_assets, name) is getattr(api, name)
        assert inspect.getdoc(getattr(api, name))
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        chunk_assets.magic  # noqa: B018 - the access is what is tested


def test_the_examples_in_the_docstrings_are_true() -> None:
    found = doctest.testmod(api)
    assert found.failed == 0
    assert found.attempted >= 3


def test_the_examples_of_the_page_run_in_order(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.md").write_text(note("valves", paragraphs=2))
    (tmp_path / "my-project/documents").mkdir(parents=True)
    (tmp_path / "my-project/documents/note.md").write_text(note("pumps", paragraphs=2))
    (tmp_path / "my-project/sources.yaml").write_text("sources: {documents: {path: documents}}\n")
    names: dict[str, object] = {}
    for block in PYTHON.findall(root.joinpath("docs/python.md").read_text()):
        exec(compile(block, "docs/python.md", "exec"), names)
    printed = capsys.readouterr().out
    assert printed.startswith("ok  ")
    assert "['documents'] bge_small" in printed
    assert "report_chunk_0000" in printed


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, chunk_assets, chunk_assets.api\n"
        "print([m for m in ('dagster', 'pyarrow', 'onnxruntime', 'pandas', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_bytes_and_paths_convert_alike_and_bad_input_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "terms.md"
    path.write_text("# Terms\n\nPay in 30 days.\n")
    assert api.convert(path) == api.convert(path.read_bytes(), "terms.md")
    broken = api.convert(b"%PDF-1.4 torn", "torn.pdf")
    assert (broken.status, broken.markdown) == ("broken", "")
    assert broken.reason


def test_policies_by_name_and_by_rules_give_the_same_chunks() -> None:
    text = note("leases")
    rules = [{"strategy": "sentence_window", "parameters": {"target_tokens": 500, "overlap_tokens": 100}}]
    named = api.chunk(text, policy="sentence_window", document_id="d")
    ruled = api.chunk(text, policy=rules, document_id="d")
    assert [c.span.text for c in named] == [c.span.text for c in ruled]
    assert [c.chunk_id for c in named] == [f"d_chunk_{i:04d}" for i in range(len(named))]
    with pytest.raises(ConfigurationError, match="unknown policy 'magic'"):
        api.chunk(text, policy="magic")


def test_a_text_that_is_too_long_for_the_model_is_refused_not_truncated() -> None:
    with pytest.raises(ChunkAssetsError, match=r"text 1: \d+ tokens .* at most 512"):
        api.embed(["short", "word " * 600], embedder="hash")


def test_a_run_reports_and_a_wrong_source_is_named(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    first = api.run(home, sources=["notes"], workers=1)
    assert first.exit_code == 0
    assert first.embedded > 0
    assert api.run(api.load_catalog(home), sources=["notes"]).embedded == 0
    with pytest.raises(ConfigurationError, match="'nowhere'; known: filings, notes"):
        api.run(home, sources=["nowhere"])


def test_a_chunk_is_embedded_as_the_pipeline_embeds_it() -> None:
    text = "# Terms\n\n" + "".join(f"Invoice {n} is due in 30 days.\n\n" for n in range(80))
    chunks = api.chunk(text, policy="auto", document_id="d")
    assert chunks[-1].span.context
    spelled_out = [embedder_text(c.span.context, c.span.text) for c in chunks]
    assert (api.embed(chunks, embedder="hash") == api.embed(spelled_out, embedder="hash")).all()
    assert len(api.embed([], embedder="hash")) == 0
