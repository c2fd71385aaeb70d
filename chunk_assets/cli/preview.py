"""``chunk-assets preview``: the chunks of one file, before anything is run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.common import SOME_FAILED, Output, home_options

if TYPE_CHECKING:
    from chunk_assets.policy import Policy
    from chunk_assets.records import Chunk, Converted, DocumentMetadata

SHOWN = 300


@click.command("preview")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--policy",
    "-p",
    default=None,
    help="A policy by name: built in, or from the catalog  [default: the catalog's]",
)
@click.option("--strategy", "-s", default=None, help="A strategy by name, instead of a policy.")
@click.option(
    "--param",
    "-P",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of --strategy (may be repeated).",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    help="A tag that the document has; policies look at tags (may be repeated).",
)
@click.option("--tokenizer", default=None, help="The policy's tokenizer  [default: the catalog's]")
@click.option("--full", is_flag=True, help="Show whole texts, not their beginnings.")
@home_options
def command(file: Path, out: Output, full: bool, tags: tuple[str, ...], **how: Any) -> int:
    """Show the chunks of FILE with tokens, pages and heading paths."""
    from chunk_assets.api import convert

    converted = convert(file)
    if not converted.markdown:
        out.result({"chunks": [], "markdown": "", "status": converted.status, "reason": converted.reason})
        click.echo(f"{file}: {converted.status}: {converted.reason}", err=True)
        return SOME_FAILED
    chunks = _chunks(out, file, converted, tags, **how)
    out.result(
        {
            "status": converted.status,
            "reason": converted.reason,
            "chunks": [_as_json(chunk) for chunk in chunks],
            "markdown": converted.markdown,
        }
    )
    if not out.as_json:
        _show(out, chunks, SHOWN if not full else 10**9)
    return 0 if converted.status == "ok" else SOME_FAILED


def _chunks(
    out: Output,
    file: Path,
    converted: Converted,
    tags: tuple[str, ...],
    *,
    policy: str | None,
    strategy: str | None,
    params: tuple[str, ...],
    tokenizer: str | None,
) -> list[Chunk]:
    from chunk_assets.api import chunk

    chosen, counted_by, model = _settings(out, policy, strategy, params)
    return chunk(
        converted,
        policy=chosen,
        metadata=_metadata(file, tags),
        document_id=file.stem,
        tokenizer=tokenizer or counted_by,
        **model,
    )


def _settings(
    out: Output, policy: str | None, strategy: str | None, params: tuple[str, ...]
) -> tuple[Policy, str, dict[str, Any]]:
    """Policy, tokenizer and the embedder's bound: those of the catalog when the home has one."""
    import os

    from chunk_assets.catalog import HOME_FILE, load_catalog
    from chunk_assets.embedders import load_embedder
    from chunk_assets.policy import BUILT_IN, ChunkingFactory, policy_from_rules
    from chunk_assets.policy import policy as policy_named

    mode = os.environ.get("CHUNKING_FACTORY_MODE")
    catalog = load_catalog(out.home) if Path(out.home, HOME_FILE).is_file() else None
    known = dict(BUILT_IN)
    if catalog:
        known |= {name: policy_from_rules(name, rules) for name, rules in catalog.policies.items()}
    if strategy:
        found = policy_from_rules(strategy, [{"strategy": strategy, "parameters": _parameters(params)}])
    else:
        name = policy or (catalog.policy if catalog else "auto")
        found = ChunkingFactory(policy_named(name, known), mode, known).policy
    card = load_embedder(catalog.embedder.name, **catalog.embedder.settings).card if catalog else None
    model = {"model_tokenizer": card.tokenizer, "max_model_tokens": card.max_tokens} if card else {}
    return found, catalog.tokenizer if catalog else "cl100k_base", model


def _parameters(params: tuple[str, ...]) -> dict[str, Any]:
    """``name=value`` pairs; values are read as YAML, so that numbers are numbers."""
    import yaml

    from chunk_assets.errors import ConfigurationError

    values = {}
    for param in params:
        name, equals, value = param.partition("=")
        if not equals:
            msg = f"--param is written NAME=VALUE; got {param!r}"
            raise ConfigurationError(msg)
        values[name.strip()] = yaml.safe_load(value)
    return values


def _metadata(file: Path, tags: tuple[str, ...]) -> DocumentMetadata:
    from chunk_assets.converters import file_type
    from chunk_assets.converters.sniff import media_type
    from chunk_assets.records import DocumentMetadata

    return DocumentMetadata(file_type=file_type(media_type(file.read_bytes(), file.name)), tags=tags)


def _as_json(chunk: Chunk) -> dict[str, Any]:
    span = chunk.span
    return {
        "chunk_id": chunk.chunk_id,
        "text": span.text,
        "context": span.context,
        "start_char": span.start_char,
        "end_char": span.end_char,
        "token_count": span.token_count,
        "model_token_count": span.model_token_count,
        "page_start": chunk.page_start,
        "page_end": chunk.page_end,
        "heading_path": list(span.heading_path),
        "content_kind": span.content_kind,
        "strategy": chunk.strategy,
        "split_reason": span.split_reason,
        "overlap_chars": span.overlap_chars,
        "chunk_sha256": chunk.chunk_sha256,
    }


def _show(out: Output, chunks: list[Chunk], limit: int) -> None:
    from rich.text import Text

    for chunk in chunks:
        span = chunk.span
        pages = f" p. {chunk.page_start}–{chunk.page_end}" if chunk.page_start else ""
        head = (
            f"── {chunk.chunk_id}  {span.token_count} tokens ({span.model_token_count} with context){pages}"
        )
        out.console.print(Text(f"{head}  {' › '.join(span.heading_path)}", style="bold cyan"))
        if span.context:
            out.console.print(Text(span.context.rstrip(), style="dim"))
        text = span.text.strip("\n")
        out.console.print(Text(text if len(text) <= limit else f"{text[:limit]} …"))
        out.console.print(Text(f"   ends at: {span.split_reason}; strategy: {chunk.strategy}", style="dim"))
    tokens = [chunk.span.token_count for chunk in chunks]
    if tokens:
        middle = sorted(tokens)[len(tokens) // 2]
        out.console.print(
            f"{len(chunks)} chunks, {min(tokens)} / {middle} / {max(tokens)} tokens (min, median, max)"
        )
