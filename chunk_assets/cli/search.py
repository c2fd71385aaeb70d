"""``chunk-assets search``: ask a question of the published tables."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.common import Output, home_options
from chunk_assets.errors import ConfigurationError

if TYPE_CHECKING:
    from chunk_assets.search import Hit

SHOWN = 700


@click.command("search")
@click.argument("question")
@click.option("--source", "-s", default=None, help="Only this source.")
@click.option(
    "--filter",
    "-f",
    "filters",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only chunks with this value; FIELD=>=VALUE and FIELD=<=VALUE are bounds (may be repeated).",
)
@click.option("--k", "-k", default=5, show_default=True, type=click.IntRange(1), help="How many passages.")
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "dense", "bm25", "sparse"]),
    default="hybrid",
    show_default=True,
    help="By vectors, by words, by learned sparse weights (where there are some), or by all of them.",
)
@click.option("--budget", type=click.IntRange(1), help="At most this many tokens in all passages together.")
@click.option(
    "--neighbours", default=0, type=click.IntRange(0), help="Chunks to add before and after each passage."
)
@home_options
def command(out: Output, question: str, source: str | None, filters: tuple[str, ...], **how: Any) -> int:
    """Find passages that answer QUESTION, with document, pages, headings and the best sentence."""
    from chunk_assets.embedders import load_embedder, load_sparse_embedder
    from chunk_assets.search import open_index

    catalog = out.catalog()
    if source:
        catalog.source(source)
    embedder = load_embedder(catalog.embedder.name, **catalog.embedder.settings)
    beside = catalog.sparse_embedder
    sparse = load_sparse_embedder(beside.name, **beside.settings) if beside else None
    try:
        index = open_index(out.home, source, embedder, sparse)
        hits = index.search(
            question, how["k"], how["mode"], _filters(filters), how["budget"], neighbours=how["neighbours"]
        )
    finally:
        embedder.close()
    out.result({"hits": [_as_json(hit) for hit in hits]})
    if not out.as_json:
        _show(out, hits)
    return 0


def _filters(filters: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for text in filters:
        name, equals, value = text.partition("=")
        if not equals:
            msg = f"--filter is written FIELD=VALUE; got {text!r}"
            raise ConfigurationError(msg)
        found[name.strip()].append(value.strip())
    return dict(found)


def _as_json(hit: Hit) -> dict[str, Any]:
    return {
        "chunk_id": hit.chunk_id,
        "chunk_ids": list(hit.chunk_ids),
        "document_id": hit.document_id,
        "source": hit.source,
        "score": round(hit.score, 6),
        "text": hit.text,
        "start_char": hit.start_char,
        "end_char": hit.end_char,
        "pages": list(hit.pages) if hit.pages else [],
        "heading_path": list(hit.heading_path),
        "highlight": [hit.highlight.start, hit.highlight.end],
        "tokens": hit.tokens,
    }


def _show(out: Output, hits: list[Hit]) -> None:
    from rich.text import Text

    for number, hit in enumerate(hits, start=1):
        pages = f"  p. {hit.pages[0]}–{hit.pages[1]}" if hit.pages else ""
        head = f"{number}. {hit.chunk_id}  {hit.score:.3f}{pages}  {' › '.join(hit.heading_path)}"
        out.console.print(Text(head, style="bold cyan"))
        text = Text(hit.text)
        text.stylize("bold yellow", hit.highlight.start, hit.highlight.end)
        out.console.print(text[:SHOWN])
    if not hits and not out.quiet:
        out.console.print("Nothing found.")
