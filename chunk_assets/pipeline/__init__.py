"""The whole core: read → convert → chunk → embed → publish, for one batch at a time.

Four stages, each reading what the one before staged, then one publication that readers see whole:

    with open_batch(catalog, "filings", "2024-03") as context:
        stage_raw(context)
        stage_markdown(context)
        stage_chunks(context)
        stage_embeddings(context)
        publish(context, outcomes)

Until ``publish``, nothing below ``<home>/tables`` changes. Each stage may also run in another process,
later: it takes the staged file of the stage before, and refuses with ``StopRun`` when there is none.
"""

from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.core import publish, stage_chunks, stage_embeddings, stage_markdown, stage_raw
from chunk_assets.pipeline.evidence import batch_tables, published_intact
from chunk_assets.pipeline.guard import deletions_within_bounds, left_behind
from chunk_assets.pipeline.pruning import PruneReport, prune, tidy
from chunk_assets.pipeline.reports import (
    BatchReport,
    FailedDocument,
    Progress,
    PublishReport,
    RunReport,
    StageReport,
)
from chunk_assets.pipeline.run import all_batches, run_batch, run_sources
from chunk_assets.pipeline.session import RunOptions, Session, open_batch
from chunk_assets.pipeline.versions import (
    VersionInfo,
    create_version,
    drop_version,
    promote,
    rollback,
    version_catalog,
    versions,
)
from chunk_assets.storage.layout import Batch

__all__ = [
    "Batch",
    "BatchContext",
    "BatchReport",
    "FailedDocument",
    "Progress",
    "PruneReport",
    "PublishReport",
    "RunOptions",
    "RunReport",
    "Session",
    "StageReport",
    "VersionInfo",
    "all_batches",
    "batch_tables",
    "create_version",
    "deletions_within_bounds",
    "drop_version",
    "left_behind",
    "open_batch",
    "promote",
    "prune",
    "publish",
    "published_intact",
    "rollback",
    "run_batch",
    "run_sources",
    "stage_chunks",
    "stage_embeddings",
    "stage_markdown",
    "stage_raw",
    "tidy",
    "version_catalog",
    "versions",
]
