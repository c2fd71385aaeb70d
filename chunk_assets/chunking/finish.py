"""From pieces to chunks: slice, count, and say what is above each and why it ends."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.records import ChunkSpan
from chunk_assets.text import reasons
from chunk_assets.text.contexts import NO_CONTEXT, embedder_text
from chunk_assets.text.markdown import kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.chunking.repair import Measured
    from chunk_assets.strategies import Strategy
    from chunk_assets.text.contexts import Context
    from chunk_assets.text.layout import Layout
    from chunk_assets.text.tokens import TokenCounter

CONTENT_KINDS = ("prose", "table", "code", "list", "row")
_KINDS = {kinds.LIST: "list", kinds.TABLE: "table", kinds.HTML_TABLE: "table", kinds.FENCE: "code"}


@dataclass(frozen=True, slots=True)
class Model:
    """The embedder's counter and its bound, special tokens included in the bound.

    ``additive``: its tokens never go over white space, so that context and text count separately.
    """

    counter: TokenCounter
    most: int
    additive: bool

    def count(self, alone: int, context: Context, text: str) -> int:
        """Tokens of the whole input for a text that alone has ``alone`` of them."""
        if not context.text:
            return alone + self.counter.special_tokens
        if self.additive:
            return alone + context.costs[1] + self.counter.special_tokens
        return self.counter.count(embedder_text(context.text, text)) + self.counter.special_tokens


class Finisher:
    """Turns measured pieces into chunks."""

    def __init__(self, layout: Layout, chosen: Strategy, model: Model | None) -> None:
        self.layout, self.strategy, self.model = layout, chosen, model
        self.document = layout.document
        blocks = self.document.blocks
        self._starts, self._ends = blocks.starts.tolist(), blocks.ends.tolist()
        self._kinds = blocks.kinds.tolist()
        self._heads = self.document.heading_starts.tolist()
        # How many blocks before each are other than prose.
        special = np.isin(blocks.kinds, list(_KINDS))
        self._special = [0, *np.cumsum(special).tolist()]

    def chunks(self, found: Measured) -> list[ChunkSpan]:
        """The chunks in reading order."""
        shared = np.zeros(len(found.starts), dtype=np.int64)
        shared[1:] = np.maximum(0, found.ends[:-1] - found.starts[1:])
        blocks = self._blocks_of(found.starts)
        new, _ = self.document.trimmed(found.starts + shared, found.ends)
        rows = zip(
            found.starts.tolist(),
            found.ends.tolist(),
            found.contexts,
            zip(*(counts.tolist() for counts in found.counts), strict=True),
            blocks.tolist(),
            self._reasons(found),
            shared.tolist(),
            zip(new.tolist(), self._blocks_of(new).tolist(), strict=True),
            strict=True,
        )
        return [self._chunk(*row) for row in rows]

    def _blocks_of(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        at: NDArray[np.int64] = np.searchsorted(self.document.blocks.starts, offsets, side="right") - 1
        return np.maximum(at, 0)

    def _chunk(
        self,
        start: int,
        end: int,
        context: Context,
        counts: tuple[int, ...],
        block: int,
        reason: str,
        shared: int,
        new: tuple[int, int],
    ) -> ChunkSpan:
        text = self.document.markdown[start:end]
        shown, model_count = self._context(context, counts, text)
        return ChunkSpan(
            start_char=start,
            end_char=end,
            text=text,
            context=shown,
            token_count=counts[0],
            model_token_count=model_count,
            heading_path=self._path(new[0], end, new[1]),
            content_kind=self._kind(start, end, block),
            split_reason=reason,
            overlap_chars=shared,
        )

    def _context(self, context: Context, counts: tuple[int, ...], text: str) -> tuple[str, int]:
        """The context, none where it would break a bound, and the model's count with it."""
        if counts[0] + context.costs[0] > self.layout.vocabularies[0].bound:
            context = NO_CONTEXT
        if self.model is None:
            return context.text, 0
        whole = self.model.count(counts[1], context, text)
        if whole > self.model.most:
            context = NO_CONTEXT
            whole = self.model.count(counts[1], context, text)
        return context.text, whole

    def _reasons(self, found: Measured) -> list[str]:
        """Why each piece ends: what its maker said, else the rank of the border at its end."""
        layout = self.layout
        at = np.searchsorted(layout.ends, found.ends)
        known = at < len(layout)
        known[known] = layout.ends[at[known]] == found.ends[known]
        following = np.append(layout.ranks[1:], reasons.END)
        ranks = following[np.minimum(at, len(layout) - 1)].tolist()
        names: list[str] = []
        for said, rank, sure in zip(found.reasons, ranks, known.tolist(), strict=True):
            if said and not (sure and rank == reasons.END):
                names.append(said)
            else:
                names.append(reasons.OF_RANK[rank] if sure else reasons.SIZE)
        return names

    def _path(self, start: int, end: int, block: int) -> tuple[str, ...]:
        """The headings over the first new text of the chunk that is no heading itself."""
        if not self._heads:
            return ()
        last = len(self._kinds) - 1
        while block < last and self._kinds[block] == kinds.HEADING and self._starts[block + 1] < end:
            block += 1
        at = max(start, self._starts[block])
        if self._kinds[block] == kinds.HEADING:
            at = max(at, min(end, self._ends[block]))
        return self.document.heading_path(bisect_right(self._heads, at) - 1)

    def _kind(self, start: int, end: int, block: int) -> str:
        """What most of the chunk's characters are; headings count only where there is nothing else."""
        stop = bisect_left(self._starts, end, block)
        if self._special[stop] == self._special[block]:
            return "prose"
        sizes: dict[str, int] = {}
        for at in range(block, stop):
            if self._kinds[at] != kinds.HEADING:
                name = _KINDS.get(self._kinds[at], "prose")
                length = min(end, self._ends[at]) - max(start, self._starts[at])
                sizes[name] = sizes.get(name, 0) + length
        kind = max(sizes, key=lambda name: sizes[name]) if sizes else "prose"
        return "row" if kind == "table" and self.strategy.records else kind
