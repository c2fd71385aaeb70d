"""What a token counter is, and what it knows of one text.

Offsets are characters (code points) of the text. ``count(start, end)`` is always the number of
tokens of ``text[start:end]`` as if it were tokenised alone, without special tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Marks:
    """Token counts between any two of many offsets of one text by one subtraction.

    With ``s`` the offsets asked for as starts and ``e`` those asked for as ends: where
    ``s[i] < e[j]`` and ``first[i] <= last[j]`` the exact count of ``text[s[i]:e[j]]`` is
    ``ends[j] - starts[i]``. Elsewhere no token border is sure between the two (they are within one
    word, or one long run without blanks) and ``TokenIndex.count`` must be asked.
    ``offsets``, ``starts`` and ``first`` are ``int64[n]``, ``ends`` and ``last`` ``int64[m]``.
    """

    offsets: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


class TokenIndex(Protocol):
    """One text, tokenised once; counts of its parts are looked up, not computed anew."""

    @property
    def text(self) -> str:
        """The text that was indexed."""
        ...

    @property
    def total(self) -> int:
        """Tokens of the whole text."""
        ...

    def count(self, start: int, end: int) -> int:
        """Exact tokens of ``text[start:end]`` tokenised alone."""
        ...

    def counts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """``count`` of many spans, ``int64[n]``."""
        ...

    def furthest(self, start: int, max_tokens: int, stop: int | None = None) -> int:
        """The largest grapheme border ``end`` with ``count(start, end) <= max_tokens``.

        ``stop``, itself such a border, is the largest there is to look at; the end of the text when
        left out. What is looked at costs time, so a caller that knows a bound should give it.

        At least one whole grapheme is taken, even when it alone is over ``max_tokens``, so that a
        caller that cuts here always moves on. "Largest" is meant along tokens: no later end that is
        also a token border fits.
        """
        ...

    def marks(self, offsets: NDArray[np.int64], ends: NDArray[np.int64] | None = None) -> Marks:
        """What is needed to count from any of ``offsets`` to any of ``ends`` by a subtraction.

        ``ends`` are the same offsets when left out.
        """
        ...


class TokenCounter(Protocol):
    """One vocabulary. ``version`` is a digest of the vocabulary and rules, never of the engine."""

    @property
    def name(self) -> str:
        """As it was asked for, such as ``cl100k_base``."""
        ...

    @property
    def version(self) -> str:
        """Identity for fingerprints."""
        ...

    @property
    def special_tokens(self) -> int:
        """Tokens that a model adds to every input (2 for ``[CLS]`` and ``[SEP]``); never counted."""
        ...

    def count(self, text: str) -> int:
        """Exact tokens of ``text``; a spelled special token is plain text."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        ...

    def index(self, text: str, points: NDArray[Any] | None = None) -> TokenIndex:
        """Tokenises ``text`` once, in linear time; ``points`` are ``spans.codes(text)`` where at hand."""
        ...
