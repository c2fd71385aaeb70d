"""The contract of the shelf: every strategy keeps every promise on any text with any setting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chunk_assets.chunking import ChunkingStrategy, chunk_markdown, strategy
from chunk_assets.errors import ConfigurationError
from chunk_assets.strategies import STRATEGIES
from tests.strategies.markdown_texts import markdown_texts
from tests.strategies.promises import check_all, check_spans

pytestmark = pytest.mark.parametrize("name", sorted(STRATEGIES))
quick = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def token_sizes(draw: st.DrawFn) -> dict[str, int]:
    size = draw(st.integers(4, 90))
    found = {draw(st.sampled_from(("max_tokens", "max_tokens", "target_tokens"))): size}
    if draw(st.booleans()):
        found["overlap_tokens"] = draw(st.integers(0, size - 1))
    if draw(st.booleans()):
        found["min_tokens"] = draw(st.integers(0, size))
    return found


@st.composite
def char_sizes(draw: st.DrawFn) -> dict[str, int]:
    size = draw(st.integers(20, 300))
    found = {"max_chars": size}
    if draw(st.booleans()):
        found["overlap_chars"] = draw(st.integers(0, size - 1))
    return found


@given(markdown=markdown_texts(), sizes=token_sizes() | char_sizes(), most=st.sampled_from((24, 64, 512)))
@example(markdown="", sizes={"max_tokens": 4}, most=512)
@example(markdown=" \n\t\f\n ", sizes={"max_tokens": 4}, most=512)
@example(markdown="One.  \u0301Two three \u0302four. दो।\u200dतीन", sizes={"max_tokens": 4}, most=512)
@quick
def test_every_promise_is_kept_on_any_text(
    name: str, markdown: str, sizes: dict[str, int], most: int
) -> None:
    chosen = strategy(name, sizes)
    chunks = chunk_markdown(markdown, chosen, max_model_tokens=most)
    assert bool(chunks) == bool(markdown.strip())
    check_all(markdown, chunks, chosen, most)
    assert chunk_markdown(markdown, chosen, max_model_tokens=most) == chunks


@given(markdown=markdown_texts())
@settings(quick, max_examples=25)
def test_every_promise_is_kept_with_the_defaults(name: str, markdown: str) -> None:
    chosen = strategy(name)
    check_all(markdown, chunk_markdown(markdown, chosen), chosen, 512)


@given(markdown=markdown_texts(), size=st.integers(1, 6))
@settings(quick, max_examples=25)
def test_the_smallest_sizes_end_and_lose_nothing(name: str, markdown: str, size: int) -> None:
    for sizes in ({"max_tokens": size}, {"max_chars": size}, {"target_tokens": size}):
        check_spans(markdown, chunk_markdown(markdown, strategy(name, sizes), model_tokenizer=None))


@pytest.mark.parametrize(
    ("overlap", "size"), [("overlap_tokens", "max_tokens"), ("overlap_chars", "max_chars")]
)
@pytest.mark.parametrize("extra", [0, 1, 1000])
def test_an_overlap_as_large_as_the_chunk_is_refused(name: str, overlap: str, size: str, extra: int) -> None:
    with pytest.raises(ConfigurationError, match=rf"{overlap} {50 + extra}.*50"):
        strategy(name, {size: 50, overlap: 50 + extra})


def test_a_misspelled_parameter_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"'max_token'; known: .*max_tokens"):
        strategy(name, {"max_token": 50})


def test_a_negative_size_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"max_tokens: -5"):
        strategy(name, {"max_tokens": -5})


def test_the_fingerprint_follows_every_parameter(name: str) -> None:
    plain = strategy(name)
    assert plain.fingerprint == strategy(name).fingerprint
    changed: list[ChunkingStrategy] = [
        strategy(name, {"max_tokens": 77}),
        strategy(name, {"overlap_tokens": 3}),
    ]
    assert len({plain.fingerprint, *(chosen.fingerprint for chosen in changed)}) == 3


PROGRAM = """
import sys
from pathlib import Path
from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.hashing import fingerprint
text = open(sys.argv[2], encoding="utf-8").read()
chunks = chunk_markdown(text, strategy(sys.argv[1], {"max_tokens": 60, "overlap_tokens": 15}))
print(len(chunks), fingerprint({"chunks": [repr(chunk) for chunk in chunks]}))
"""


def test_two_processes_with_other_hash_seeds_agree(name: str, tmp_path: Path) -> None:
    sample = tmp_path / "sample.md"
    sample.write_text(SAMPLE, encoding="utf-8")
    said = set()
    for seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", PROGRAM, name, str(sample)]
        said.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(said) == 1
    assert int(said.pop().split()[0]) >= 3


SAMPLE = """# Report

Ferry traffic rose by 4.2 % in May. Nobody had planned for it. The quay was too small. Zoë wrote it down.

| Port | Ships |
|------|-------|
| Oban | 12    |
| Tain | 7     |

## Causes

1. The bridge was closed. It opened again in June.
2. Prices fell.

The board met twice, and each time it put the question off until the auditor had looked at the books, which
took until the end of the year. 船は朝に出た。夕方に帰った。

```
rate = 4.2
```
"""
