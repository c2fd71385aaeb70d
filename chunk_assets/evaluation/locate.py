"""Finds a quote in a converted text although white space, markup and case may differ."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from chunk_assets.errors import ConfigurationError
from chunk_assets.evaluation.records import Place


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


def locate(quote: str, folded: Folded, document: str) -> Place:
    """The one place of ``quote`` in the folded text of ``document``.

    It runs from its first letter or digit to its last, marks around them left out. Raises
    ``ConfigurationError`` for none or several places.
    """
    needle = fold(quote).text
    first = folded.text.find(needle) if needle else -1
    if first < 0:
        raise ConfigurationError(f"{document}: the quote is not in the text: {quote[:120]!r}")
    if folded.text.find(needle, first + 1) >= 0:
        raise ConfigurationError(f"{document}: the quote is in the text more than once: {quote[:120]!r}")
    return Place(document, folded.positions[first], folded.positions[first + len(needle) - 1] + 1)
