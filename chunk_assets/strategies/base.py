"""What a strategy is: a pure function from a laid out document to the pieces it becomes.

A strategy decides where chunks should end; the engine (``chunking.py``) guarantees the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, model_validator

from chunk_assets.text.layout import Layout, Sizes

# Where a size is given and the overlap is not, the overlap is at most this part of it.
_OVERLAP_SHARE = 5


# Tokens or characters, 0 for no bound.
Size = Annotated[int, Field(ge=0)]


class Parameters(BaseModel):
    """Base of every strategy's parameters: frozen, unknown names refused, checked at birth.

    Sizes are in tokens of the policy's tokenizer or in characters, as their names say; 0 is no
    bound. ``max_tokens`` holds for context and text together, ``target_tokens`` and ``max_chars``
    for the text. A subclass changes defaults only. A default that does not go with a given size
    gives way to it; two given values that don't go together are refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens: Size = 0
    """Bound of context and text together; 0 is none but the embedder's."""
    target_tokens: Size = 0
    """How much text a chunk should hold."""
    overlap_tokens: Size = 0
    """How much of the chunk before is repeated at most, in whole sentences."""
    min_tokens: Size = 0
    """A last chunk under this joins the one before it, if it fits."""
    max_chars: Size = 0
    """As `target_tokens`, in characters."""
    overlap_chars: Size = 0
    """As `overlap_tokens`, in characters."""

    @model_validator(mode="after")
    def _sizes_go_together(self) -> Parameters:
        given = self.model_fields_set
        for smaller, size in (("overlap_tokens", self._token_size()), ("overlap_chars", self.max_chars)):
            value = getattr(self, smaller)
            if smaller in given and value and size and value >= size:
                message = f"{smaller} {value} must be less than the size of a chunk, {size}"
                raise ValueError(message)
        if {"max_tokens", "target_tokens"} <= given and 0 < self.max_tokens < self.target_tokens:
            message = f"target_tokens {self.target_tokens} is over max_tokens {self.max_tokens}"
            raise ValueError(message)
        if "min_tokens" in given and self._token_size() and self.min_tokens > self._token_size():
            message = f"min_tokens {self.min_tokens} is over the size of a chunk, {self._token_size()}"
            raise ValueError(message)
        return self

    def _token_size(self) -> int:
        given = self.model_fields_set
        if "max_tokens" in given and self.max_tokens:
            return min(self.max_tokens, self.target_tokens or self.max_tokens)
        return self.target_tokens or self.max_tokens

    def _default(self, name: str, most: int) -> int:
        value: int = getattr(self, name)
        return value if name in self.model_fields_set else min(value, most)

    def sizes(self) -> Sizes:
        """The sizes in force: defaults made to go with what was given."""
        given, size = self.model_fields_set, self._token_size()
        by_tokens = bool({"max_tokens", "target_tokens"} & given)
        by_chars = "max_chars" in given or not by_tokens
        max_chars = self.max_chars if by_chars else 0
        share = size // _OVERLAP_SHARE if by_tokens else size
        return Sizes(
            target_tokens=size,
            max_tokens=self.max_tokens if "max_tokens" in given else max(self.max_tokens, size),
            overlap_tokens=self._default("overlap_tokens", share),
            min_tokens=self._default("min_tokens", size // _OVERLAP_SHARE),
            max_chars=max_chars,
            overlap_chars=self._default("overlap_chars", max_chars // _OVERLAP_SHARE) if max_chars else 0,
        )


class Piece(NamedTuple):
    """One chunk to be: ``markdown[start:end]``; ``reason`` only where the border itself does not say."""

    start: int
    end: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to cut. ``version`` goes up whenever a boundary for any input can move.

    ``split(layout, parameters)`` returns the pieces in reading order. ``promise`` is one sentence
    for the documentation. ``records``: it wants delimited text laid out as a table.
    """

    name: str
    version: int
    parameters: type[Parameters]
    split: Callable[[Layout, Any], list[Piece]]
    promise: str
    records: bool = False
