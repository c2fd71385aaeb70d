"""The code location that Dagster loads: everything of the home that the environment names."""

import os

from chunk_assets.catalog import load_catalog
from chunk_assets.catalog.home import default_home
from chunk_assets.defs.build import build_definitions

defs = build_definitions(load_catalog(default_home(os.environ)))
