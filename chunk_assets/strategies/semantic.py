"""Semantic: sentences stay together while they are about one thing, between a least and a most size."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field, model_validator

from chunk_assets import errors
from chunk_assets.strategies import packing
from chunk_assets.strategies.base import Parameters, Piece, Size, Strategy
from chunk_assets.text import reasons, static_embedding
from chunk_assets.text.markdown import kinds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chunk_assets.text.layout import Layout

STATIC = "static"
# Units on either side of a border that are compared: one sentence alone says too little.
REACH = 3
# What the similarity of two such neighbourhoods is, by embedder, where they have nothing to do with
# each other, and where they are from one paragraph. A threshold is a place between the two, so
# that 0.75 means the same for every embedder (a bare cosine of 0.75 means nothing: for most models
# it parts every sentence from the next).
CALIBRATION: Mapping[str, tuple[float, float]] = MappingProxyType({STATIC: (0.15, 0.55)})
# Decisions are made on similarities of so many decimals: the last bits of a float decide nothing.
_DECIMALS = 4


class Semantic(Parameters):
    """Sizes as for sentence windows; the threshold on the calibrated scale, or a percentile.

    Another ``embedder`` than ``static`` is the name of one whose function is given to the engine.
    """

    target_tokens: Size = 350
    max_tokens: Size = 500
    min_tokens: Size = 64
    overlap_tokens: Size = 100
    overlap_sentences: int = Field(default=1, ge=0, le=2)
    """Sentences carried over into the next chunk, 0 to 2."""
    threshold: float = Field(default=0.75, gt=0, lt=1)
    """Ends where likeness is under this place between nothing in common (0) and one paragraph (1)."""
    percentile: float | None = Field(default=None, gt=0, lt=100)
    """Instead: ends at so many per cent of the borders, the least alike ones of the document."""
    embedder: str = STATIC
    """What likeness is measured with: `static` is bundled and exact on every machine."""

    @model_validator(mode="after")
    def _one_measure(self) -> Semantic:
        if self.percentile is not None and "threshold" in self.model_fields_set:
            message = f"give threshold {self.threshold} or percentile {self.percentile}, not both"
            raise ValueError(message)
        return self


def split(layout: Layout, parameters: Semantic) -> list[Piece]:
    """Chunks that end where the topic changes, or where the next unit would not fit."""
    similar = similarities(layout, parameters.embedder)
    limit = _limit(similar, parameters)
    shifts = (_dips(similar, limit) & (layout.ranks >= reasons.SENTENCE)) | (layout.ranks >= reasons.SECTION)
    pieces: list[Piece] = []
    for first, last in packing.parts(layout):
        runs = packing.with_tail(layout, _groups(layout, first, last, similar, shifts))
        for at, (begin, end) in enumerate(runs):
            start = _overlapped(layout, runs[at - 1][0], begin, end, parameters) if at else begin
            topic = end < last and bool(shifts[end + 1]) and layout.ranks[end + 1] < reasons.SECTION
            pieces.append(Piece(layout.start(start), layout.end(end), reasons.TOPIC if topic else ""))
    return pieces


def similarities(layout: Layout, embedder: str) -> NDArray[np.float64]:
    """How alike the units before and after each unit's start are, on the calibrated scale."""
    texts = _Texts(layout)
    if embedder == STATIC:
        found = static_embedding.border_similarities(texts.of, len(layout), REACH)
    else:
        found = _dense(layout, embedder, texts)
    apart, together = CALIBRATION.get(embedder, (0.0, 1.0))
    calibrated: NDArray[np.float64] = np.round((found - apart) / (together - apart), _DECIMALS)
    calibrated[layout.ranks == reasons.ROW] = np.inf
    return calibrated


