"""The one engine: from markdown and a strategy to chunks that keep every promise.

A strategy says where chunks should end. The engine lays the text out in units that fit, and then
slices, counts, bounds, and says of each chunk what is above it and why it ends.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from chunk_assets import errors, hashing
from chunk_assets.records import ChunkSpan
from chunk_assets.strategies import STRATEGIES, Parameters, Piece, Strategy
from chunk_assets.text import ladder, reasons, sentences, tokens
from chunk_assets.text.contexts import embedder_text
from chunk_assets.text.document import TextDocument
from chunk_assets.text.facts import has_clean_paragraphs
from chunk_assets.text.layout import Layout, Sizes, Vocabulary
from chunk_assets.text.markdown import VERSION as MARKDOWN_VERSION
from chunk_assets.text.markdown import headings, kinds, n_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

# Goes up whenever the engine itself can move a boundary of any text.
VERSION = 1

__all__ = [
    "VERSION",
    "ChunkingStrategy",
    "chunk_markdown",
    "embedder_text",
    "has_clean_paragraphs",
    "headings",
    "n_tables",
    "strategy",
]

_UNBOUNDED = 1 << 40
_LEAST_MODEL_TOKENS = 8
_KINDS = {kinds.LIST: "list", kinds.TABLE: "table", kinds.HTML_TABLE: "table", kinds.FENCE: "code"}
CONTENT_KINDS = ("prose", "table", "code", "list", "row")


@dataclass(frozen=True)
class ChunkingStrategy:
    """A strategy with its parameters: what a policy chooses for a document."""

    name: str
    parameters: Parameters

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever the chunks of any text can change."""
        return hashing.fingerprint(
            {
                "strategy": self.name,
                "version": STRATEGIES[self.name].version,
                "parameters": self.parameters.model_dump(),
                "given": sorted(self.parameters.model_fields_set),
                "engine": VERSION,
                "markdown": MARKDOWN_VERSION,
                "sentences": sentences.VERSION,
            }
        )


def strategy(name: str, parameters: Mapping[str, Any] | None = None) -> ChunkingStrategy:
    """The strategy ``name`` with ``parameters``; ``ConfigurationError`` says what is wrong with them."""
    if name not in STRATEGIES:
        raise errors.unknown("strategy", name, STRATEGIES)
    return ChunkingStrategy(name, _checked(STRATEGIES[name], dict(parameters or {})))


def _checked(found: Strategy, parameters: dict[str, Any]) -> Parameters:
    from pydantic import ValidationError

    for key in parameters:
        if key not in found.parameters.model_fields:
            raise errors.unknown(f"parameter of {found.name}", key, found.parameters.model_fields)
    try:
        return found.parameters(**parameters)
    except ValidationError as fault:
        said = "; ".join(
            ".".join(str(part) for part in one["loc"]) + (": " if one["loc"] else "") + one["msg"]
            for one in fault.errors()
        )
        message = f"parameters of strategy {found.name!r} {parameters}: {said}"
        raise errors.ConfigurationError(message) from fault


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
        return dataclasses.replace(sizes, max_tokens=sizes.max_tokens or _UNBOUNDED)

    def run(
        self, markdown: str, embed: Callable[[Sequence[str]], NDArray[np.float32]] | None
    ) -> list[ChunkSpan]:
        if not markdown.strip():
            return []
        layout = self._layout(TextDocument(markdown, self.splitter), embed)
        pieces = complete(layout, self.strategy.split(layout, self.parameters))
        return _Finisher(layout, self.strategy, self.model_counts(layout)).chunks(pieces)

    def _layout(
        self, document: TextDocument, embed: Callable[[Sequence[str]], NDArray[np.float32]] | None
    ) -> Layout:
        text = document.markdown
        vocabularies = [Vocabulary(self.policy.index(text), self.policy.count, self.sizes.max_tokens)]
        if self.model:
            bound = self.max_model_tokens - self.model.special_tokens
            vocabularies.append(Vocabulary(self.model.index(text), self.model.count, bound))
        return Layout(document, self.sizes, vocabularies, embed)

    def model_counts(self, layout: Layout) -> Callable[[int, int, str], int]:
        """Exact tokens of the embedder's input for a span and its context."""
        model = self.model
        if model is None:
            return lambda start, end, context: 0
        index, text = layout.vocabularies[1].index, layout.document.markdown

        def count(start: int, end: int, context: str) -> int:
            if not context:
                return index.count(start, end) + model.special_tokens
            return model.count(embedder_text(context, text[start:end])) + model.special_tokens

        return count


def complete(layout: Layout, pieces: list[Piece]) -> list[Piece]:
    """The pieces of a strategy, made to cover the text, to rise, and to be within every bound.

    Strategies that pack units need none of this; it makes the promises hold for any other one.
    """
    text = layout.document.markdown
    found: list[Piece] = []
    covered = 0
    for piece in pieces:
        if piece.end <= covered or (found and piece.start <= found[-1].start):
            continue
        found.extend(_gap(text, covered, piece.start))
        found.append(piece)
        covered = piece.end
    found.extend(_gap(text, covered, len(text)))
    return [part for piece in found for part in _bounded(layout, piece)]


