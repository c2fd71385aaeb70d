"""The benchmark of embedding runs on a small size and compares equal vectors only."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_embedding_runs_and_compares_with_equal_vectors_only(root):
    command = [sys.executable, "-m", "benchmarks.embedding", "--quick", "--json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["ratios"]["speed over cores x onnxruntime loop"] > 0
    assert result["figures"]["chunk-assets, all cores"]["largest_difference"] < 1e-5
    assert result["figures"]["onnxruntime, batches of 8"]["largest_difference"] > 1e-4
    assert "speed over onnxruntime, batches of 8" not in result["ratios"]
