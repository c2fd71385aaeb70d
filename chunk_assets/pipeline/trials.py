"""Asking an embedder that may fail: is it the text, or is the model down?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from chunk_assets.embedders.base import Embedded, Embedder, EmbedderCard
from chunk_assets.errors import ChunkAssetsError, StopRun

if TYPE_CHECKING:
    from numpy.typing import NDArray

# After this many failures in a row a harmless text is tried, to tell bad texts from a model that is down.
DOWN_AFTER = 8
PROBE = "chunk-assets"
# How far the length of a unit vector may be off 1: as far as the check of the table lets it.
LENGTH_TOLERANCE = 1e-3


def any_vector(_: NDArray[Any]) -> str:
    """Finds no fault with a vector."""
    return ""


def faults_by(card: EmbedderCard) -> Callable[[NDArray[Any]], str]:
    """What is wrong with a vector, by what the card promises; empty when nothing is."""
    return partial(_fault, card)


def _fault(card: EmbedderCard, vector: NDArray[Any]) -> str:
    if vector.shape != (card.dimension,):
        return f"the embedder answered {vector.size} numbers, not {card.dimension}"
    length = float(vector @ vector) ** 0.5
    off = abs(length - 1.0) if card.normalized else (0.0 if 0.0 < length < float("inf") else 1.0)
    return "" if off <= LENGTH_TOLERANCE else f"the embedder answered a vector of length {length:g}"


@dataclass
class Trials:
    """Asks an embedder until every text has an answer, and finds out whether the text or the model fails."""

    embedder: Embedder
    workers: int
    fault: Callable[[NDArray[Any]], str] = any_vector
    failures_in_a_row: int = 0

    def answers(self, texts: Sequence[str]) -> Iterator[Embedded]:
        """One answer a text. A text that makes the embedder raise is found by halving.

        Raises:
            StopRun: as the embedder raised it, or when it fails for every text: then no text is to blame.
        """
        yield from self._run(list(range(len(texts))), list(texts))
        if self.failures_in_a_row:
            self._probe("")

    def _run(self, places: list[int], texts: list[str]) -> Iterator[Embedded]:
        answered: set[int] = set()
        try:
            for answer in map(self._judged, self.embedder.embed(texts, workers=self.workers)):
                answered.add(answer.index)
                self._count(answer)
                place = places[answer.index]
                yield answer if place == answer.index else replace(answer, index=place)
        except (StopRun, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever a model raises for one text must not end the others
            yield from self._halved(places, texts, answered, error)

    def _judged(self, answer: Embedded) -> Embedded:
        """A vector that can't be right is a failure that may pass: it must never reach the store."""
        fault = self.fault(answer.vector) if answer.vector is not None else ""
        return Embedded(answer.index, None, fault, retryable=True) if fault else answer

    def _halved(
        self, places: list[int], texts: list[str], answered: set[int], error: Exception
    ) -> Iterator[Embedded]:
        rest = [index for index in range(len(texts)) if index not in answered]
        if len(rest) == 1:
            failed = Embedded(places[rest[0]], None, describe(error), retryable=True)
            self._count(failed)
            yield failed
            return
        middle = len(rest) // 2
        for half in (rest[:middle], rest[middle:]):
            if half:
                yield from self._run([places[i] for i in half], [texts[i] for i in half])

    def _count(self, answer: Embedded) -> None:
        if answer.vector is not None or not answer.retryable:
            self.failures_in_a_row = 0
            return
        self.failures_in_a_row += 1
        if self.failures_in_a_row % DOWN_AFTER == 0:
            self._probe(answer.error)

    def _probe(self, cause: str) -> None:
        """Embeds a harmless text; when that fails as well, the model is down."""
        try:
            (answer,) = map(self._judged, self.embedder.embed([PROBE], workers=1))
        except StopRun:
            raise
        except Exception as error:  # noqa: BLE001 - the same: any fault means that it is down
            answer = Embedded(0, None, describe(error))
        if answer.vector is None:
            msg = f"the embedder is down: {cause or answer.error}; finished vectors are kept, run again later"
            raise StopRun(msg)


def describe(error: Exception) -> str:
    """One line for a person; messages of this package stand for themselves."""
    lines = str(error).strip().splitlines() or [""]
    return (
        lines[0][:300] if isinstance(error, ChunkAssetsError) else f"{type(error).__name__}: {lines[0][:300]}"
    )
