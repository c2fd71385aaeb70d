"""The Python API: five names. ``from chunk_assets import load_catalog, convert, chunk, embed, run``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chunk_assets.catalog import Catalog, load_catalog
from chunk_assets.errors import ChunkAssetsError
from chunk_assets.records import Chunk, Converted, DocumentMetadata

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chunk_assets.converters.base import Options
    from chunk_assets.pipeline import RunReport
    from chunk_assets.policy import Policy

__all__ = ["chunk", "convert", "embed", "load_catalog", "run"]

Rules = Iterable[Mapping[str, Any]]


def convert(source: bytes | str | Path, name: str = "", options: Options | None = None) -> Converted:
    r"""Markdown of one document: its bytes, or the path of a local file.

    Never raises for bad input: ``status`` and ``reason`` say what is wrong. Runs in this process, without
    the limits on time and memory that the pipeline sets.

    >>> convert(b"# Terms\n\nPay in 30 days.\n", "terms.md").markdown
    '# Terms\n\nPay in 30 days.\n'
    """
    from chunk_assets.conversion import convert_bytes, convert_source
    from chunk_assets.converters.base import Options

    options = options or Options()
    if isinstance(source, bytes):
        return convert_bytes(source, name, options)
    return convert_source(str(source), name or Path(source).name, options)


def chunk(
    text: str | Converted,
    *,
    policy: str | Policy | Rules = "auto",
    metadata: DocumentMetadata | None = None,
    document_id: str = "document",
    tokenizer: str = "cl100k_base",
    model_tokenizer: str = "bge-small-en-v1.5",
    max_model_tokens: int = 512,
) -> list[Chunk]:
    """Chunks of a markdown text, or of what ``convert`` gave.

    Pages are those of the conversion; in a plain text, form feeds divide pages.

    ``policy`` is a built-in name, a ``Policy``, or rules as in ``sources.yaml``. ``max_model_tokens``
    bounds context, text and special tokens, counted by ``model_tokenizer``.

    >>> [c.span.text for c in chunk("One sentence. Another one.", document_id="note")]
    ['One sentence. Another one.']
    """
    from chunk_assets.chunking import chunk_markdown
    from chunk_assets.hashing import fingerprint, sha256_text
    from chunk_assets.pipeline.slicing import Wanted, chunks_of
    from chunk_assets.text.document import TextDocument, pages_by_form_feed
    from chunk_assets.text.facts import has_clean_paragraphs

    converted = text if isinstance(text, Converted) else Converted(text)
    markdown = converted.markdown
    described = replace(
        metadata or DocumentMetadata(file_type="markdown"),
        has_headings=bool(TextDocument(markdown).headings),
        has_clean_paragraphs=has_clean_paragraphs(markdown),
    )
    strategy = _policy(policy).choose(described)
    spans = chunk_markdown(
        markdown,
        strategy,
        tokenizer=tokenizer,
        model_tokenizer=model_tokenizer,
        max_model_tokens=max_model_tokens,
    )
    engine = fingerprint({"strategy": strategy.fingerprint, "tokenizers": [tokenizer, model_tokenizer]})
    wanted = Wanted(document_id, sha256_text(markdown), described, strategy, engine)
    return chunks_of(wanted, spans, converted.pages or pages_by_form_feed(markdown))


def _policy(policy: str | Policy | Rules) -> Policy:
    from chunk_assets import policy as policies

    if isinstance(policy, str):
        return policies.policy(policy)
    return policy if isinstance(policy, policies.Policy) else policies.policy_from_rules("rules", policy)


def embed(
    passages: Sequence[str | Chunk], *, embedder: str = "bge_small", workers: int = 1, **settings: Any
) -> NDArray[np.float32]:
    """Unit vectors of shape ``(len(passages), dimension)``, in the order of the passages.

    A chunk is embedded as the pipeline does it: its context, a blank line, its text. ``settings`` are those
    of the embedder in the catalog.

    >>> embed(["One sentence.", "Another one."], embedder="hash", dimension=16).shape
    (2, 16)

    Raises:
        ConfigurationError: there is no such embedder, or one of its settings is wrong.
        ChunkAssetsError: the embedder refused a text (too long, say); nothing is truncated.
    """
    import numpy as np

    from chunk_assets.embedders import load_embedder
    from chunk_assets.embedders.base import ordered
    from chunk_assets.text.contexts import embedder_text

    texts = [p if isinstance(p, str) else embedder_text(p.span.context, p.span.text) for p in passages]
    model = load_embedder(embedder, **settings)
    try:
        answers = ordered(model.embed(texts, workers=workers), len(texts))
    finally:
        model.close()
    vectors = np.zeros((len(texts), model.card.dimension), dtype=np.float32)
    for answer in answers:
        if answer.vector is None:
            msg = f"text {answer.index}: {answer.error}"
            raise ChunkAssetsError(msg)
        vectors[answer.index] = answer.vector
    return vectors


def run(home: str | Path | Catalog, *, sources: Sequence[str] = (), workers: int = 0) -> RunReport:
    """Brings the tables of a home up to date, without Dagster; all sources, or the named ones.

    ``workers`` are processes, 0 for one a core. The exit code of the report is that of ``chunk-assets run``.

    >>> report = run("my-project", sources=["documents"])  # doctest: +SKIP
    >>> report.exit_code, report.embedded  # doctest: +SKIP
    (0, 3)

    Raises:
        ConfigurationError: the catalog is wrong, or a source is not in it.
        LockHeld: another run works on one of the batches.
    """
    from chunk_assets.pipeline import RunOptions, run_sources

    catalog = home if isinstance(home, Catalog) else load_catalog(home)
    for name in sources:
        catalog.source(name)
    return run_sources(catalog, sources=tuple(sources) or None, options=RunOptions(workers=workers))
