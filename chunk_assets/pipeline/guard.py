"""Deletions within bounds: an unmounted folder must not wipe the tables (promise 7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from chunk_assets.checks.base import WARN
from chunk_assets.errors import DocumentFailure, MassDeletion
from chunk_assets.hashing import sha256_bytes
from chunk_assets.pipeline.session import Session
from chunk_assets.records import RAW_DOCUMENTS, Outcome
from chunk_assets.sources import Listed, Listing, moved_version, read_bytes
from chunk_assets.storage.commit import published_batches
from chunk_assets.storage.locks import hold
from chunk_assets.storage.state import Seen
from chunk_assets.storage.tables import read_table

CHECK_NAME = "deletions_within_bounds"
LEFT_BEHIND = "published_sources_in_catalog"


def guard_source(session: Session, source: str) -> None:
    """Compares the listing of a source with its published documents, once a session.

    Raises:
        MassDeletion: too many are missing, the listing is empty, or it is partial and lacks some.
    """
    if source in session.guarded or session.options.allow_deletions:
        return
    outcome = deletions_within_bounds(session, source)
    if not outcome.passed:
        raise MassDeletion(outcome.summary)
    session.guarded.add(source)


def deletions_within_bounds(session: Session, source: str) -> Outcome:
    """The verdict on what a source's listing lacks; moved and copied files are not missing."""
    listing = session.listing(source)
    known = _published(session, source)
    here = {document.document_id for document in listing.documents}
    gone = {name: seen for name, seen in known.items() if name not in here}
    new = [document for document in listing.documents if document.document_id not in known]
    fresh = {moved_version(document.version) for document in new}
    missing = sorted(n for n, seen in gone.items() if not seen or moved_version(seen.version) not in fresh)
    if missing and _problem(session, listing, len(known), len(missing)):
        missing = _without_copies(session, source, {name: gone[name] for name in missing}, new)
    confirmed = session.options.allow_deletions or not missing
    problem = "" if confirmed else _problem(session, listing, len(known), len(missing))
    return Outcome(
        name=CHECK_NAME,
        table=RAW_DOCUMENTS,
        passed=not problem,
        severity="error",
        summary=problem
        or f"{len(missing)} of {len(known)} documents of {source} are gone, within bounds"
        f"{' or confirmed' if session.options.allow_deletions else ''}",
        counts={"published": len(known), "missing": len(missing)},
        examples=tuple({"document_id": n, "page": "", "what": "not listed any more"} for n in missing[:10])
        if problem
        else (),
    )


def left_behind(session: Session) -> Outcome:
    """Whether every published batch is of a source in the catalog; confirmed deletions withdraw others."""
    of_nobody = [b for b in published_batches(session.layout) if b.source not in session.catalog.sources]
    confirmed = session.options.allow_deletions and session.options.scratch is None
    for batch in of_nobody if confirmed else ():
        with hold(session.layout.batch_lock(batch), f"batch {batch}", name=session.options.owner):
            session.withdraw(batch)
    names = ", ".join(sorted({batch.source for batch in of_nobody}))
    problem = of_nobody and not confirmed
    return Outcome(
        LEFT_BEHIND,
        RAW_DOCUMENTS,
        passed=not problem,
        severity=WARN,
        summary=f"{len(of_nobody)} published batches are of sources that are not in the catalog: {names}; "
        "readers still find them. If they are to go, confirm with --allow-deletions"
        if problem
        else f"{len(of_nobody)} batches of sources that left the catalog were withdrawn",
        counts={"batches": len(of_nobody)},
    )


def failed_guard(source: str, error: MassDeletion) -> Outcome:
    """The failed check of a source that was left alone."""
    return Outcome(CHECK_NAME, RAW_DOCUMENTS, False, "error", f"{source}: {error}")


def _problem(session: Session, listing: Listing, known: int, missing: int) -> str:
    bounds = session.catalog.guard(listing.source)
    cause = ""
    if not listing.complete:
        cause = f"the listing is partial ({'; '.join(listing.problems[:3])})"
    elif not listing.documents:
        cause = "the listing is empty"
    elif missing >= bounds.min_documents and missing > bounds.share * known:
        cause = f"more than {bounds.share:.0%} and at least {bounds.min_documents}"
    if not cause:
        return ""
    return (
        f"{missing} of {known} documents of {listing.source} are not listed any more: {cause}; nothing was "
        "deleted. If they are really gone, confirm with --allow-deletions"
    )


def _without_copies(
    session: Session, source: str, missing: Mapping[str, Seen | None], new: Iterable[Listed]
) -> list[str]:
    """The missing documents whose bytes are not those of a new one either.

    Reads new documents that are as long as a missing one: only when there would be an alarm.
    """
    sizes = {seen.version.partition("-")[0] for seen in missing.values() if seen}
    there = set()
    for document in new:
        if str(document.size_bytes) in sizes:
            with suppress(DocumentFailure):
                there.add(sha256_bytes(read_bytes(document, session.catalog.source(source))))
    return [name for name, seen in missing.items() if not seen or seen.sha256 not in there]


def _published(session: Session, source: str) -> Mapping[str, Seen | None]:
    """Ids of the published documents of a source, each as it was last seen, if that is remembered."""
    known: dict[str, Seen | None] = {}
    for batch in published_batches(session.layout):
        if batch.source != source:
            continue
        context = session.peek(batch.source, batch.slice)
        seen = context.state.documents
        path = context.published_file(RAW_DOCUMENTS)
        rows = read_table(path, ["document_id"]) if path is not None else None
        ids = rows["document_id"].to_pylist() if rows is not None else list(seen)
        known |= {name: seen.get(name) for name in ids}
    return known