def _gap(text: str, start: int, end: int) -> list[Piece]:
    return [Piece(start, end)] if start < end and text[start:end].strip() else []


def _bounded(layout: Layout, piece: Piece) -> list[Piece]:
    text = layout.document.markdown
    start = piece.start + len(text[piece.start : piece.end]) - len(text[piece.start : piece.end].lstrip())
    end = start + len(text[start : piece.end].rstrip())
    if start >= end:
        return []
    costs = layout.contexts.at(start, layout.columns.get(start)).costs
    pairs = zip(layout.vocabularies, costs, strict=True)
    if all(v.index.count(start, end) <= v.bound - cost for v, cost in pairs):
        return [Piece(start, end, piece.reason)]
    inside = [most // 4 * 2 for most in (v.bound for v in layout.vocabularies)]
    bounds = tuple(
        (v.index, max(1, v.bound - most)) for v, most in zip(layout.vocabularies, inside, strict=True)
    )
    room = ladder.Room(text, bounds, hard=1 if len(bounds) > 1 else -1)
    parts, begin = [], start
    for at, rank in ladder.cuts(room, start, end, -1):
        parts.append(Piece(begin, at, reasons.OF_RANK[rank]))
        begin = at
    return [*parts, Piece(begin, end, piece.reason)]


class _Finisher:
    """Turns pieces into chunks."""

    def __init__(self, layout: Layout, chosen: Strategy, model_count: Callable[[int, int, str], int]) -> None:
        self.layout, self.strategy, self.model_count = layout, chosen, model_count
        self.document = layout.document
        blocks = self.document.blocks
        self._starts, self._ends = blocks.starts.tolist(), blocks.ends.tolist()
        self._kinds = blocks.kinds.tolist()

    def chunks(self, pieces: list[Piece]) -> list[ChunkSpan]:
        if not pieces:
            return []
        starts = np.array([piece.start for piece in pieces], dtype=np.int64)
        ends = np.array([piece.end for piece in pieces], dtype=np.int64)
        starts, ends = self.document.trimmed(starts, ends)
        counts = self.layout.vocabularies[0].index.counts(starts, ends).tolist()
        blocks = (np.searchsorted(self.document.blocks.starts, starts, side="right") - 1).tolist()
        names = self._reasons(pieces, ends)
        found: list[ChunkSpan] = []
        before = 0
        for at, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            found.append(self._chunk(start, end, counts[at], blocks[at], names[at], before))
            before = end
        return found

    def _chunk(self, start: int, end: int, count: int, block: int, reason: str, before: int) -> ChunkSpan:
        context = self.layout.contexts.at(start, self.layout.columns.get(start)).text
        model_count = self.model_count(start, end, context)
        if context and len(self.layout.vocabularies) > 1 and model_count > self._model_bound():
            context, model_count = "", self.model_count(start, end, "")
        return ChunkSpan(
            start_char=start,
            end_char=end,
            text=self.document.markdown[start:end],
            context=context,
            token_count=count,
            model_token_count=model_count,
            heading_path=self._path(start, end, block),
            content_kind=self._kind(start, end, block),
            split_reason=reason,
            overlap_chars=max(0, before - start),
        )

    def _model_bound(self) -> int:
        return self.layout.vocabularies[1].bound + self.model_count(0, 0, "")

    def _reasons(self, pieces: list[Piece], ends: NDArray[np.int64]) -> list[str]:
        """Why each piece ends: what its maker said, else the rank of the border at its end."""
        layout = self.layout
        at = np.searchsorted(layout.ends, ends)
        known = at < len(layout)
        known[known] = layout.ends[at[known]] == ends[known]
        following = np.append(layout.ranks[1:], reasons.END)
        ranks = following[np.minimum(at, len(layout) - 1)].tolist()
        return [
            piece.reason
            if piece.reason and not (sure and rank == reasons.END)
            else reasons.OF_RANK[rank]
            if sure
            else reasons.SIZE
            for piece, rank, sure in zip(pieces, ranks, known.tolist(), strict=True)
        ]

    def _path(self, start: int, end: int, block: int) -> tuple[str, ...]:
        """The headings over the first text of the chunk that is no heading itself."""
        last = len(self._kinds) - 1
        while block < last and self._kinds[block] == kinds.HEADING and self._starts[block + 1] < end:
            block += 1
        at = max(start, self._starts[block])
        if self._kinds[block] == kinds.HEADING:
            at = max(at, min(end, self._ends[block]))
        index = int(np.searchsorted(self.document.heading_starts, at, side="right")) - 1
        return self.document.heading_path(index)

    def _kind(self, start: int, end: int, block: int) -> str:
        """What most of the chunk's characters are; headings count only where there is nothing else."""
        sizes: dict[str, int] = {}
        while block < len(self._kinds) and self._starts[block] < end:
            length = min(end, self._ends[block]) - max(start, self._starts[block])
            if self._kinds[block] != kinds.HEADING:
                name = _KINDS.get(self._kinds[block], "prose")
                sizes[name] = sizes.get(name, 0) + length
            block += 1
        kind = max(sizes, key=lambda name: sizes[name]) if sizes else "prose"
        return "row" if kind == "table" and self.strategy.name == "row" else kind
