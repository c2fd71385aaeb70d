"""All that decides what is made of bytes, with a fingerprint for each part: equal prints, equal rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chunk_assets.catalog import Catalog
from chunk_assets.chunking import ChunkingStrategy, chunk_markdown
from chunk_assets.conversion import converter_id
from chunk_assets.converters.base import Options
from chunk_assets.converters.media import CONVERTER_OF
from chunk_assets.embedders.base import EmbedderCard
from chunk_assets.hashing import fingerprint
from chunk_assets.policy import BUILT_IN, ChunkingFactory, policy, policy_from_rules
from chunk_assets.records import ChunkSpan, DocumentMetadata

if TYPE_CHECKING:
    from chunk_assets.embedders.base import Embedder

# Goes up when a column is added or its meaning changes: then all rows are made anew (no text is embedded).
SCHEMA_VERSION = 2


@dataclass(frozen=True, slots=True)
class Recipe:
    """The recipe of one source. ``digest`` covers everything; equal digests make equal tables."""

    options: Options
    card: EmbedderCard
    model_fingerprint: str
    digest: str
    strategy: Callable[[DocumentMetadata], ChunkingStrategy]
    chunk: Callable[[str, ChunkingStrategy], list[ChunkSpan]]
    count_model_tokens: Callable[[Sequence[str]], list[int]]
    max_model_tokens: int
    min_tokens: int
    engine: str
    sparse: EmbedderCard | None = None
    sparse_fingerprint: str = ""

    def convert_fingerprint(self, media_type: str, *, failed: bool = False) -> str:
        """Of converter, its version and options; for documents that failed also of the limits.

        So that a raised limit gives a refused document another chance, and does nothing to the others.
        """
        parts = {
            "converter": converter_id(media_type),
            "media_type": media_type,
            "ocr": self.options.ocr,
            "html_keep": self.options.html_keep,
            "schema": SCHEMA_VERSION,
        }
        if failed:
            limits = self.options.limits
            parts["limits"] = {name: getattr(limits, name) for name in limits.__dataclass_fields__}
        return fingerprint(parts)

    def chunk_fingerprint(self, convert_fingerprint: str, strategy: ChunkingStrategy) -> str:
        """Of everything between bytes and chunks."""
        return fingerprint(
            {"convert": convert_fingerprint, "strategy": strategy.fingerprint, "engine": self.engine}
        )


def model_fingerprint(card: EmbedderCard) -> str:
    """Of everything about a model that can change a vector."""
    names = ("model_id", "revision", "version", "dimension", "passage_prefix", "pooling", "normalized")
    sparse = {"most_weights": card.most_weights} if card.most_weights else {}
    return fingerprint({name: getattr(card, name) for name in names} | sparse)


def recipe_of(
    catalog: Catalog, source: str, embedder: Embedder, mode: str = "", sparse: EmbedderCard | None = None
) -> Recipe:
    """The recipe of a source as the catalog and the installed versions have it now.

    ``mode`` is the value of ``CHUNKING_FACTORY_MODE``, ``sparse`` the model beside the embedder.
    """
    from chunk_assets.text.tokens import counter

    settings, card = catalog.source(source), embedder.card
    options = Options(catalog.limits_of(source), settings.ocr, settings.html_keep)
    factory = _factory(catalog, source, mode)
    model = counter(card.tokenizer)
    prefix = model.count(card.passage_prefix) if card.passage_prefix else 0
    bound = settings.max_tokens or card.max_tokens - prefix
    engine = fingerprint(
        {
            "tokenizer": counter(catalog.tokenizer).version,
            "model_tokenizer": model.version,
            "max_model_tokens": bound,
            "splitter": catalog.splitter,
            "schema": SCHEMA_VERSION,
        }
    )

    def chunk(markdown: str, strategy: ChunkingStrategy) -> list[ChunkSpan]:
        return chunk_markdown(
            markdown,
            strategy,
            tokenizer=catalog.tokenizer,
            model_tokenizer=card.tokenizer,
            max_model_tokens=bound,
            splitter=catalog.splitter,
        )

    return Recipe(
        options=options,
        card=card,
        model_fingerprint=model_fingerprint(card),
        digest=_digest(options, factory.policy.fingerprint, engine, [card, *([sparse] if sparse else [])]),
        strategy=factory.from_metadata,
        chunk=chunk,
        count_model_tokens=embedder.count_tokens,
        max_model_tokens=card.max_tokens,
        min_tokens=settings.min_tokens,
        engine=engine,
        sparse=sparse,
        sparse_fingerprint=model_fingerprint(sparse) if sparse else "",
    )


def code_fingerprints(catalog: Catalog, source: str, recipe: Recipe, mode: str = "") -> dict[str, str]:
    """One print for each stage of the recipe: ``convert``, ``chunk`` and ``embed``."""
    chosen = _factory(catalog, source, mode).policy.fingerprint
    converters = {kind: converter_id(kind) for kind in CONVERTER_OF}
    options = {"ocr": recipe.options.ocr, "html_keep": recipe.options.html_keep}
    return {
        "convert": fingerprint({"converters": converters, **options, "schema": SCHEMA_VERSION}),
        "chunk": fingerprint({"policy": chosen, "engine": recipe.engine}),
        "embed": "+".join(filter(None, (recipe.model_fingerprint, recipe.sparse_fingerprint))),
    }


def _factory(catalog: Catalog, source: str, mode: str) -> ChunkingFactory:
    own = {name: policy_from_rules(name, rules) for name, rules in catalog.policies.items()}
    return ChunkingFactory(policy(catalog.policy_name(source), {**BUILT_IN, **own}), mode or None, own)


def _digest(options: Options, policy_fingerprint: str, engine: str, models: Sequence[EmbedderCard]) -> str:
    limits = options.limits
    prints = [model_fingerprint(card) for card in models]
    return fingerprint(
        {
            "converters": {kind: converter_id(kind) for kind in CONVERTER_OF},
            "ocr": options.ocr,
            "html_keep": options.html_keep,
            "limits": {name: getattr(limits, name) for name in limits.__dataclass_fields__},
            "policy": policy_fingerprint,
            "engine": engine,
            "model": prints[0] if len(prints) == 1 else prints,
        }
    )
