"""The shelf of embedders: texts → vectors. To add one: a file, and a line in the table."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from chunk_assets.embedders.base import (
    Embedded,
    Embedder,
    EmbedderCard,
    EmbedderPlugin,
    Settings,
    Sparse,
    Usage,
    ordered,
)
from chunk_assets.embedders.sparse_rows import RowEmbedder
from chunk_assets.errors import ConfigurationError, unknown

# Name in the catalog → where its ``EmbedderPlugin`` is; imported when it is asked for.
EMBEDDERS: Mapping[str, str] = MappingProxyType(
    {
        "bge_small": "chunk_assets.embedders.bge_small:BGE_SMALL",
        "static": "chunk_assets.embedders.static:STATIC",
        "openai_compatible": "chunk_assets.embedders.openai_compatible:OPENAI_COMPATIBLE",
        "sentence_transformers": "chunk_assets.embedders.sentence_transformers:SENTENCE_TRANSFORMERS",
        "splade": "chunk_assets.embedders.splade:SPLADE",
        "hash": "chunk_assets.embedders.hashed:HASH",
    }
)

__all__ = [
    "EMBEDDERS",
    "Embedded",
    "Embedder",
    "EmbedderCard",
    "EmbedderPlugin",
    "RowEmbedder",
    "Settings",
    "Sparse",
    "Usage",
    "load_embedder",
    "load_sparse_embedder",
    "ordered",
    "plugin",
]


def plugin(name: str) -> EmbedderPlugin:
    """The plug-in called ``name``; ``ConfigurationError`` with the known names otherwise."""
    if name not in EMBEDDERS:
        raise unknown("embedder", name, EMBEDDERS)
    module, constant = EMBEDDERS[name].split(":")
    found: EmbedderPlugin = getattr(importlib.import_module(module), constant)
    return found


def load_embedder(name: str, **settings: Any) -> Embedder:
    """An embedder with checked settings. Weights and connections are opened at first use.

    Raises ``ConfigurationError`` for an unknown name, an unknown setting or a value out of range.
    """
    chosen = plugin(name)
    return chosen.load(_checked(chosen, settings))


def load_sparse_embedder(name: str, **settings: Any) -> RowEmbedder:
    """A sparse embedder whose vectors are rows; ``ConfigurationError`` for a dense one."""
    if not plugin(name).sparse:
        known = ", ".join(sorted(other for other in EMBEDDERS if plugin(other).sparse))
        raise ConfigurationError(f"embedder {name!r} makes dense vectors; sparse ones: {known}")
    return RowEmbedder(load_embedder(name, **settings))


def _checked(chosen: EmbedderPlugin, settings: Mapping[str, Any]) -> Settings:
    from pydantic import ValidationError

    known = chosen.settings.model_fields
    for key in settings:
        if key not in known:
            raise unknown(f"setting of embedder {chosen.name}", key, known)
    try:
        return chosen.settings(**settings)
    except ValidationError as error:
        # The values are left out: somebody may have put a key where it does not belong.
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigurationError(f"embedder {chosen.name}: {faults}") from None
