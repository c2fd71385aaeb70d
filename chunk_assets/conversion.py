"""From bytes to a document that keeps the contract, whatever the bytes are.

Everything that can go wrong with one document ends here, in a status and a reason; only what concerns
the whole run (``StopRun``, Ctrl-C) passes.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

from chunk_assets.converters import for_media_type, media
from chunk_assets.converters.base import Options
from chunk_assets.converters.ole import unlock
from chunk_assets.converters.sniff import media_type
from chunk_assets.errors import ChunkAssetsError, DocumentFailure, StopRun
from chunk_assets.records import OK, Converted

# Where the bytes come from: themselves, a path, or something that fetches them in the worker.
Load = bytes | str | os.PathLike[str] | Callable[[], bytes]
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def convert_source(load: Load, name: str, options: Options) -> Converted:
    """``convert_bytes`` of what ``load`` gives: bytes, the path of a local file, or a loader.

    A file that is gone is ``vanished``, one that can't be read ``unreadable``.
    """
    try:
        data = _loaded(load, options.limits.max_bytes)
    except DocumentFailure as failure:
        return _failed(failure)
    except FileNotFoundError as error:
        return Converted("", status="vanished", reason=_describe(error))
    except OSError as error:
        return Converted("", status="unreadable", reason=_describe(error))
    return convert_bytes(data, name, options)


def convert_bytes(data: bytes, name: str, options: Options) -> Converted:
    """Markdown of the document ``data`` called ``name``; never raises for bad input.

    The kind is sniffed from the bytes. A failure is an empty document with a status of
    ``records.DOCUMENT_STATUSES`` and a reason; ``partial`` keeps what could be read.
    """
    try:
        return _checked(_convert(data, name, options), options)
    except DocumentFailure as failure:
        return _failed(failure)
    except (KeyboardInterrupt, StopRun):
        raise
    except MemoryError:
        return Converted("", status="memory", reason="conversion needed more memory than there is")
    except RecursionError:
        return Converted("", status="unsafe", reason="nested too deeply to be read")
    except ChunkAssetsError as error:
        return Converted("", status="broken", reason=_describe(error))
    except BaseException as error:  # noqa: BLE001 - panics of native libraries are BaseExceptions
        return Converted("", status="broken", reason=f"the converter failed: {_describe(error)}")


def converter_id(kind: str) -> str:
    """Name and version of what turns a media type into markdown, for fingerprints: ``pdf/1``.

    ``none/<count>`` for media types that no converter reads: a shelf that grows retries them.
    """
    try:
        converter = for_media_type(kind)
    except DocumentFailure:
        return f"none/{len(media.CONVERTER_OF)}"
    return f"{converter.name}/{converter.version}"


def _loaded(load: Load, max_bytes: int) -> bytes:
    if isinstance(load, bytes):
        return load
    if callable(load):
        return load()
    path = Path(load)
    _check_size(path.stat().st_size, max_bytes)
    return path.read_bytes()


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise DocumentFailure("too_large", f"{size} bytes; the limit is {max_bytes}")


def _convert(data: bytes, name: str, options: Options) -> Converted:
    if not data:
        raise DocumentFailure("empty", "the file has no bytes")
    _check_size(len(data), options.limits.max_bytes)
    kind = media_type(data, name)
    if kind == media.ENCRYPTED_OFFICE:
        data = unlock(data)
        kind = media_type(data, name)
    if kind not in media.CONVERTER_OF:
        raise _unreadable(kind, name)
    converted = for_media_type(kind).convert(data, options)
    promised = media.by_extension(name)
    if promised not in (kind, media.UNKNOWN) and media.file_type(promised) != media.file_type(kind):
        note = f"named as {media.file_type(promised)} but is {media.file_type(kind)}"
        return _with_warning(converted, note)
    return converted


def _unreadable(kind: str, name: str) -> DocumentFailure:
    """``mismatch`` where the name promises a document of another kind, else ``unsupported``."""
    promised = media.by_extension(name)
    what = media.DESCRIPTIONS.get(kind, kind)
    if promised in media.CONVERTER_OF:
        return DocumentFailure("mismatch", f"named as {media.file_type(promised)} but is {what}")
    return DocumentFailure("unsupported", f"no converter: {what}")


def _checked(converted: Converted, options: Options) -> Converted:
    """Holds converters to their contract; a fault of theirs is mended where that loses nothing."""
    limit = options.limits.max_output_chars
    if len(converted.markdown) > limit:
        raise DocumentFailure(
            "too_large", f"{len(converted.markdown)} characters of text; the limit is {limit}"
        )
    if converted.status == OK and not converted.markdown.strip():
        return Converted("", (), converted.facts, converted.warnings, "empty", "no text in the document")
    if not unicodedata.is_normalized("NFC", converted.markdown) or _FORBIDDEN.search(converted.markdown):
        raise ChunkAssetsError("the converter's text has control characters or is not in NFC")
    _check_pages(converted)
    return converted


def _check_pages(converted: Converted) -> None:
    """Pages are numbered upwards and tile the text without gaps."""
    at, number = 0, 0
    for page in converted.pages:
        if page.start != at or page.end < at or page.number <= number:
            raise ChunkAssetsError(f"page {page.number} starts at {page.start}, not at {at}")
        at, number = page.end, page.number
    if converted.pages and at != len(converted.markdown):
        raise ChunkAssetsError(f"the pages end at {at}, the text at {len(converted.markdown)}")


def _with_warning(converted: Converted, warning: str) -> Converted:
    warnings = (*converted.warnings, warning)
    return Converted(
        converted.markdown, converted.pages, converted.facts, warnings, converted.status, converted.reason
    )


def _failed(failure: DocumentFailure) -> Converted:
    return Converted("", status=failure.status, reason=failure.reason)


def _describe(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:300]}".rstrip(": ")
