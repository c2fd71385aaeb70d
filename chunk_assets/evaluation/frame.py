"""All documents of a set on one line of characters, so that measures need no document names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chunk_assets.evaluation.budget import Count, Range, TokenMap, token_map
from chunk_assets.evaluation.records import EvalDocument, Piece, Place


@dataclass(frozen=True, slots=True)
class Frame:
    """Where each document starts on the line, and the tokens of the whole line."""

    offsets: dict[str, int]
    tokens: TokenMap

    def place(self, item: Piece | Place) -> Range:
        """The range of a piece or place on the line."""
        offset = self.offsets[item.document]
        return offset + item.start, offset + item.end


def frame(documents: Iterable[EvalDocument], count: Count) -> Frame:
    """Documents one after another, a blank line between them."""
    offsets: dict[str, int] = {}
    parts: list[str] = []
    at = 0
    for document in documents:
        offsets[document.name] = at
        parts.append(document.markdown)
        at += len(document.markdown) + 2
    return Frame(offsets, token_map("\n\n".join(parts), count))
