"""The newest figures of each strategy, a Parquet file each below the home, and how its tables are cut."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

from chunk_assets.evaluation.tables import Row, arrow
from chunk_assets.evaluation.verdicts import topic_share
from chunk_assets.records import CHUNKS
from chunk_assets.storage.commit import published_batches
from chunk_assets.storage.files import write_atomic
from chunk_assets.storage.layout import Layout
from chunk_assets.storage.tables import read_table

SEMANTIC = "semantic"


def results_file(home: Path, strategy: str) -> Path:
    """Where the figures of a strategy lie: a data set that is partitioned by the strategy measured."""
    return home / "evaluation" / f"measured={strategy}" / "results.parquet"


def keep(home: Path, strategy: str, found: Sequence[Row]) -> None:
    """Writes the figures of one strategy in place of its former ones."""
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(arrow(found), buffer, compression="zstd")
    write_atomic(results_file(home, strategy), buffer.getvalue())


def kept(home: Path, strategies: Iterable[str]) -> list[Row]:
    """The newest figures of the strategies, of those that were measured, in their order."""
    tables = (read_table(results_file(home, name)) for name in strategies)
    return [cast("Row", row) for table in tables if table is not None for row in table.to_pylist()]


def topic_shares(layout: Layout, sources: Iterable[str]) -> dict[str, float]:
    """By source: the share of its published semantic chunks that ends by topic; without any, none."""
    wanted = frozenset(sources)
    reasons: dict[str, list[str]] = defaultdict(list)
    for batch in published_batches(layout):
        if batch.source in wanted:
            table = read_table(layout.table_file(CHUNKS, batch), ["strategy", "split_reason"])
            rows = table.to_pylist() if table is not None else []
            reasons[batch.source] += [r["split_reason"] for r in rows if r["strategy"] == SEMANTIC]
    return {name: topic_share(found) for name, found in sorted(reasons.items()) if found}
