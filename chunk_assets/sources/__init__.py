"""What is in a source: files listed, described by their metadata, identified and dealt into slices."""

from chunk_assets.sources.files import Entry, moved_version
from chunk_assets.sources.listing import Listed, Listing, list_source, read_bytes
from chunk_assets.sources.rivals import apart

__all__ = ["Entry", "Listed", "Listing", "apart", "list_source", "moved_version", "read_bytes"]
