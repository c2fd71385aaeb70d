"""Ranked rows → passages to read: overlap said once, neighbours joined, the best sentence marked."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chunk_assets.records import PAYLOAD_FIELDS, Span
from chunk_assets.search.words import words_of
from chunk_assets.text.sentences import sentence_starts

if TYPE_CHECKING:
    import pyarrow as pa

    from chunk_assets.search.rows import Rows


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage: one chunk, or several of one document that touch.

    ``chunk_id`` is its best chunk, ``chunk_ids`` all of them in reading order. ``text`` is
    ``markdown[start_char:end_char]``, where ``gap`` of blank text between chunks is one blank line.
    ``pages`` are the first and last page, ``None`` without pages. ``highlight`` is the range of the
    best sentence in ``text``. ``tokens`` counts the chunks by the policy's tokenizer.
    """

    chunk_id: str
    chunk_ids: tuple[str, ...]
    document_id: str
    source: str
    score: float
    text: str
    start_char: int
    end_char: int
    pages: tuple[int, int] | None
    heading_path: tuple[str, ...]
    highlight: Span
    tokens: int
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Passage:
    """Rows of one document with consecutive chunk indexes; ``best`` came first."""

    best: int
    score: float
    rows: list[int]


class Collector:
    """Puts ranked rows together. Rows of a document are neighbours in the table, in order."""

    def __init__(self, table: pa.Table, *, join: bool) -> None:
        self._documents = table["document_id"]
        self._indexes = table["chunk_index"]
        self._sources = table["source"]
        self._join = join
        self._of_row: dict[int, Passage] = {}
        self.passages: list[Passage] = []

    def neighbour(self, row: int, step: int) -> int | None:
        """The row before (-1) or after (1) in the same document."""
        other = row + step
        if not 0 <= other < len(self._documents):
            return None
        same = self._identity(other) == self._identity(row)
        follows = self._indexes[other].as_py() == self._indexes[row].as_py() + step
        return other if same and follows else None

    def _identity(self, row: int) -> tuple[Any, Any]:
        return self._sources[row], self._documents[row]

    def touching(self, row: int) -> list[Passage]:
        """Passages that ``row`` would extend, best first."""
        if not self._join:
            return []
        near = [
            self._of_row.get(other) for step in (-1, 1) if (other := self.neighbour(row, step)) is not None
        ]
        found = {id(passage): passage for passage in near if passage is not None}
        return sorted(found.values(), key=self.passages.index)

    def add(self, row: int, score: float) -> None:
        """One more row, not better than those before."""
        if row in self._of_row:
            return
        near = self.touching(row)
        if not near:
            near = [Passage(row, score, [])]
            self.passages.append(near[0])
        first, others = near[0], near[1:]
        first.rows = sorted({*first.rows, row, *(r for other in others for r in other.rows)})
        for other in others:
            self.passages.remove(other)
        self._of_row.update(dict.fromkeys(first.rows, first))

    def widen(self, count: int) -> None:
        """Adds ``count`` chunks before and after each passage, unless another passage has them."""
        for passage in self.passages:
            for step, edge in ((-1, 0), (1, -1)):
                for _ in range(count):
                    row = self.neighbour(passage.rows[edge], step)
                    if row is None or row in self._of_row:
                        break
                    passage.rows = sorted([*passage.rows, row])
                    self._of_row[row] = passage


def hits_of(table: Rows, passages: Sequence[Passage], query: str) -> list[Hit]:
    """The passages as hits, in their order, no character of a document in two of them."""
    shown: dict[tuple[str, str], list[Span]] = {}
    wanted = frozenset(words_of(query))
    hits = []
    for passage in passages:
        rows = table.records(passage.rows)
        best = rows[passage.rows.index(passage.best)]
        before = shown.setdefault((best["source"], best["document_id"]), [])
        span = _unseen(Span(rows[0]["start_char"], max(row["end_char"] for row in rows)), before)
        if span is None:
            continue
        before.append(span)
        hits.append(_hit(passage, rows, best, span, wanted))
    return hits


def _unseen(span: Span, shown: Iterable[Span]) -> Span | None:
    """What is left of ``span`` at its ends after what other hits show already."""
    start, end = span.start, span.end
    for other in sorted(shown, key=lambda s: s.start):
        if other.start <= start < other.end:
            start = other.end
        elif start < other.start < end <= other.end:
            end = other.start
    return Span(start, end) if start < end else None


def _hit(
    passage: Passage, rows: list[dict[str, Any]], best: dict[str, Any], span: Span, wanted: frozenset[str]
) -> Hit:
    text = _joined(rows, span)
    pages = [row[name] for row in rows for name in ("page_start", "page_end") if row[name] is not None]
    return Hit(
        chunk_id=best["chunk_id"],
        chunk_ids=tuple(row["chunk_id"] for row in rows),
        document_id=best["document_id"],
        source=best["source"],
        score=passage.score,
        text=text,
        start_char=span.start,
        end_char=span.end,
        pages=(min(pages), max(pages)) if pages else None,
        heading_path=tuple(best["heading_path"]),
        highlight=highlight(text, wanted),
        tokens=sum(row["token_count"] for row in rows),
        payload={
            **{name: best[name] for name in PAYLOAD_FIELDS if best[name] is not None},
            "tags": best["tags"],
            **dict(best["metadata"]),
        },
    )


def _joined(rows: Sequence[Mapping[str, Any]], span: Span) -> str:
    """The text of ``span`` from chunks in reading order, each overlap taken once."""
    parts: list[str] = []
    at = span.start
    for row in rows:
        start, end = row["start_char"], min(row["end_char"], span.end)
        if end <= at:
            continue
        if parts and start > at:
            parts.append("\n\n")  # only blank characters are in no chunk
        begin = max(start, at)
        parts.append(row["text"][begin - start : end - start])
        at = end
    return "".join(parts)


def highlight(text: str, wanted: frozenset[str]) -> Span:
    """The sentence with the most words of the query, the more of its own words the better.

    Equal ones: the first. Without any such word: the first sentence.
    """
    starts = [*sentence_starts(text).tolist(), len(text)]
    spans = [_stripped(text, start, end) for start, end in itertools.pairwise(starts)]
    if not spans:
        return Span(0, 0)

    def merit(span: Span) -> tuple[int, float]:
        words = words_of(text[span.start : span.end])
        found = wanted.intersection(words)
        return len(found), len(found) / max(1, len(words))

    return max(spans, key=merit)


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
