"""Benchmarks run on a small size; how fast is for their reader to judge."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from benchmarks.conversion import has_row, plain
from benchmarks.harness import interleaved, ratio


@pytest.mark.slow
def test_conversion_runs_on_the_samples_and_compares(root):
    started = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.conversion", "--quick", "--json", "--corpus", "data/samples"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert time.perf_counter() - started < 120
    assert result["ratios"]["pdf speed over pypdfium2 (bare text)"] > 0
    assert result["ratios"]["xlsx speed over calamine (bare)"] > 0
    assert result["figures"]["docx: chunk-assets"]["cpu_seconds"] > 0
    assert set(result) == {"name", "ratios", "figures", "absent", "notes"}


def test_contenders_take_turns_and_the_first_turn_is_not_counted():
    order: list[str] = []
    ticks = iter(range(100))
    medians = interleaved(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")}, turns=2, clock=lambda: next(ticks)
    )
    assert order == ["a", "b"] * 3
    assert medians == {"a": 1, "b": 1}


def test_a_ratio_without_a_divisor_is_zero():
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(3.0, 0.0) == 0.0


def test_texts_are_compared_without_markup():
    assert plain("**Bold**  [Link](http://x.example) a\\_b<br>c") == "bold link a b c"
    assert has_row(plain("| 15000 | 20.9% |"), (("15000",), ("0.209", "20.9%")))
    assert not has_row("2 1", (("1",), ("2",)))
