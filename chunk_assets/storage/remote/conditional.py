"""Reading an object with its token, and putting it only if the token is still the same, store by store.

fsspec has no name for that: each of its filesystems is asked for the request that its store has for it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

from chunk_assets.errors import ConfigurationError

# Divides the name of an object from its bytes in an upload to Google; what is put here is JSON without it.
BOUNDARY = "chunk-assets-divider"
# What stores answer when a condition does not hold, or when two conditional puts meet.
REFUSALS = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409", "NoSuchKey", "404"})


class Conflict(Exception):
    """The object is not the one that the caller knew."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An object as it was read: its bytes and its token.

    ``modified`` and ``now`` are when it was put and when it was read, by the store's clock, in seconds since
    the epoch.
    """

    data: bytes
    token: str
    modified: float
    now: float


class Door(Protocol):
    """What every store must be able to do."""

    def get(self, path: str) -> Answer:
        """The object; ``FileNotFoundError`` when there is none."""

    def put(self, path: str, data: bytes) -> str:
        """Puts it; the token."""

    def put_if(self, path: str, data: bytes, token: str | None) -> str:
        """Puts it if the token holds; ``Conflict`` when not."""

    def token(self, facts: Mapping[str, Any]) -> str:
        """The token of a listed object."""

    def modified(self, facts: Mapping[str, Any]) -> float:
        """When a listed object was put."""


class S3:
    """``If-Match`` with the ETag, ``If-None-Match: *`` for a new object."""

    def __init__(self, filesystem: Any) -> None:
        self._files = filesystem

    def get(self, path: str) -> Answer:
        """One request, so that bytes and ETag belong together."""
        from fsspec.asyn import sync

        answer, data = sync(self._files.loop, self._fetch, *self._place(path))
        now = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
        return Answer(
            data,
            answer["ETag"],
            answer["LastModified"].timestamp(),
            parsedate_to_datetime(now).timestamp() if now else time.time(),
        )

    def put(self, path: str, data: bytes) -> str:
        """Unconditional."""
        return self._put(path, data, {})

    def put_if(self, path: str, data: bytes, token: str | None) -> str:
        """Conditional."""
        condition = {"IfNoneMatch": "*"} if token is None else {"IfMatch": token}
        try:
            return self._put(path, data, condition)
        except OSError as error:
            answer = getattr(error.__cause__, "response", {})
            if answer.get("Error", {}).get("Code") in REFUSALS:
                raise Conflict(path) from error
            raise

    def token(self, facts: Mapping[str, Any]) -> str:
        """The ETag."""
        return str(facts["ETag"])

    def modified(self, facts: Mapping[str, Any]) -> float:
        """Its time stamp."""
        return float(facts["LastModified"].timestamp())

    def _put(self, path: str, data: bytes, condition: dict[str, str]) -> str:
        bucket, key = self._place(path)
        answer = self._files.call_s3("put_object", Bucket=bucket, Key=key, Body=data, **condition)
        return str(answer["ETag"])

    async def _fetch(self, bucket: str, key: str) -> tuple[dict[str, Any], bytes]:
        answer = await self._files._call_s3("get_object", Bucket=bucket, Key=key)
        async with answer["Body"] as body:
            data = await body.read()
        if len(data) != answer["ContentLength"]:
            raise OSError(f"{len(data)} bytes came of {answer['ContentLength']}")
        return answer, data

    def _place(self, path: str) -> tuple[str, str]:
        bucket, key, _ = self._files.split_path(path)
        return bucket, key


class Gcs:
    """``ifGenerationMatch`` with the generation, 0 for a new object."""

    def __init__(self, filesystem: Any) -> None:
        self._files = filesystem

    def get(self, path: str) -> Answer:
        """One request, so that bytes and generation belong together."""
        headers, data = self._files.call("GET", self._files.url(path))
        facts = {name.lower(): value for name, value in headers.items()}
        put, now = (parsedate_to_datetime(facts[name]).timestamp() for name in ("last-modified", "date"))
        return Answer(data, str(facts["x-goog-generation"]), put, now)

    def put(self, path: str, data: bytes) -> str:
        """Unconditional."""
        return self._put(path, data, {})

    def put_if(self, path: str, data: bytes, token: str | None) -> str:
        """Conditional."""
        from gcsfs.retry import HttpError

        try:
            return self._put(path, data, {"ifGenerationMatch": token or "0"})
        except (FileNotFoundError, FileExistsError) as error:
            raise Conflict(path) from error
        except HttpError as error:
            if str(error.code) in REFUSALS:
                raise Conflict(path) from error
            raise

    def token(self, facts: Mapping[str, Any]) -> str:
        """The generation."""
        return str(facts["generation"])

    def modified(self, facts: Mapping[str, Any]) -> float:
        """Its time stamp."""
        return datetime.fromisoformat(facts["updated"]).timestamp()

    def _put(self, path: str, data: bytes, condition: dict[str, str]) -> str:
        bucket, key, _ = self._files.split_path(path)
        place = f"{self._files._location}/upload/storage/v1/b/{bucket}/o"
        parts = (
            f"--{BOUNDARY}\nContent-Type: application/json\n\n{json.dumps({'name': key})}",
            f"\n--{BOUNDARY}\nContent-Type: application/octet-stream\n\n",
        )
        facts = self._files.call(
            "POST",
            place,
            uploadType="multipart",
            headers={"Content-Type": f"multipart/related; boundary={BOUNDARY}"},
            data="".join(parts).encode() + data + f"\n--{BOUNDARY}--".encode(),
            json_out=True,
            **condition,
        )
        return str(facts["generation"])


class Azure:
    """``If-Match`` with the ETag, ``If-None-Match: *`` for a new object."""

    def __init__(self, filesystem: Any) -> None:
        self._files = filesystem

    def get(self, path: str) -> Answer:
        """One request, so that bytes and ETag belong together."""
        from fsspec.asyn import sync

        data, facts, now = sync(self._files.loop, self._fetch, path)
        return Answer(data, _quoted(facts.etag), facts.last_modified.timestamp(), now)

    def put(self, path: str, data: bytes) -> str:
        """Unconditional."""
        return self._put(path, data, {"overwrite": True})

    def put_if(self, path: str, data: bytes, token: str | None) -> str:
        """Conditional."""
        from azure.core import MatchConditions
        from azure.core.exceptions import (
            ResourceExistsError,
            ResourceModifiedError,
            ResourceNotFoundError,
        )

        same = {"overwrite": True, "etag": token, "match_condition": MatchConditions.IfNotModified}
        try:
            return self._put(path, data, {"overwrite": False} if token is None else same)
        except (ResourceExistsError, ResourceModifiedError, ResourceNotFoundError, FileExistsError) as error:
            raise Conflict(path) from error

    def token(self, facts: Mapping[str, Any]) -> str:
        """The ETag."""
        return _quoted(facts["etag"])

    def modified(self, facts: Mapping[str, Any]) -> float:
        """Its time stamp."""
        return float(facts["last_modified"].astimezone(UTC).timestamp())

    def _put(self, path: str, data: bytes, how: dict[str, Any]) -> str:
        from fsspec.asyn import sync

        return _quoted(sync(self._files.loop, self._send, path, data, how)["etag"])

    async def _fetch(self, path: str) -> tuple[bytes, Any, float]:
        from azure.core.exceptions import ResourceNotFoundError

        dates: list[Any] = []
        async with self._client(path) as client:
            try:
                stream = await client.download_blob(raw_response_hook=dates.append)
            except ResourceNotFoundError as error:
                raise FileNotFoundError(path) from error
            data = await stream.readall()
        now = parsedate_to_datetime(dates[-1].http_response.headers["date"])
        return data, stream.properties, now.timestamp()

    async def _send(self, path: str, data: bytes, how: dict[str, Any]) -> Any:
        async with self._client(path) as client:
            return await client.upload_blob(data=data, **how)

    def _client(self, path: str) -> Any:
        container, blob, _ = self._files.split_path(path)
        return self._files.service_client.get_blob_client(container=container, blob=blob)


def _quoted(etag: str) -> str:
    return f'"{etag.strip(chr(34))}"'


DOORS: Mapping[str, Callable[[Any], Door]] = {
    "s3": S3,
    "s3a": S3,
    "gs": Gcs,
    "gcs": Gcs,
    "abfs": Azure,
    "abfss": Azure,
    "az": Azure,
}


def door_of(filesystem: Any) -> Door:
    """The door of a filesystem's store.

    Raises:
        ConfigurationError: a home can't lie there.
    """
    names = filesystem.protocol if isinstance(filesystem.protocol, tuple) else (filesystem.protocol,)
    for name in names:
        if name in DOORS:
            return DOORS[name](filesystem)
    msg = f"a home can't lie on {names[0]}://; it may on {', '.join(f'{n}://' for n in DOORS)}, or on a disk"
    raise ConfigurationError(msg)
