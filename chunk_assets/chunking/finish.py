"""From pieces to chunks: slice, count, and say what is above each and why it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.records import ChunkSpan
from chunk_assets.text import reasons
from chunk_assets.text.markdown import kinds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from chunk_assets.strategies import Piece, Strategy
    from chunk_assets.text.layout import Layout

CONTENT_KINDS = ("prose", "table", "code", "list", "row")
_KINDS = {kinds.LIST: "list", kinds.TABLE: "table", kinds.HTML_TABLE: "table", kinds.FENCE: "code"}


class Finisher:
    """Turns pieces into chunks."""

    def __init__(
        self,
        layout: Layout,
        chosen: Strategy,
        model_count: Callable[[int, int, str], int],
        special_tokens: int,
    ) -> None:
        self.layout, self.strategy, self.model_count = layout, chosen, model_count
        self.special_tokens = special_tokens
        self.document = layout.document
        blocks = self.document.blocks
        self._starts, self._ends = blocks.starts.tolist(), blocks.ends.tolist()
        self._kinds = blocks.kinds.tolist()

    def chunks(self, pieces: list[Piece]) -> list[ChunkSpan]:
        """The chunks in reading order; the pieces rise and hold something visible."""
        if not pieces:
            return []
        starts = np.array([piece.start for piece in pieces], dtype=np.int64)
        ends = np.array([piece.end for piece in pieces], dtype=np.int64)
        starts, ends = self.document.trimmed(starts, ends)
        counts = self.layout.vocabularies[0].index.counts(starts, ends).tolist()
        blocks = (np.searchsorted(self.document.blocks.starts, starts, side="right") - 1).tolist()
        names = self._reasons(pieces, ends)
        found: list[ChunkSpan] = []
        before = 0
        for at, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            found.append(self._chunk(start, end, counts[at], blocks[at], names[at], before))
            before = end
        return found

    def _chunk(self, start: int, end: int, count: int, block: int, reason: str, before: int) -> ChunkSpan:
        context, model_count = self._context(start, end, count)
        return ChunkSpan(
            start_char=start,
            end_char=end,
            text=self.document.markdown[start:end],
            context=context,
            token_count=count,
            model_token_count=model_count,
            heading_path=self._path(start, end, block),
            content_kind=self._kind(start, end, block),
            split_reason=reason,
            overlap_chars=max(0, before - start),
        )

    def _context(self, start: int, end: int, count: int) -> tuple[str, int]:
        """The context, none where it would break a bound, and the model's count with it."""
        found = self.layout.contexts.at(start, self.layout.columns.get(start))
        alone = self.model_count(start, end, "")
        if not found.text or count + found.costs[0] > self.layout.vocabularies[0].bound:
            return "", alone
        both = self.model_count(start, end, found.text)
        if (
            len(self.layout.vocabularies) > 1
            and both > self.layout.vocabularies[1].bound + self.special_tokens
        ):
            return "", alone
        return found.text, both

    def _reasons(self, pieces: list[Piece], ends: NDArray[np.int64]) -> list[str]:
        """Why each piece ends: what its maker said, else the rank of the border at its end."""
        layout = self.layout
        at = np.searchsorted(layout.ends, ends)
        known = at < len(layout)
        known[known] = layout.ends[at[known]] == ends[known]
        following = np.append(layout.ranks[1:], reasons.END)
        ranks = following[np.minimum(at, len(layout) - 1)].tolist()
        return [
            piece.reason
            if piece.reason and not (sure and rank == reasons.END)
            else reasons.OF_RANK[rank]
            if sure
            else reasons.SIZE
            for piece, rank, sure in zip(pieces, ranks, known.tolist(), strict=True)
        ]

    def _path(self, start: int, end: int, block: int) -> tuple[str, ...]:
        """The headings over the first text of the chunk that is no heading itself."""
        last = len(self._kinds) - 1
        while block < last and self._kinds[block] == kinds.HEADING and self._starts[block + 1] < end:
            block += 1
        at = max(start, self._starts[block])
        if self._kinds[block] == kinds.HEADING:
            at = max(at, min(end, self._ends[block]))
        index = int(np.searchsorted(self.document.heading_starts, at, side="right")) - 1
        return self.document.heading_path(index)

    def _kind(self, start: int, end: int, block: int) -> str:
        """What most of the chunk's characters are; headings count only where there is nothing else."""
        sizes: dict[str, int] = {}
        while block < len(self._kinds) and self._starts[block] < end:
            length = min(end, self._ends[block]) - max(start, self._starts[block])
            if self._kinds[block] != kinds.HEADING:
                name = _KINDS.get(self._kinds[block], "prose")
                sizes[name] = sizes.get(name, 0) + length
            block += 1
        kind = max(sizes, key=lambda name: sizes[name]) if sizes else "prose"
        return "row" if kind == "table" and self.strategy.records else kind
