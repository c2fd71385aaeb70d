"""Ids are unique in the catalog: sources whose ids come from templates are compared with each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from chunk_assets.records import OK
from chunk_assets.sources.identity import own_id
from chunk_assets.sources.listing import Listing


def apart(listing: Listing, rivals: Iterable[Listing]) -> Listing:
    """The listing with documents refused whose id another source gives as well.

    In both sources alike, so that it doesn't matter which one is run first: none is guessed.
    """
    elsewhere = {
        document.document_id: f"{rival.source}: {document.relative_path}"
        for rival in rivals
        for document in rival.documents
        if document.status == OK
    }
    documents = [
        replace(
            document,
            document_id=own_id(listing.source, document.relative_path),
            status="duplicate_id",
            reason=f"document id {document.document_id!r} is also that of {elsewhere[document.document_id]}",
        )
        if document.status == OK and document.document_id in elsewhere
        else document
        for document in listing.documents
    ]
    return replace(listing, documents=tuple(sorted(documents, key=lambda document: document.document_id)))
