"""Markdown files: kept as they are, but for line ends, normal form, control characters and front matter.

Front matter (YAML between ``---`` lines at the start) is metadata: it becomes facts, not text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from chunk_assets.converters.base import Converter, Options
from chunk_assets.converters.blocks import PAGE, paged
from chunk_assets.converters.encoding import decode
from chunk_assets.converters.markup import clean_text
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_MOST_FACTS = 100
_FACT_CHARS = 2_000


def convert(data: bytes, options: Options) -> Converted:
    """The file's own markdown; form feeds are page breaks; ``encoding`` is among the facts.

    Raises:
        DocumentFailure: ``empty``, ``broken`` (the bytes are no text) or ``too_large``.
    """
    if not data.strip():
        raise DocumentFailure("empty", f"{len(data)} bytes, nothing but white space")
    text, encoding = decode(data)
    parts = [clean_text(part) for part in text.split("\x0c")]
    front, parts[0] = _split_front_matter(parts[0])
    markdown, pages = paged(PAGE.join(parts).strip("\n") + "\n")
    if not markdown.strip():
        raise DocumentFailure("empty", "nothing but white space and front matter")
    if len(markdown) > options.limits.max_output_chars:
        raise DocumentFailure(
            "too_large", f"{len(markdown)} characters; the limit is {options.limits.max_output_chars}"
        )
    return Converted(markdown, pages, {**front, "encoding": encoding})


def _split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Facts of a YAML block at the start, and the text after it; no YAML mapping, no front matter."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text
    import yaml

    try:
        loaded = yaml.load(match[1] or "", Loader=_text_loader())  # noqa: S506 - a SafeLoader, see below
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    if not isinstance(loaded, Mapping):
        return {}, text
    return dict(list(_flat(loaded))[:_MOST_FACTS]), text[match.end() :]


def _text_loader() -> Any:
    """A safe loader that leaves dates and numbers as they are written, and refuses anchors."""
    import yaml

    class TextLoader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("aliases in front matter are refused: they can grow without bound")
            return super().compose_node(parent, index)

    TextLoader.yaml_implicit_resolvers = {}
    return TextLoader


def _flat(mapping: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in mapping.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif isinstance(value, list):
            yield name, ", ".join(str(item) for item in value)[:_FACT_CHARS]
        elif value not in (None, ""):
            yield name, str(value)[:_FACT_CHARS]


MARKDOWN = Converter("markdown", version=1, media_types=("text/markdown",), convert=convert)
