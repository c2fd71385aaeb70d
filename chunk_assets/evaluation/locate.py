"""Finds a quote in a converted text although white space, markup and case may differ."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from chunk_assets.errors import ConfigurationError
from chunk_assets.records import Span


@dataclass(frozen=True, slots=True)
class Folded:
    """``text`` keeps letters and digits only; ``positions[i]`` is where its character i came from."""

    text: str
    positions: tuple[int, ...]


def fold(text: str) -> Folded:
    """Letters and digits of ``text`` in compatibility form and lower case, with their positions.

    >>> fold("| **1,5** kg |").text
    '15kg'
    """
    kept: list[str] = []
    positions: list[int] = []
    for position, char in enumerate(text):
        folded = "".join(c for c in unicodedata.normalize("NFKC", char).casefold() if c.isalnum())
        kept.append(folded)
        positions.extend([position] * len(folded))
    return Folded("".join(kept), tuple(positions))


def locate(quote: str, document: Folded, name: str) -> Span:
    """The one place of ``quote`` in a folded document.

    The span runs from its first letter or digit to its last, marks around them left out. Raises
    ``ConfigurationError`` for none or several places.
    """
    needle = fold(quote).text
    first = document.text.find(needle) if needle else -1
    if first < 0:
        raise ConfigurationError(f"{name}: the quote is not in the text: {quote[:120]!r}")
    if document.text.find(needle, first + 1) >= 0:
        raise ConfigurationError(f"{name}: the quote is in the text more than once: {quote[:120]!r}")
    return Span(document.positions[first], document.positions[first + len(needle) - 1] + 1)
