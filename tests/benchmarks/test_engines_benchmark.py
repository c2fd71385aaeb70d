"""The benchmark of engines runs on a small size, and every way to make the tables gives the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.mark.slow
def test_every_engine_and_store_gives_the_same_bytes(root):
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.engines", "--quick", "--json"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout)
    digests = result["figures"]["sha-256 of the tables"]
    assert {"local, 1 worker", "local, 2 workers", "dask", "home and source on s3://"} <= set(digests)
    assert len(set(digests.values())) == 1
    assert result["ratios"]["throughput of 2 workers over 1, by processor time"] > 1
    assert result["figures"]["handing over, dask"]["cpu ms"] > 0
