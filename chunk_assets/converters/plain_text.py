"""Plain text: its lines as they are, escaped where they would be read as markup; form feeds are pages.

In text filings of the EDGAR archive the lines with its page tag are page starts too; they stay.
"""

from __future__ import annotations

import re

from chunk_assets.converters.base import Converter, Options
from chunk_assets.converters.blocks import paged
from chunk_assets.converters.encoding import decode
from chunk_assets.converters.textual import plain_markdown
from chunk_assets.errors import DocumentFailure
from chunk_assets.records import Converted

# Filings of the years before HTML: a line with this tag starts each page.
_FILING = re.compile(r"^<(?:SEC-DOCUMENT|DOCUMENT|TYPE)>", re.MULTILINE)
_FILING_PAGE = re.compile(r"^(?=<PAGE>)", re.MULTILINE)
_HEAD = 20_000


def convert(data: bytes, options: Options) -> Converted:
    """Markdown whose text is the file's text; the fact ``encoding`` says how its bytes were read.

    Raises:
        DocumentFailure: ``empty`` or ``broken`` (the bytes are no text).
    """
    if not data.strip():
        raise DocumentFailure("empty", f"{len(data)} bytes, nothing but white space")
    text, encoding = decode(data)
    if _FILING.search(text, 0, _HEAD):
        text = _FILING_PAGE.sub("\x0c", text)
    markdown, pages = paged(f"{plain_markdown(text)}\n")
    if not markdown.strip():
        raise DocumentFailure("empty", "nothing but white space and control characters")
    if len(markdown) > options.limits.max_output_chars:
        raise DocumentFailure(
            "too_large", f"{len(markdown)} characters; the limit is {options.limits.max_output_chars}"
        )
    return Converted(markdown, pages, {"encoding": encoding})


PLAIN_TEXT = Converter("plain_text", version=1, media_types=("text/plain",), convert=convert)
