"""What a strategy is: a pure function from a parsed markdown text to the places to cut.

A strategy decides where chunks should end; the engine (``chunking.py``) guarantees the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from chunk_assets.text.document import TextDocument


class Parameters(BaseModel):
    """Base of every strategy's parameters: frozen, unknown names refused, checked at birth."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to cut. ``version`` goes up whenever a boundary for any input can move."""

    name: str
    version: int
    parameters: type[Parameters]
    split: Callable[[TextDocument, Any], Any]
    promise: str
