"""The shelf of converters: one file type each, from bytes to markdown.

A new file type is one module with one constant, one line in ``_MODULES``, and its media types in
``media.py``. Modules are imported when they are first needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import cast

from chunk_assets.converters.base import Converter
from chunk_assets.converters.media import CONVERTER_OF, file_type
from chunk_assets.errors import DocumentFailure, unknown

__all__ = ["CONVERTERS", "file_type", "for_media_type"]

# Each module holds one constant, named like the module in capitals.
_MODULES = ("pdf", "docx", "xlsx", "csv", "html", "markdown", "plain_text", "pptx", "email")


class _Shelf(Mapping[str, Converter]):
    """Converters by module name, in order, each imported at its first use."""

    def __getitem__(self, name: str) -> Converter:
        if name not in _MODULES:
            raise KeyError(name)
        return cast(Converter, getattr(import_module(f"{__name__}.{name}"), name.upper()))

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


CONVERTERS: Mapping[str, Converter] = _Shelf()


def for_media_type(media_type: str) -> Converter:
    """The converter of a media type.

    Raises:
        DocumentFailure: ``unsupported``, when no converter reads it.
    """
    name = CONVERTER_OF.get(media_type)
    if name is None:
        raise DocumentFailure("unsupported", f"no converter for {media_type}")
    return CONVERTERS[name]


def by_name(name: str) -> Converter:
    """The converter called ``name`` on the shelf.

    Raises:
        ConfigurationError: there is none; the message lists the known ones.
    """
    if name not in _MODULES:
        raise unknown("converter", name, _MODULES)
    return CONVERTERS[name]
