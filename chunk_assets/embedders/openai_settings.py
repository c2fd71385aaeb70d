"""Settings of ``openai_compatible``: where the server is, what the model takes, how fast to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from chunk_assets.embedders.base import EmbedderCard, Settings
from chunk_assets.embedders.remote import Endpoint
from chunk_assets.errors import ConfigurationError
from chunk_assets.hashing import fingerprint


@dataclass(frozen=True, slots=True)
class Known:
    """Published facts of a hosted model."""

    dimension: int
    max_tokens: int
    price_per_million_tokens: float


# From OpenAI's model and price pages; settings override each of them.
KNOWN_MODELS: Mapping[str, Known] = MappingProxyType(
    {
        "text-embedding-3-small": Known(1536, 8191, 0.02),
        "text-embedding-3-large": Known(3072, 8191, 0.13),
        "text-embedding-ada-002": Known(1536, 8191, 0.10),
    }
)


class OpenAICompatibleSettings(Settings):
    """One endpoint and model. The key is named here (``api_key_env``), never given.

    ``dimension``, ``max_tokens`` and the price are known for OpenAI's own models. ``attempts``
    bounds faults of one batch, ``patience_seconds`` the whole time one batch may take, pauses asked
    for by the provider included.
    """

    model: str = Field(min_length=1)
    base_url: str = "https://api.openai.com/v1"
    query: dict[str, str] = Field(default_factory=dict)
    api_key_env: str | None = "OPENAI_API_KEY"
    api_key_header: str = "Authorization"
    dimension: int | None = Field(default=None, ge=1)
    send_dimension: bool = False
    revision: str = ""
    max_tokens: int | None = Field(default=None, ge=1)
    tokenizer: str = "cl100k_base"
    query_prefix: str = ""
    passage_prefix: str = ""
    price_per_million_tokens: float | None = Field(default=None, ge=0)
    currency: str = "USD"
    encoding_format: Literal["float", "base64"] = "float"
    batch_items: int = Field(default=128, ge=1, le=2048)
    batch_tokens: int = Field(default=100_000, ge=1)
    concurrency: int = Field(default=4, ge=1, le=256)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    timeout_seconds: float = Field(default=60.0, gt=0)
    attempts: int = Field(default=8, ge=1)
    patience_seconds: float = Field(default=900.0, gt=0)
    backoff_seconds: float = Field(default=0.1, ge=0)

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("must be an http or https URL")
        if parts.username or parts.password or parts.query:
            raise ValueError("must hold no user, password or query; see api_key_env and query")
        return value.rstrip("/")


def card_of(settings: OpenAICompatibleSettings) -> EmbedderCard:
    """The card; ``ConfigurationError`` when the model is not known and its size is not given."""
    known = KNOWN_MODELS.get(settings.model)
    dimension = settings.dimension or (known.dimension if known else None)
    max_tokens = settings.max_tokens or (known.max_tokens if known else None)
    if dimension is None or max_tokens is None:
        raise ConfigurationError(
            f"model {settings.model!r} needs the settings dimension and max_tokens; "
            f"known without them: {', '.join(sorted(KNOWN_MODELS))}"
        )
    price = settings.price_per_million_tokens
    identity = {"model": settings.model, "dimension": dimension, "revision": settings.revision}
    return EmbedderCard(
        name="openai_compatible",
        model_id=settings.model,
        revision=fingerprint(identity),
        version=1,
        dimension=dimension,
        max_tokens=max_tokens,
        tokenizer=settings.tokenizer,
        query_prefix=settings.query_prefix,
        passage_prefix=settings.passage_prefix,
        pooling="provider",
        price_per_million_tokens=(known.price_per_million_tokens if known else 0.0)
        if price is None
        else price,
        currency=settings.currency,
        deterministic=False,
    )


def endpoint_of(settings: OpenAICompatibleSettings) -> Endpoint:
    """Where and how patiently to ask."""
    return Endpoint(
        url=f"{settings.base_url}/embeddings",
        query=settings.query,
        key_env=settings.api_key_env,
        key_header=settings.api_key_header,
        timeout_seconds=settings.timeout_seconds,
        attempts=settings.attempts,
        patience_seconds=settings.patience_seconds,
        backoff_seconds=settings.backoff_seconds,
    )
