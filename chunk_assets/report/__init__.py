"""A self-contained HTML page that shows documents with their chunks: no network, no script of theirs."""

from chunk_assets.report.data import Compared, batch_data, compare_policy, document_batches
from chunk_assets.report.page import page

__all__ = ["Compared", "batch_data", "compare_policy", "document_batches", "page"]
