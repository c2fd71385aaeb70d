"""The catalog: ``sources.yaml`` as validated, frozen settings. One file says all that a home does."""

from chunk_assets.catalog.load import HOME_FILE, load_catalog
from chunk_assets.catalog.models import (
    Alerts,
    Catalog,
    Compute,
    DeletionGuard,
    EmbedderChoice,
    Freshness,
    ObjectStoreRules,
    Operation,
    Retries,
    Schedule,
    Slices,
    Source,
    VectorIndex,
)

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
