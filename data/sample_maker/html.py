"""The HTML form of a text, dressed as a filing on the web: navigation, main part, footer."""

from __future__ import annotations

from html import escape

from sample_maker.markup import MARK, Block, Text

_STYLE = "body{font-family:Georgia,serif;max-width:48em;margin:auto}td{text-align:right}"


def render(text: Text, title: str) -> bytes:
    """A whole page in UTF-8. Cells of a first column are left as plain ``td``."""
    body = "\n".join(_block(block) for block in text.blocks)
    notes = "".join(f"<p><sup>{n}</sup> {escape(note)}</p>\n" for n, note in text.notes.items())
    page = f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style></head>
<body>
<nav><a href="/">Filings</a> <a href="/search">Search</a> <a href="/help">Help</a></nav>
<main>
{body}
{notes}</main>
<footer>Provided for information. Back to <a href="#">top</a>.</footer>
<script>window.pageViews = (window.pageViews || 0) + 1;</script>
</body>
</html>
"""
    return page.encode()


def _block(block: Block) -> str:
    if block.kind == "heading":
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    if block.kind == "table":
        rows = "\n".join(_row(row, "th" if i == 0 else "td") for i, row in enumerate(block.rows))
        return f"<table>\n{rows}\n</table>"
    text = MARK.sub(r"<sup>\1</sup>", escape(block.text))
    return f"<p>{text}</p>"


def _row(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"
