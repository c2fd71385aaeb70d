"""One run of this project for the incremental benchmark: ``python -m … NAME HOME CHUNK_CHARS``."""

from __future__ import annotations

import json
import resource
import sys
import time

from chunk_assets.catalog import load_catalog
from chunk_assets.pipeline import run_sources


def main() -> None:
    """Runs the home's catalog and prints processor seconds, texts embedded and peak memory."""
    import pyarrow.compute
    import pyarrow.parquet  # imports are not what is measured

    pyarrow.array([0])  # looks for pandas

    began = time.process_time()
    report = run_sources(load_catalog(sys.argv[2]))
    if report.errors:
        raise SystemExit(str(report.errors))
    own = time.process_time() - began
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    chunks = sum(stage.rows for batch in report.batches for stage in batch.stages if stage.table == "chunks")
    seconds: dict[str, float] = {}
    for batch in report.batches:
        for stage in batch.stages:
            seconds[stage.table] = round(seconds.get(stage.table, 0) + stage.seconds, 3)
    figures = {
        "cpu": round(own + children.ru_utime + children.ru_stime, 3),
        "embedded": report.embedded,
        "chunks": chunks,
        "files_written": len(report.files_written),
        "peak_mb": peak,
        "wall_by_stage": seconds,
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
