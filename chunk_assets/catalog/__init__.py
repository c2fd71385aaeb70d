"""The catalog: ``sources.yaml`` as validated, frozen settings. One file says all that a home does."""

from chunk_assets.catalog.load import HOME_FILE, load_catalog
from chunk_assets.catalog.models import Catalog, EmbedderChoice
from chunk_assets.catalog.operation import Alerts, Compute, ObjectStoreRules, Operation, VectorIndex
from chunk_assets.catalog.source import DeletionGuard, Freshness, Retries, Schedule, Slices, Source

__all__ = [
    "HOME_FILE",
    "Alerts",
    "Catalog",
    "Compute",
    "DeletionGuard",
    "EmbedderChoice",
    "Freshness",
    "ObjectStoreRules",
    "Operation",
    "Retries",
    "Schedule",
    "Slices",
    "Source",
    "VectorIndex",
    "load_catalog",
]
