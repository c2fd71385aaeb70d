"""Promise 4: the page map covers the markdown exactly, without gap or overlap."""

from __future__ import annotations

from typing import Any

from chunk_assets.checks.base import ERROR, BatchTables, Check, verdict
from chunk_assets.checks.columns import count, examples, rows
from chunk_assets.records import MARKDOWN_DOCUMENTS, Outcome


def run(batch: BatchTables) -> Outcome:
    """Documents whose pages do not tile their text."""
    faults = []
    paged = 0
    for document_id, markdown, pages in rows(
        batch.tables.get(MARKDOWN_DOCUMENTS), "document_id", "markdown", "pages"
    ):
        if pages:
            paged += 1
            if fault := _fault(pages, len(markdown or "")):
                faults.append((document_id, fault[0], fault[1]))
    return verdict(
        CHECK,
        passed=not faults,
        summary=f"{count(paged, 'document')} with pages, {len(faults):,} with a broken page map",
        counts={"documents_with_pages": paged, "broken": len(faults)},
        examples=examples(faults),
    )


def _fault(pages: list[dict[str, Any]], length: int) -> tuple[int, str] | None:
    at, last = 0, 0
    for page in pages:
        if page["start"] != at or page["end"] < at:
            return page["number"], f"starts at {page['start']}, the page before ends at {at}"
        if page["number"] <= last:
            return page["number"], f"page number follows {last}"
        at, last = page["end"], page["number"]
    return None if at == length else (last, f"ends at {at}, the text at {length}")


CHECK = Check(
    "pages_tile_the_text",
    MARKDOWN_DOCUMENTS,
    ERROR,
    "Every character of a paged document belongs to exactly one page.",
    run,
    {MARKDOWN_DOCUMENTS: ("document_id", "markdown", "pages")},
)
