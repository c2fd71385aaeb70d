"""Document ids: from a template over metadata, or from source and path; unique and safe in paths."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping

from chunk_assets.errors import DocumentFailure
from chunk_assets.hashing import sha256_text

SAFE = re.compile(r"[A-Za-z0-9._-]+")
MAX_CHARACTERS = 150


def path_id(source: str, relative_path: str) -> str:
    """``{source}__{path}`` with ``/`` as ``__``; a digest of the path is added where letters were replaced.

    The digest keeps two paths apart that would look alike. Paths are compared in NFC, so that a file copied
    from macOS keeps its id.

    >>> path_id("seed", "faq/short_faq.md")
    'seed__faq__short_faq.md'
    """
    path = unicodedata.normalize("NFC", relative_path)
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", path.replace("/", "__"))
    plain = slug == path.replace("/", "__") and "__" not in path and len(slug) <= MAX_CHARACTERS
    return f"{source}__{slug}" if plain else f"{source}__{slug[:MAX_CHARACTERS]}-{sha256_text(path)[:8]}"


def own_id(source: str, relative_path: str) -> str:
    """An id that no other path has, not even one that differs in its Unicode form only."""
    plain = path_id(source, relative_path)
    if unicodedata.is_normalized("NFC", relative_path):
        return plain
    return f"{plain[:MAX_CHARACTERS]}-{sha256_text(relative_path)[:8]}"


def template_id(template: str, fields: Mapping[str, str]) -> str:
    """The template with its ``{field}`` places filled.

    Raises:
        DocumentFailure: ``invalid_metadata`` when a field is missing or its value is not safe in a path.
    """
    values = {}
    for name in template_fields(template):
        value = fields.get(name, "")
        if not SAFE.fullmatch(value) or value.strip(".") == "":
            raise DocumentFailure(
                "invalid_metadata",
                f"the document id needs {name}, made of letters, digits, '.', '_' and '-'; got {value!r}",
            )
        values[name] = value
    return template.format_map(values)


def template_fields(template: str) -> tuple[str, ...]:
    """The names in ``{}`` of a template, in order."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(template) if name)
