"""Which folder is the home when nobody says so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chunk_assets.catalog.load import HOME_FILE

HOME_VARIABLE = "CHUNK_ASSETS_HOME"
DEFAULT = "data"


def default_home(environment: Mapping[str, str]) -> str:
    """``CHUNK_ASSETS_HOME``, else ``data`` here, else the ``data`` beside the package (a checkout)."""
    if chosen := environment.get(HOME_VARIABLE):
        return chosen
    beside = Path(__file__).resolve().parents[2] / DEFAULT
    if not Path(DEFAULT, HOME_FILE).is_file() and beside.joinpath(HOME_FILE).is_file():
        return str(beside)
    return DEFAULT
