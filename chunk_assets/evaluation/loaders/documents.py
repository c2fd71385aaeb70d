"""Converts the documents of a set with the package's own converters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from chunk_assets.conversion import convert_bytes
from chunk_assets.converters import media
from chunk_assets.converters.base import Options
from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation.records import EvalDocument
from chunk_assets.records import DocumentMetadata


def read_document(root: Path, file: str, tags: Iterable[str] = ()) -> EvalDocument:
    """``root/file`` converted, with the metadata a policy needs; ``ConfigurationError`` on failure."""
    path = root / file
    try:
        converted = convert_bytes(path.read_bytes(), path.name, Options())
    except OSError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    if not converted.markdown:
        raise ConfigurationError(f"{path}: {converted.status}: {converted.reason}")
    kind = media.file_type(media.by_extension(path.name))
    metadata = replace(DocumentMetadata(), tags=tuple(sorted(tags)), file_type=kind)
    return EvalDocument(file, converted.markdown, metadata)
