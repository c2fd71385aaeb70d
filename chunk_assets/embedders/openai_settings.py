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
    """One endpoint and model. The key is named here (``api_key_env``), never given."""

    model: str = Field(min_length=1)
    """As the provider calls it."""
    base_url: str = "https://api.openai.com/v1"
    """Up to and without `/embeddings`."""
    query: dict[str, str] = Field(default_factory=dict)
    """Parameters of the URL, as Azure's `api-version`."""
    api_key_env: str | None = "OPENAI_API_KEY"
    """The environment variable that holds the key; none for servers without."""
    api_key_header: str = "Authorization"
    """The header that carries it; Azure's is `api-key`."""
    dimension: int | None = Field(default=None, ge=1)
    """Length of a vector; known for OpenAI's models."""
    send_dimension: bool = False
    """Whether the length is asked for in the request."""
    revision: str = ""
    """Change it when the server's model changes behind the same name."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Tokens of a text at most; known for OpenAI's models."""
    tokenizer: str = "cl100k_base"
    """Whose tokens these are."""
    query_prefix: str = ""
    """Before a question."""
    passage_prefix: str = ""
    """Before a chunk."""
    price_per_million_tokens: float | None = Field(default=None, ge=0)
    """Known for OpenAI's models."""
    currency: str = "USD"
    """Of the price."""
    encoding_format: Literal["float", "base64"] = "float"
    """How vectors travel; `base64` is a third of the bytes, where the server knows it."""
    batch_items: int = Field(default=128, ge=1, le=2048)
    """Texts a request at most."""
    batch_tokens: int = Field(default=100_000, ge=1)
    """Tokens a request at most."""
    concurrency: int = Field(default=4, ge=1, le=256)
    """Requests at a time at most."""
    requests_per_minute: float | None = Field(default=None, gt=0)
    """The provider's limit; none is no limit."""
    tokens_per_minute: float | None = Field(default=None, gt=0)
    """The provider's limit; none is no limit."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Until an answer must have come."""
    attempts: int = Field(default=8, ge=1)
    """Faults of one batch until its texts count as failed."""
    patience_seconds: float = Field(default=900.0, gt=0)
    """All that one batch may take, with the pauses that the provider asks for."""
    backoff_seconds: float = Field(default=0.1, ge=0)
    """The first pause after a fault, doubled after each, with jitter."""

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
