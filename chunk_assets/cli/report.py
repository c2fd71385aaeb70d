"""``chunk-assets report``: an HTML page that shows documents with their chunks."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.common import Output, home_options

if TYPE_CHECKING:
    from chunk_assets.catalog import Catalog
    from chunk_assets.report import Compared
    from chunk_assets.storage.layout import Batch


@click.command("report")
@click.argument("name", default="", metavar="[DOCUMENT|BATCH|SOURCE]")
@click.option(
    "--out",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the page  [default: HOME/reports/…]",
)
@click.option(
    "--compare", metavar="POLICY", help="Show beside it how another policy would cut the same text."
)
@click.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")
@home_options
def command(out: Output, name: str, target: Path | None, compare: str | None, open_it: bool) -> int:
    """Write one HTML page: texts with their chunks as bands, why each ends, tokens against bounds, a map."""
    from chunk_assets.report import batch_data, document_batches, page

    catalog = out.catalog()
    batches = document_batches(catalog.home, name)
    only = name if name and name not in {str(b) for b in batches} | {b.source for b in batches} else ""
    data = [
        batch_data(catalog.home, b, _limits(catalog, b), _compared(catalog, b, compare), only)
        for b in batches
    ]
    path = target or Path(catalog.home, "reports", f"{(name or 'all').replace('/', '_')}.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(f"Chunks of {name or 'all batches'}", data), encoding="utf-8")
    out.result({"report": str(path), "batches": [str(batch) for batch in batches]})
    if not out.quiet and not out.as_json:
        click.echo(str(path))
    if open_it:
        webbrowser.open(path.resolve().as_uri())
    return 0


def _limits(catalog: Catalog, batch: Batch) -> dict[str, int]:
    source = catalog.sources.get(batch.source)
    return {"max": _card(catalog).max_tokens, "min": source.min_tokens if source else 0}


def _card(catalog: Catalog) -> Any:
    from chunk_assets.embedders import load_embedder

    return load_embedder(catalog.embedder.name, **catalog.embedder.settings).card


def _compared(catalog: Catalog, batch: Batch, name: str | None) -> Compared | None:
    if not name:
        return None
    from chunk_assets.policy import BUILT_IN, policy, policy_from_rules
    from chunk_assets.report import compare_policy

    own = {key: policy_from_rules(key, rules) for key, rules in catalog.policies.items()}
    card = _card(catalog)
    return compare_policy(
        catalog.home,
        batch,
        policy(name, {**BUILT_IN, **own}),
        tokenizer=catalog.tokenizer,
        model_tokenizer=card.tokenizer,
        max_model_tokens=card.max_tokens,
        splitter=catalog.splitter,
    )
