"""The page: a template, a style sheet, a script, and the data as JSON that nothing can break out of."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from chunk_assets.text.reasons import INSIDE_SENTENCE, SPLIT_REASONS

# In this order they are one script.
SCRIPTS = ("text.js", "side.js", "page.js")
# Characters that could end a script element or a line of it; as escapes they are the same JSON.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page(title: str, batches: Sequence[dict[str, Any]]) -> str:
    """The HTML of a report on one or several batches.

    A content security policy allows this page's own script by its hash and nothing else: no request leaves
    the page, and markup in a document stays text.
    """
    folder = files(__package__ or "chunk_assets.report")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = folder.joinpath("page.css").read_text(encoding="utf-8")
    template = folder.joinpath("page.html").read_text(encoding="utf-8")
    parts = {
        "@TITLE@": html.escape(title),
        "@STYLE@": style,
        "@SCRIPT_HASH@": _digest(script),
        "@STYLE_HASH@": _digest(style),
        "@SCRIPT@": script,
        "@DATA@": as_json(
            {
                "title": title,
                "reasons": dict(SPLIT_REASONS),
                "inside": sorted(INSIDE_SENTENCE),
                "batches": list(batches),
            }
        ),
    }
    # One pass over the template: no text that is put in is taken for a place of it.
    return re.sub("|".join(parts), lambda place: parts[place[0]], template)


def as_json(value: Any) -> str:
    """JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
