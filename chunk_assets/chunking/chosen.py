"""A strategy with its parameters, checked before any text is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chunk_assets import errors, hashing
from chunk_assets.strategies import STRATEGIES, Parameters, Strategy
from chunk_assets.text import sentences
from chunk_assets.text.markdown import VERSION as MARKDOWN_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

# Goes up whenever the engine itself can move a boundary of any text.
VERSION = 1


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
        said = "; ".join(_told(one) for one in fault.errors())
        message = f"parameters of strategy {found.name!r} {parameters}: {said}"
        raise errors.ConfigurationError(message) from fault


def _told(fault: Any) -> str:
    """One complaint with its key and value where it is about a single one."""
    message = str(fault["msg"]).removeprefix("Value error, ")
    if not fault["loc"]:
        return message
    return f"{'.'.join(map(str, fault['loc']))}: {fault['input']!r}: {message}"
