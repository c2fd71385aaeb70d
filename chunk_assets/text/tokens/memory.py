"""A bounded memory of short texts and their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Words repeat; longer texts hardly do.
_LONGEST = 40
_MOST = 200_000


class Memory:
    """``count`` with the answers for short texts kept; forgets all when it is full."""

    __slots__ = ("_count", "_known")

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def many(self, texts: list[str]) -> list[int]:
        """The counts of ``texts``; one look each for those that are known."""
        found = [self._known.get(text) for text in texts]
        return [self(text) if count is None else count for text, count in zip(texts, found, strict=True)]

    def __call__(self, text: str) -> int:
        """The count of ``text``, remembered or new."""
        known = self._known.get(text)
        if known is not None:
            return known
        found = self._count(text)
        if len(text) <= _LONGEST:
            if len(self._known) >= _MOST:
                self._known = {}
            self._known[text] = found
        return found


def grouped(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    """The texts in order, as many at a time as have about ``size`` characters."""
    group: list[str] = []
    length = 0
    for text in texts:
        group.append(text)
        length += len(text)
        if length >= size:
            yield group
            group, length = [], 0
    if group:
        yield group
