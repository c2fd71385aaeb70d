"""Search over the published tables."""

from chunk_assets.search.index import BM25, DENSE, HYBRID, MODES, SPARSE, Index, open_index
from chunk_assets.search.passages import Hit

__all__ = ["BM25", "DENSE", "HYBRID", "MODES", "SPARSE", "Hit", "Index", "open_index"]
