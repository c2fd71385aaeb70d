"""Web pages and filings in HTML: main content (or all of it), tables with spans, lists, code, pages.

Hidden elements and the machine-readable header of inline XBRL are left out, its visible facts are kept.
Emphasis is not written. Links keep their address when it is absolute; others lead nowhere from here.
"""

from __future__ import annotations

from chunk_assets.converters.base import Converter, Options
from chunk_assets.converters.blocks import render
from chunk_assets.converters.webpage.content import page_blocks
from chunk_assets.converters.webpage.parse import decode_html
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted


def convert(data: bytes, options: Options) -> Converted:
    """Markdown of a page; ``options.html_keep`` is ``main`` (without navigation) or ``all``.

    Raises:
        DocumentFailure: ``empty``, ``broken`` (the bytes are no text) or ``too_large``.
    """
    if not data.strip():
        raise DocumentFailure("empty", f"{len(data)} bytes, nothing but white space")
    text, encoding = decode_html(data)
    page = page_blocks(text, keep=options.html_keep)
    markdown, pages = render(page.blocks)
    if not markdown:
        raise DocumentFailure("empty", "no visible text in the page")
    if len(markdown) > options.limits.max_output_chars:
        raise DocumentFailure(
            "too_large", f"{len(markdown)} characters; the limit is {options.limits.max_output_chars}"
        )
    return Converted(markdown, pages, {**page.facts, "encoding": encoding}, page.warnings)


HTML = Converter("html", version=1, media_types=("text/html", "application/xhtml+xml"), convert=convert)