class _Texts:
    """The texts of units to embed. Rows of a table are of one topic: they are left blank."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._text = layout, layout.document.markdown
        self._rows = (layout.ranks == reasons.ROW).tolist()

    def of(self, unit: int) -> str:
        return "" if self._rows[unit] else self._text[self._layout.start(unit) : self._layout.end(unit)]


def _dense(layout: Layout, embedder: str, texts: _Texts) -> NDArray[np.float64]:
    if layout.embed is None:
        message = f"embedder {embedder!r} needs its embed function; known without one: {STATIC}"
        raise errors.ConfigurationError(message)
    count = len(layout)
    filled = [unit for unit in range(count) if texts.of(unit)]
    shown = np.asarray(layout.embed([texts.of(unit) for unit in filled]), dtype=np.float64)
    vectors = np.zeros((count, shown.shape[1]))
    vectors[filled] = shown
    running = np.concatenate((np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0)))
    at = np.arange(1, count)
    before = running[at] - running[np.maximum(at - REACH, 0)]
    after = running[np.minimum(at + REACH, count)] - running[at]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = (before * after).sum(axis=1) / np.where(lengths > 0, lengths, 1.0)
    return np.concatenate((np.ones(1), cosines))


def _limit(similar: NDArray[np.float64], parameters: Semantic) -> float:
    if parameters.percentile is None:
        return parameters.threshold
    borders = np.sort(similar[1:][np.isfinite(similar[1:])])
    return float(borders[int(len(borders) * parameters.percentile / 100)]) if len(borders) else 0.0


def _dips(similar: NDArray[np.float64], limit: float) -> NDArray[np.bool_]:
    """The borders under the limit that are the lowest of those whose neighbourhoods share units."""
    beside = REACH - 1
    padded = np.pad(similar, beside, constant_values=np.inf)
    lowest = np.lib.stride_tricks.sliding_window_view(padded, 2 * beside + 1).min(axis=1)
    dips: NDArray[np.bool_] = (similar < limit) & (similar <= lowest)
    return dips


def _groups(
    layout: Layout, first: int, last: int, similar: NDArray[np.float64], shifts: NDArray[np.bool_]
) -> list[packing.Run]:
    least, target = layout.sizes.min_tokens, layout.sizes.target_tokens
    places = [*np.flatnonzero(shifts[first : last + 1]).tolist(), last - first + 1]
    runs: list[packing.Run] = []
    begin, at = first, 0
    while begin <= last:
        reach = layout.reach(begin, target, last)
        while first + places[at] <= begin:
            at += 1
        end = _topic_end(layout, begin, reach, first, places[at:], least)
        if end < 0:
            end = reach if reach == last else _weakest(layout, begin, reach, similar, least)
        runs.append((begin, end))
        begin = end + 1
    return runs


def _topic_end(layout: Layout, begin: int, reach: int, base: int, places: list[int], least: int) -> int:
    """The end of the first topic that is long enough and within reach, else -1."""
    for place in places:
        end = base + place - 1
        if end > reach:
            return -1
        if layout.tokens(begin, end) >= least:
            return end
    return -1


def _weakest(layout: Layout, begin: int, reach: int, similar: NDArray[np.float64], least: int) -> int:
    """The unit within reach after which the two sides have least in common, the last of equals."""
    first = begin
    while first < reach and layout.tokens(begin, first) < least:
        first += 1
    borders = similar[first + 1 : reach + 2][::-1]
    return first + len(borders) - 1 - int(np.argmin(borders))


def _overlapped(layout: Layout, before: int, begin: int, end: int, parameters: Semantic) -> int:
    """The unit with which a chunk begins when one or two sentences of the one before are repeated."""
    start = begin
    if layout.ranks[begin] >= reasons.SECTION:
        return begin  # what ends a section says little about the next one
    while begin - start < parameters.overlap_sentences and start - 1 > before:
        unit = start - 1
        if layout.kinds[unit] in {kinds.HEADING, kinds.FRONT_MATTER} or not layout.fits(unit, end):
            break
        if layout.ranks[unit] < reasons.SENTENCE:
            break
        if not packing.is_overlap(layout, unit, begin - 1):
            break
        start = unit
    return start


SEMANTIC = Strategy(
    "semantic",
    1,
    Semantic,
    split,
    "Sentences stay together while they are about one thing, between a least and a most size.",
)
