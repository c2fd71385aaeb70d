"""Web pages written by hand, and what they are converted to."""

from __future__ import annotations

from chunk_assets.converters.base import Options
from chunk_assets.converters.html import HTML
from chunk_assets.records import Converted


def convert(html: str | bytes, keep: str = "main") -> Converted:
    data = html if isinstance(html, bytes) else html.encode()
    return HTML.convert(data, Options(html_keep=keep))


def markdown(html: str | bytes, keep: str = "main") -> str:
    return convert(html, keep).markdown.rstrip("\n")
