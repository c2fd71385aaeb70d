"""Lays a text out, lets a strategy cut it, and turns the pieces into chunks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from chunk_assets import errors
from chunk_assets.chunking.finish import Finisher, Model
from chunk_assets.chunking.repair import complete
from chunk_assets.strategies import STRATEGIES
from chunk_assets.text import sentences, tokens
from chunk_assets.text.document import TextDocument
from chunk_assets.text.layout import UNBOUNDED, Layout, Sizes, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from chunk_assets.chunking.chosen import ChunkingStrategy
    from chunk_assets.records import ChunkSpan

_LEAST_MODEL_TOKENS = 8
# Tokenizers that split at white space first, so that no token and no rule goes over it.
_ADDITIVE = frozenset({"bge-small-en-v1.5"})


def chunk_markdown(
    markdown: str,
    chosen: ChunkingStrategy,
    *,
    tokenizer: str = "cl100k_base",
    model_tokenizer: str | None = "bge-small-en-v1.5",
    max_model_tokens: int = 512,
    splitter: str = "rules",
    embed: Callable[[Sequence[str]], NDArray[np.float32]] | None = None,
) -> list[ChunkSpan]:
    """The chunks of ``markdown`` in reading order; pure and deterministic.

    Args:
        markdown: any text. Form feeds are page breaks, which a chunk may span.
        chosen: strategy and parameters.
        tokenizer: counts ``token_count``, and the sizes among the parameters.
        model_tokenizer: counts ``model_token_count``; ``None`` leaves the model's bound unchecked.
        max_model_tokens: bound of the embedder's input, special tokens and context included.
        splitter: finds sentences (``text.sentences.splitter``).
        embed: for ``semantic`` with another embedder than the bundled one: texts to unit vectors.

    Raises:
        ConfigurationError: for an unknown name or an impossible bound, before the text is read.
    """
    return _Engine(chosen, tokenizer, model_tokenizer, max_model_tokens, splitter).run(markdown, embed)


class _Engine:
    def __init__(
        self,
        chosen: ChunkingStrategy,
        tokenizer: str,
        model: str | None,
        max_model_tokens: int,
        splitter: str,
    ) -> None:
        self.strategy, self.parameters = STRATEGIES[chosen.name], chosen.parameters
        self.policy = tokens.counter(tokenizer)
        self.model = tokens.counter(model) if model else None
        sentences.splitter(splitter)
        self.splitter = splitter
        if self.model and max_model_tokens < self.model.special_tokens + _LEAST_MODEL_TOKENS:
            message = f"max_model_tokens {max_model_tokens} leaves no room for text"
            raise errors.ConfigurationError(message)
        self.max_model_tokens = max_model_tokens
        self.sizes = self._sizes()

    def _sizes(self) -> Sizes:
        sizes = self.parameters.sizes()
        return dataclasses.replace(sizes, max_tokens=sizes.max_tokens or UNBOUNDED)

    def run(
        self, markdown: str, embed: Callable[[Sequence[str]], NDArray[np.float32]] | None
    ) -> list[ChunkSpan]:
        if not markdown.strip():
            return []
        layout = self._layout(TextDocument(markdown, self.splitter, records=self.strategy.records), embed)
        pieces = complete(layout, self.strategy.split(layout, self.parameters))
        return Finisher(layout, self.strategy, self._model()).chunks(pieces)

    def _layout(
        self, document: TextDocument, embed: Callable[[Sequence[str]], NDArray[np.float32]] | None
    ) -> Layout:
        text, points = document.markdown, document.points
        vocabularies = [Vocabulary(self.policy.index(text, points), self.policy, self.sizes.max_tokens)]
        if self.model:
            bound = self.max_model_tokens - self.model.special_tokens
            vocabularies.append(Vocabulary(self.model.index(text, points), self.model, bound))
        return Layout(document, self.sizes, vocabularies, embed)

    def _model(self) -> Model | None:
        if self.model is None:
            return None
        return Model(self.model, self.max_model_tokens, self.model.name in _ADDITIVE)
