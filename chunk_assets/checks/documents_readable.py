"""Promise 9: documents that failed are shown, with what is wrong; the others are not held up."""

from __future__ import annotations

from collections import Counter

from chunk_assets.checks.base import WARN, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import MARKDOWN_DOCUMENTS, OK, Outcome

# Statuses that a person chose or can't mend: an empty file is no failure of the pipeline.
HARMLESS = {OK, "vanished"}


def run(batch: BatchTables) -> Outcome:
    """The documents whose text could not be had, or not whole."""
    faults, statuses = [], Counter[str]()
    for document_id, status, reason in rows(
        batch.tables.get(MARKDOWN_DOCUMENTS), "document_id", "status", "reason"
    ):
        statuses[status] += 1
        if status not in HARMLESS:
            faults.append((document_id, None, f"{status}: {reason}"))
    total = sum(statuses.values())
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{total - len(faults):,} of {count(total, 'document')} readable",
        counts={"documents": total, "failed": len(faults), **dict(sorted(statuses.items()))},
        examples=examples(faults),
    )


CHECK = Check(
    "documents_readable",
    MARKDOWN_DOCUMENTS,
    WARN,
    "Every document was converted whole; the ones that were not are named with the reason.",
    run,
    {MARKDOWN_DOCUMENTS: ("document_id", "status", "reason")},
)
