"""The code location that Dagster loads: everything of the home that the environment names."""

import os

from chunk_assets.catalog import load_catalog
from chunk_assets.catalog.home import default_home
from chunk_assets.defs.build import build_definitions
from chunk_assets.storage.remote import learn_what_is_published

catalog = load_catalog(default_home(os.environ))
learn_what_is_published(catalog.home)  # golden questions, too: they decide which assets there are
defs = build_definitions(catalog)
