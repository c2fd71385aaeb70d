"""Promise 1: every document that the source lists has a row, with a reason when it could not be used."""

from __future__ import annotations

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import DOCUMENT_STATUSES, OK, RAW_DOCUMENTS, Outcome


def run(batch: BatchTables) -> Outcome:
    """Rows against the listing, known statuses, and a reason beside each that is not ``ok``."""
    faults = []
    number = 0
    for document_id, status, reason in rows(
        batch.tables.get(RAW_DOCUMENTS), "document_id", "status", "reason"
    ):
        number += 1
        if status not in DOCUMENT_STATUSES:
            faults.append((document_id, None, f"unknown status {status!r}"))
        elif status != OK and not reason:
            faults.append((document_id, None, f"status {status} without a reason"))
    listed = number if batch.listed is None else batch.listed
    missing = listed - number
    return verdict(
        CHECK,
        passed=not faults and missing == 0,
        summary=f"{count(listed, 'document')} listed, {number:,} in the table, "
        f"{len(faults):,} without a clear status",
        counts={"listed": listed, "rows": number, "unclear": len(faults)},
        examples=examples(faults),
    )


CHECK = Check(
    "documents_accounted_for",
    RAW_DOCUMENTS,
    ERROR,
    "Every listed document has a row; one that can't be used says why.",
    run,
    {RAW_DOCUMENTS: ("document_id", "status", "reason")},
)
