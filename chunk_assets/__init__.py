"""Verified, reproducible chunk and embedding tables from business documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from chunk_assets.api import chunk, convert, embed, load_catalog, run

__all__ = ["__version__", "chunk", "convert", "embed", "load_catalog", "run"]


def __getattr__(name: str) -> Any:
    """The API's names, imported when they are asked for: the package itself is light to import."""
    if name in __all__:
        from chunk_assets import api

        return getattr(api, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
