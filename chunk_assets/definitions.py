"""The code location that Dagster loads: everything of the home that the environment names."""

import os
import warnings

import dagster as dg

# Partitioned asset checks are in preview in Dagster 1.13; the minor version is pinned for that reason.
warnings.filterwarnings("ignore", category=dg.PreviewWarning)
warnings.filterwarnings("ignore", category=dg.BetaWarning)

from chunk_assets.catalog import load_catalog  # noqa: E402 - the filter must stand before assets are made
from chunk_assets.catalog.home import default_home  # noqa: E402 - same
from chunk_assets.defs.build import build_definitions  # noqa: E402 - same


defs = build_definitions(load_catalog(default_home(os.environ)))
