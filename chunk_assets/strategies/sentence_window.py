"""Sentence windows (ADR-004): whole sentences up to a target, a few carried over to the next window."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from chunk_assets.strategies import packing
from chunk_assets.strategies.base import Parameters, Piece, Size, Strategy

if TYPE_CHECKING:
    from chunk_assets.text.layout import Layout, Sizes

# Words per token of English, by which the decision turns a target into a number of words.
WORDS_PER_TOKEN = 0.75
# A sentence over this multiple of the target is cut.
LONG_SENTENCE = 1.5


class SentenceWindow(Parameters):
    """Target 500 tokens, overlap 100, tail at least 100."""

    target_tokens: Size = 500
    overlap_tokens: Size = 100
    min_tokens: Size = 100

    def sizes(self) -> Sizes:
        """A sentence may be longer than the target, up to one and a half times its words."""
        sizes = super().sizes()
        most = (
            sizes.max_tokens
            if "max_tokens" in self.model_fields_set
            else int(LONG_SENTENCE * sizes.target_tokens)
        )
        return dataclasses.replace(
            sizes,
            max_tokens=most,
            sentence_words=int(LONG_SENTENCE * WORDS_PER_TOKEN * sizes.target_tokens),
            window_words=max(1, int(WORDS_PER_TOKEN * sizes.target_tokens)),
        )


def split(layout: Layout, parameters: SentenceWindow) -> list[Piece]:  # noqa: ARG001 - its sizes are in the layout
    """Windows over the whole document."""
    runs = [run for first, last in packing.parts(layout) for run in packing.windows(layout, first, last)]
    return packing.pieces(layout, runs)


SENTENCE_WINDOW = Strategy(
    "sentence_window",
    1,
    SentenceWindow,
    split,
    "Whole sentences up to the target, the last ones carried over; a tail too short joins its neighbour.",
)
