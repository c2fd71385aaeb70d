"""From pieces to chunks: slice, count, and say what is above each and why it ends."""

from __future__ import annotations

from bisect import bisect_right
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
        self._special = np.append(0, np.cumsum(np.isin(blocks.kinds, list(_KINDS))))

    def chunks(self, found: Measured) -> list[ChunkSpan]:
        """The chunks in reading order."""
        shared = np.zeros(len(found.starts), dtype=np.int64)
        shared[1:] = np.maximum(0, found.ends[:-1] - found.starts[1:])
        starts, ends = found.starts.tolist(), found.ends.tolist()
        markdown = self.document.markdown
        texts = [markdown[start:end] for start, end in zip(starts, ends, strict=True)]
        contexts, model_counts = self._contexts(found, texts)
        paths = self._paths(found.starts + shared, found.ends)
        columns = (
            *(starts, ends, texts, contexts, found.counts[0].tolist(), model_counts, paths),
            *(self._kinds_of(found.starts, found.ends), self._reasons(found), shared.tolist()),
        )
        return list(map(ChunkSpan._make, zip(*columns, strict=True)))

    def _blocks_of(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        at: NDArray[np.int64] = np.searchsorted(self.document.blocks.starts, offsets, side="right") - 1
        return np.maximum(at, 0)

    def _contexts(self, found: Measured, texts: list[str]) -> tuple[list[str], list[int]]:
        """The context of each chunk, none where it would break a bound, and the model's counts with it."""
        counts = zip(*(counted.tolist() for counted in found.counts), strict=True)
        if not any(context.text for context in found.contexts):
            extra = self.model.counter.special_tokens if self.model else 0
            return [""] * len(texts), ((found.counts[1] + extra).tolist() if self.model else [0] * len(texts))
        both = [
            self._context(context, alone, text)
            for context, alone, text in zip(found.contexts, counts, texts, strict=True)
        ]
        return [context for context, _ in both], [count for _, count in both]

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

    def _paths(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[tuple[str, ...]]:
        """The headings over the new text of each chunk."""
        if not self._heads:
            return [()] * len(starts)
        new, _ = self.document.trimmed(starts, ends)
        rows = zip(new.tolist(), ends.tolist(), self._blocks_of(new).tolist(), strict=True)
        return [self._path(*row) for row in rows]

    def _path(self, start: int, end: int, block: int) -> tuple[str, ...]:
        """The headings over the first new text of the chunk that is no heading itself."""
        last = len(self._kinds) - 1
        while block < last and self._kinds[block] == kinds.HEADING and self._starts[block + 1] < end:
            block += 1
        at = max(start, self._starts[block])
        if self._kinds[block] == kinds.HEADING:
            at = max(at, min(end, self._ends[block]))
        return self.document.heading_path(bisect_right(self._heads, at) - 1)

    def _kinds_of(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
        """What most of each chunk's characters are."""
        first, stop = self._blocks_of(starts), np.searchsorted(self.document.blocks.starts, ends)
        found = ["prose"] * len(starts)
        for at in np.flatnonzero(self._special[stop] != self._special[first]).tolist():
            found[at] = self._kind(int(starts[at]), int(ends[at]), int(first[at]), int(stop[at]))
        return found

    def _kind(self, start: int, end: int, block: int, stop: int) -> str:
        """What most of the chunk's characters are; headings count only where there is nothing else."""
        sizes: dict[str, int] = {}
        for at in range(block, stop):
            if self._kinds[at] != kinds.HEADING:
                name = _KINDS.get(self._kinds[at], "prose")
                length = min(end, self._ends[at]) - max(start, self._starts[at])
                sizes[name] = sizes.get(name, 0) + length
        kind = max(sizes, key=lambda name: sizes[name]) if sizes else "prose"
        return "row" if kind == "table" and self.strategy.records else kind
