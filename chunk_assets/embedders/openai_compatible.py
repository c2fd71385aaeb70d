"""Any server with OpenAI's ``/embeddings`` call: OpenAI, Azure, TEI, vLLM, Ollama, LiteLLM.

Batches are bounded by items and tokens, several are under way at once, and each answer is handed
on as soon as it is there: what happens to one batch costs no other its vectors.
"""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chunk_assets.embedders.base import (
    Embedded,
    EmbedderCard,
    EmbedderPlugin,
    Usage,
    too_long,
    unit,
)
from chunk_assets.embedders.counting import count_inputs
from chunk_assets.embedders.openai_settings import OpenAICompatibleSettings, card_of, endpoint_of
from chunk_assets.embedders.pacing import Pacer
from chunk_assets.embedders.remote import Refused, Remote
from chunk_assets.embedders.workers import in_threads
from chunk_assets.errors import ConfigurationError, Retry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)


# Refusals of single texts, with no success at all before: then it is not the texts.
REFUSALS_THAT_MEAN_SETTINGS = 10
# Batches given up in a row, without a success between: then the provider is down.
FAILURES_THAT_MEAN_OUTAGE = 3


@dataclass(frozen=True, slots=True)
class _Item:
    index: int
    text: str
    tokens: int


class _Health:
    """What the answers so far say about the settings and the provider; shared by the threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._successes = 0
        self._refusals = 0
        self._failures = 0

    def succeeded(self) -> None:
        with self._lock:
            self._successes += 1
            self._failures = 0

    def refused(self, message: str) -> None:
        with self._lock:
            self._refusals += 1
            if not self._successes and self._refusals >= REFUSALS_THAT_MEAN_SETTINGS:
                raise ConfigurationError(
                    f"the provider refused each of the first {self._refusals} texts: {message}"
                )

    def failed(self) -> None:
        with self._lock:
            self._failures += 1

    @property
    def down(self) -> bool:
        return self._failures >= FAILURES_THAT_MEAN_OUTAGE


class OpenAICompatible:
    """A remote embedder. Threads may share one instance; ``usage`` has the totals."""

    def __init__(self, settings: OpenAICompatibleSettings) -> None:
        self._settings = settings
        self.card = card_of(settings)
        self._remote = Remote(
            endpoint_of(settings), Pacer(settings.requests_per_minute, settings.tokens_per_minute)
        )

    @property
    def usage(self) -> Usage:
        """Requests, pauses, tokens and price since this embedder was loaded."""
        return self._remote.usage

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each input with the passage prefix, by the tokenizer of the settings."""
        return count_inputs(self.card.tokenizer, [self.card.passage_prefix + text for text in texts])

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        """Unit vectors as answers come; errors that may pass are ``retryable``.

        Raises ``ConfigurationError`` (key, address, model) after the answers already there.
        """
        self._remote.endpoint.key()
        items = []
        for index, (text, tokens) in enumerate(zip(texts, self.count_tokens(texts), strict=True)):
            if tokens > self.card.max_tokens:
                yield too_long(index, tokens, self.card.max_tokens)
            else:
                items.append(_Item(index, self.card.passage_prefix + text, tokens))
        batches = list(_batches(items, self._settings.batch_items, self._settings.batch_tokens))
        stop, health = threading.Event(), _Health()
        try:
            yield from in_threads(
                batches, lambda batch: self._batch(batch, health, stop), self._settings.concurrency, stop
            )
        finally:
            _log(self.usage, self.card)

    def _batch(self, batch: list[_Item], health: _Health, stop: threading.Event) -> Iterator[Embedded]:
        """The answers of one batch; a refused batch is halved until the bad text stands alone."""
        if health.down:
            yield from _unanswered(batch, "not sent: the provider failed several batches in a row")
            return
        try:
            vectors = self._request(batch, stop)
        except Refused as error:
            if len(batch) == 1:
                health.refused(str(error))
                yield Embedded(batch[0].index, None, f"refused by the provider: {error}")
                return
            middle = len(batch) // 2
            yield from self._batch(batch[:middle], health, stop)
            yield from self._batch(batch[middle:], health, stop)
        except Retry as error:
            health.failed()
            yield from _unanswered(batch, f"gave up: {error}")
        else:
            health.succeeded()
            yield from (Embedded(item.index, vector) for item, vector in zip(batch, vectors, strict=True))

    def _request(self, batch: list[_Item], stop: threading.Event) -> list[NDArray[np.float32]]:
        body: dict[str, Any] = {"model": self._settings.model, "input": [item.text for item in batch]}
        if self._settings.send_dimension:
            body["dimensions"] = self.card.dimension
        body["encoding_format"] = self._settings.encoding_format
        tokens = sum(item.tokens for item in batch)
        vectors, billed = self._remote.call(
            body, tokens, lambda answer: self._parse(answer, len(batch)), stop
        )
        billed = tokens if billed is None else billed
        price = billed * self.card.price_per_million_tokens / 1_000_000
        self._remote.count(texts=len(batch), tokens=billed, price=price)
        return vectors

    def _parse(self, answer: Any, count: int) -> tuple[list[NDArray[np.float32]], int | None]:
        """Vectors in the order of the request and the tokens billed; ``ValueError`` for nonsense."""
        rows = {int(row["index"]): unit(_numbers(row["embedding"])) for row in answer["data"]}
        if sorted(rows) != list(range(count)):
            raise ValueError(f"{len(answer['data'])} vectors for {count} texts")
        sizes = {len(row) for row in rows.values()}
        if sizes != {self.card.dimension}:
            raise ConfigurationError(
                f"{self._settings.model} answers with {sorted(sizes)} numbers, "
                f"the setting dimension says {self.card.dimension}"
            )
        billed = (answer.get("usage") or {}).get("total_tokens")
        return [rows[index] for index in range(count)], billed if isinstance(billed, int) else None

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """One query vector; raises ``ConfigurationError`` when refused, ``Retry`` when it gave up."""
        item = _Item(0, self.card.query_prefix + text, count_inputs(self.card.tokenizer, [text])[0])
        try:
            return self._request([item], threading.Event())[0]
        except Refused as error:
            raise ConfigurationError(f"the provider refused the query: {error}") from error

    def close(self) -> None:
        """Closes the connections."""
        self._remote.close()


