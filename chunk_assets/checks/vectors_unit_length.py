"""Vectors are finite and of unit length, so that a dot product is the cosine."""

from __future__ import annotations

import numpy as np

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples
from chunk_assets.records import EMBEDDINGS, Outcome

TOLERANCE = 1e-3


def run(batch: BatchTables) -> Outcome:
    """Vectors with a value that is not finite, or whose length is off 1 by more than ``TOLERANCE``."""
    table = batch.tables.get(EMBEDDINGS)
    if table is None or table.num_rows == 0:
        return _outcome(0, 0.0, [])
    vectors = table.column("vector").combine_chunks()
    matrix = vectors.flatten().to_numpy(zero_copy_only=False).reshape(table.num_rows, -1)
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    off = np.where(np.isfinite(lengths), np.abs(lengths - 1.0), np.inf)
    bad = np.flatnonzero(off > TOLERANCE)
    names = table.column("chunk_id").to_pylist()
    documents = table.column("document_id").to_pylist()
    faults = [(documents[i], None, f"{names[i]} has length {lengths[i]:.4f}") for i in bad]
    return _outcome(table.num_rows, float(off.max()), faults)


def _outcome(number: int, worst: float, faults: list[tuple[str, None, str]]) -> Outcome:
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{count(number, 'vector')}, {len(faults):,} not finite or not of unit length",
        counts={"vectors": number, "wrong": len(faults), "largest_deviation": worst},
        examples=examples(faults),
    )


CHECK = Check(
    "vectors_unit_length",
    EMBEDDINGS,
    ERROR,
    "All vectors are finite and of unit length.",
    run,
    {EMBEDDINGS: ("document_id", "chunk_id", "vector")},
)
