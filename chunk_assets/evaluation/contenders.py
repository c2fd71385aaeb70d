"""What is compared: policies, strategies with parameters, or any function from a document to pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chunk_assets.chunking import ChunkingStrategy, chunk_markdown, has_clean_paragraphs, headings, strategy
from chunk_assets.errors import unknown
from chunk_assets.evaluation.records import EvalDocument, Piece
from chunk_assets.policy import BUILT_IN, ChunkingFactory, Policy
from chunk_assets.records import DocumentMetadata
from chunk_assets.strategies import STRATEGIES

Chunk = Callable[[EvalDocument], list[Piece]]


@dataclass(frozen=True, slots=True)
class Contender:
    """A name for the table, and how it cuts a document."""

    name: str
    chunk: Chunk


def contender(name: str, policies: Mapping[str, Policy] = BUILT_IN) -> Contender:
    """The contender of a policy's or a strategy's name; a policy goes first where both exist.

    Strategies have their default parameters. An unknown name is an error that lists the known ones.
    """
    if name in policies:
        return of_policy(policies[name])
    if name in STRATEGIES:
        return of_strategy(name)
    raise unknown("strategy or policy", name, {*policies, *STRATEGIES})


def of_policy(policy: Policy, name: str | None = None) -> Contender:
    """Cuts each document by the strategy that the policy chooses for it."""
    factory = ChunkingFactory(policy)
    return Contender(name or policy.name, lambda d: pieces(d, factory.from_metadata(described(d))))


def of_strategy(
    name: str, parameters: Mapping[str, Any] | None = None, title: str | None = None, context: bool = True
) -> Contender:
    """Cuts every document by one strategy. ``context`` False leaves out headings and table headers."""
    chosen = strategy(name, parameters)
    return Contender(title or name, lambda d: pieces(d, chosen, context=context))


def pieces(document: EvalDocument, chosen: ChunkingStrategy, context: bool = True) -> list[Piece]:
    """The chunks of a document as pieces."""
    spans = chunk_markdown(document.markdown, chosen)
    return [Piece(document.name, s.start_char, s.end_char, s.context if context else "") for s in spans]


def described(document: EvalDocument) -> DocumentMetadata:
    """The document's metadata with what its text tells: whether it has headings and clean paragraphs."""
    return replace(
        document.metadata,
        has_headings=bool(headings(document.markdown)),
        has_clean_paragraphs=has_clean_paragraphs(document.markdown),
    )
