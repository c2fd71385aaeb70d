"""The settings of the home as a whole: alerts, schedules, engines and stores."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from chunk_assets.catalog.settings import Settings
from chunk_assets.catalog.source import Schedule


class Alerts(Settings):
    """Where alerts go. URLs hold secrets, so only the names of environment variables stand here."""

    apprise_env: tuple[str, ...] = ("CHUNK_ASSETS_ALERT_URLS",)
    """Environment variables with apprise URLs, separated by blanks."""
    webhook_env: str = "CHUNK_ASSETS_ALERT_WEBHOOK"
    """Environment variable with the URL that the JSON body is posted to."""
    severity: Literal["error", "warn"] = "warn"
    """The least severity that is sent."""
    digest_over: Annotated[int, Field(ge=1)] = 10
    """More new incidents than this at once are sent as one message."""
    link_base: str = "http://127.0.0.1:3000"
    """Where people reach the UI; links in messages begin with it."""


class Operation(Settings):
    """Schedules of the home itself, and how much one tick may ask for."""

    catch_up: Schedule = Schedule(cron="0 2 * * *")
    """When stale and failed batches are run, oldest first."""
    catch_up_batches: Annotated[int, Field(ge=1)] = 50
    """Batches a catch-up asks for at most."""
    verify: Schedule = Schedule(cron="0 4 * * 0")
    """When a share of the batches is verified."""
    verify_share: Annotated[float, Field(gt=0, le=1)] = 0.25
    """That share, 0 to 1; all batches have their turn."""
    evaluate: Schedule = Schedule(cron="0 5 1 * *")
    """When retrieval is evaluated, besides after changes of policy or model."""
    prune: Schedule = Schedule(cron="30 4 * * 0")
    """When old runs, vectors and objects are removed."""
    sensor_seconds: Annotated[int, Field(ge=5)] = 30
    """Seconds between two ticks of a sensor."""
    sensor_batches: Annotated[int, Field(ge=1)] = 20
    """Batches one tick asks for at most."""
    keep_runs_per_batch: Annotated[int, Field(ge=1)] = 5
    """Newest runs of a batch that pruning keeps."""


class Compute(Settings):
    """Where documents are converted: processes of this machine, or a Dask or Ray cluster that is running."""

    engine: Literal["local", "dask", "ray"] = "local"
    """`local` processes, or a `dask` or `ray` cluster."""
    address: str = ""
    """Of the cluster's scheduler, for example `tcp://scheduler:8786`."""

    @model_validator(mode="after")
    def _addressed(self) -> Compute:
        if (self.engine == "local") == bool(self.address):
            msg = f"engine {self.engine} {'has no' if self.address else 'needs the'} address of a cluster"
            raise ValueError(msg)
        return self


class ObjectStoreRules(Settings):
    """How a home on ``s3://``, ``gs://`` or ``abfs://`` is written."""

    lock_seconds: Annotated[float, Field(ge=2, le=3600)] = 60.0
    """A batch whose run was not heard of for so long may be taken over by another run."""
    grace_minutes: Annotated[float, Field(ge=0)] = 60.0
    """How long objects of the version before stay, for readers that are still at them."""
    single_writer: bool = False
    """You see to it that only one process writes; for stores without conditional puts."""


class VectorIndex(Settings):
    """A store that the published vectors are delivered to; secrets come from the environment."""

    to: str
    """The store: `lancedb`, `qdrant`, `pgvector`, `duckdb`, `faiss` or `parquet`."""
    target: str
    """A folder, file or URL, as `export` takes it; passwords stand in the environment."""
    sources: tuple[str, ...] = ()
    """Only these sources; none is all."""
