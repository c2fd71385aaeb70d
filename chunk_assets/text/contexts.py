"""What the embedder reads before a chunk: the headings above it and the header row of its table.

Only what is not in the chunk's own text is repeated, and never more than a share of the bound, so
that a long heading costs words of the heading and not of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chunk_assets.text.markdown import kinds, patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from chunk_assets.text.document import TextDocument
    from chunk_assets.text.tokens import TokenCounter

BETWEEN_HEADINGS = " > "
BEFORE_TEXT = "\n\n"
# Of the bound: this part at most for headings, and as much for a table's header row.
SHARE = 4
_TAG = re.compile(r"<[^>]*>")


def embedder_text(context: str, text: str) -> str:
    """What the embedder reads: the context, an empty line, the text."""
    return f"{context}{BEFORE_TEXT}{text}" if context else text


@dataclass(frozen=True, slots=True)
class Context:
    """A context and what it costs by each counter, the empty line after it included."""

    text: str
    costs: tuple[int, ...]

    @classmethod
    def of(cls, text: str, counters: Iterable[TokenCounter]) -> Context:
        """A context with its costs."""
        return cls(text, tuple(counter.count(text + BEFORE_TEXT) if text else 0 for counter in counters))


# Costs nothing by up to two vocabularies.
NO_CONTEXT = Context("", (0, 0))


class Contexts:
    """The contexts of one document. ``counters`` count text, ``budgets`` are the bounds they keep."""

    def __init__(
        self, document: TextDocument, counters: Sequence[TokenCounter], bounds: Sequence[int]
    ) -> None:
        self.document = document
        self.counters = tuple(counters)
        self.budgets = tuple(bound // SHARE for bound in bounds)
        self._names: dict[int, list[str]] = {}
        self._known: dict[tuple[int, int, tuple[int, int] | None], Context] = {}

    @cached_property
    def _headings(self) -> list[int]:
        found: list[int] = self.document.heading_starts.tolist()
        return found

    @cached_property
    def _tables(self) -> tuple[list[int], list[int], list[int]]:
        """Of the tables with a header: where the header ends, where the table ends, which one."""
        blocks = self.document.blocks
        owner = np.searchsorted(blocks.tables[:, 0], blocks.headers[:, 0], side="right") - 1
        order = np.argsort(blocks.headers[:, 0], kind="stable")
        return (
            blocks.headers[order, 1].tolist(),
            blocks.tables[owner[order], 1].tolist(),
            order.tolist(),
        )

    def keys(self, starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For chunks that begin at ``starts``: the heading above each, and its table (-1 for none).

        Above a chunk that begins with a heading is the heading above that one.
        """
        heads = self.document.heading_starts
        heading = np.searchsorted(heads, starts, side="right") - 1
        own = heading >= 0
        own[own] = heads[heading[own]] == starts[own]
        heading[own] = self.document.parents[heading[own]]
        ends, stops, order = (np.array(part, dtype=np.int64) for part in self._tables)
        if not len(ends):
            return heading, np.full(len(starts), -1, dtype=np.int64)
        table = np.searchsorted(ends, starts, side="right") - 1
        inside = (table >= 0) & (starts < stops[table])
        return heading, np.where(inside, order[table], -1)

    def runs(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of those of ``starts``, ascending, whose context may differ from the one before."""
        headings, tables = self.keys(starts)
        change = np.ones(len(starts), dtype=bool)
        change[1:] = (headings[1:] != headings[:-1]) | (tables[1:] != tables[:-1])
        return np.flatnonzero(change)

    def many(self, starts: NDArray[np.int64]) -> list[Context]:
        """``at`` of each of ``starts``; contexts that are met for the first time are counted together."""
        keys = list(zip(*(part.tolist() for part in self.keys(starts)), strict=True))
        self._count_plain([key for key in dict.fromkeys(keys) if (*key, None) not in self._known])
        return [self.of(*key) for key in keys]

    def _count_plain(self, keys: list[tuple[int, int]]) -> None:
        """Remembers those that are a heading path which is short enough; the others are made one by one."""
        plain = [key for key in keys if key[0] >= 0 and key[1] < 0]
        paths = [BETWEEN_HEADINGS.join(self._titles(heading)) for heading, _ in plain]
        costs = [counter.count_many([path + BEFORE_TEXT for path in paths]) for counter in self.counters]
        for key, path, *cost in zip(plain, paths, *costs, strict=True):
            if path and all(tokens <= budget for tokens, budget in zip(cost, self.budgets, strict=True)):
                self._known[*key, None] = Context(path, tuple(cost))

    def _titles(self, heading: int) -> list[str]:
        """The titles of the path down to ``heading`` (-1: none)."""
        titles = self.document.heading_path(heading)
        return [" ".join(title.split()) for title in titles if title.strip()]

    def at(self, start: int, columns: tuple[int, int] | None = None) -> Context:
        """The context of a chunk that begins at ``start``; ``columns`` narrows a table's header."""
        heading = bisect_left(self._headings, start) - 1
        ends, stops, order = self._tables
        table = bisect_right(ends, start) - 1
        inside = table >= 0 and start < stops[table]
        if heading + 1 < len(self._headings) and self._headings[heading + 1] == start:
            heading = self.document.parents.item(heading + 1)
        return self.of(heading, order[table] if inside else -1, columns)

    def of(self, heading: int, table: int, columns: tuple[int, int] | None = None) -> Context:
        """The context under heading ``heading`` in table ``table`` (-1: none)."""
        key = (heading, table, columns)
        if key not in self._known:
            self._known[key] = self._made(self._titles(heading), table, columns)
        return self._known[key]

    def _made(self, titles: list[str], table: int, columns: tuple[int, int] | None) -> Context:
        path = self.shortened(titles)
        header = self.fitted(self.header(table, columns), " | ") if table >= 0 else ""
        both = Context.of("\n".join(part for part in (path, header) if part), self.counters)
        most = (2 * budget for budget in self.budgets)
        if all(cost <= limit for cost, limit in zip(both.costs, most, strict=True)):
            return both
        return Context.of(header or path, self.counters)

    def fits(self, text: str) -> bool:
        """Whether ``text`` is within the budget of every counter."""
        return all(
            counter.count(text + BEFORE_TEXT) <= most
            for counter, most in zip(self.counters, self.budgets, strict=True)
        )

    def shortened(self, titles: list[str]) -> str:
        """The path, without its outermost headings where it is too long, the last one cut if it must."""
        for first in range(len(titles)):
            path = BETWEEN_HEADINGS.join(titles[first:])
            if self.fits(path):
                return path
        return self.fitted(titles[-1].split(" "), " ") if titles else ""

    def fitted(self, parts: list[str], between: str) -> str:
        """As many of ``parts`` as the budget holds, with an ellipsis where some are left out."""
        whole = between.join(parts)
        if self.fits(whole):
            return whole
        low, high = 0, len(parts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if self.fits(between.join(parts[:middle]) + " …") else (low, middle - 1)
            )
        return between.join(parts[:low]) + " …" if low else ""

    def header(self, table: int, columns: tuple[int, int] | None = None) -> list[str]:
        """The column names of a table (of ``columns``, half open), tags and pipes taken off."""
        if table not in self._names:
            start, end = self.document.blocks.headers[table].tolist()
            self._names[table] = cells(self.document.markdown[start:end], self._is_html(start))
        names = self._names[table]
        return names[slice(*columns)] if columns else names

    def _is_html(self, start: int) -> bool:
        blocks = self.document.blocks
        block = int(np.searchsorted(blocks.starts, start, side="right")) - 1
        return bool(blocks.kinds[block] == kinds.HTML_TABLE)


def cells(row: str, html: bool = False) -> list[str]:
    """The cells of a table row as plain text."""
    if html:
        parts = re.split(r"<t[hd]\b[^>]*>", row, flags=re.IGNORECASE)[1:]
        return [" ".join(_TAG.sub(" ", part).split()) for part in parts]
    row = row.strip()
    found, begin = [], 0
    for at in [*patterns.bars(row), len(row)]:
        found.append(row[begin:at].strip())
        begin = at + 1
    if found and not found[0] and row.startswith("|"):
        found = found[1:]
    return found[:-1] if len(found) > 1 and not found[-1] else found