def _batches(items: Sequence[_Item], max_items: int, max_tokens: int) -> Iterator[list[_Item]]:
    """Items in order, as many to a batch as fit both bounds; one over the token bound goes alone."""
    batch: list[_Item] = []
    tokens = 0
    for item in items:
        if batch and (len(batch) == max_items or tokens + item.tokens > max_tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(item)
        tokens += item.tokens
    if batch:
        yield batch


def _numbers(value: Any) -> NDArray[Any]:
    """The numbers of one embedding, sent as a list or as base64 of little-endian ``float32``."""
    import numpy as np

    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
    return np.asarray(value, dtype=np.float64)


def _unanswered(batch: Sequence[_Item], reason: str) -> Iterator[Embedded]:
    return (Embedded(item.index, None, reason, retryable=True) for item in batch)


def _log(usage: Usage, card: EmbedderCard) -> None:
    logger.info(
        "%s: %d texts in %d requests (%d throttled, %.0f s paused; %d sent again), %d tokens, %.4f %s",
        card.model_id,
        usage.texts,
        usage.requests,
        usage.throttled,
        usage.paused_seconds,
        usage.retries,
        usage.tokens,
        usage.price,
        card.currency,
    )


OPENAI_COMPATIBLE = EmbedderPlugin(
    "openai_compatible",
    OpenAICompatibleSettings,
    OpenAICompatible,
    "a server with OpenAI's embeddings call; the key comes from an environment variable",
)
