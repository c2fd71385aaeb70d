"""The benchmark of search runs on a small size; how fast is for the full one to say."""

from __future__ import annotations

import json
import subprocess
import sys


def test_search_is_measured_in_every_mode(root):
    code = "from benchmarks import search as s; s.SIZES, s.QUESTIONS = (320, 320), 4; s.main(['--json'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert {"dense", "bm25", "hybrid", "hybrid, two filters"} <= set(result["figures"])
    assert result["figures"]["hybrid"]["p50_ms"] > 0
    assert result["notes"][-2].startswith("320 chunks")
