"""The cases of the scale benchmark run on a small size."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.scale_runs import growth_case, parts


@pytest.mark.slow
def test_a_tick_over_nothing_new_is_measured(root):
    command = [sys.executable, "-m", "benchmarks.scale", "case", "tick", "200", "2", "4"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)
    assert figures["cpu"] > 0
    assert figures["peak_mb"] > 10


@pytest.mark.slow
def test_a_pruned_database_does_not_grow_with_the_number_of_runs():
    """Forty runs on two batches, in which five of each batch are kept, whatever came before."""
    figures = growth_case(40, batches=2, pruned_every=20)
    assert figures["runs kept"] == 10
    assert figures["largest"] < figures["unpruned"]
    assert figures["last"] < 1.2 * figures["first"]


def test_a_number_is_dealt_into_parts():
    assert list(parts(25, 10)) == [10, 10, 5]
