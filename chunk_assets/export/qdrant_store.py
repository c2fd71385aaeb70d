"""Qdrant: ``target`` is the URL of a server, or a folder for the client's local mode.

The key of a server comes from the environment variable ``QDRANT_API_KEY``. Points are named by
``point_id``, the UUID of the chunk id, since Qdrant takes nothing else. The dense vector has no name; the
sparse one, where there is one, is called ``sparse``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from chunk_assets.export.base import Held, weights_of
from chunk_assets.hashing import point_id

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

PAGE = 1_000
BATCH = 256
SPARSE = "sparse"
# In the payload of a point whose sparse vector has no weight at all, which Qdrant does not keep.
EMPTY = "sparse_is_empty"


class QdrantStore:
    """The contract is the metadata of the collection."""

    def __init__(self, target: str, collection: str) -> None:
        from qdrant_client import QdrantClient

        remote = target.startswith(("http://", "https://"))
        where: dict[str, Any] = {"url": target, "api_key": os.environ.get("QDRANT_API_KEY")}
        self._client: Any = QdrantClient(**(where if remote else {"path": target}))
        self._name = collection

    def contract(self) -> dict[str, str] | None:
        """From the collection."""
        if not self._client.collection_exists(self._name):
            return None
        return dict(self._client.get_collection(self._name).config.metadata or {})

    def create(self, contract: Mapping[str, str], schema: pa.Schema) -> None:
        """A collection of cosine vectors, and of sparse ones when the rows have them."""
        from qdrant_client import models

        size = schema.field("vector").type.list_size
        self._client.create_collection(
            self._name,
            vectors_config=models.VectorParams(size=size, distance=models.Distance.COSINE),
            sparse_vectors_config={SPARSE: models.SparseVectorParams()} if SPARSE in schema.names else None,
            metadata=dict(contract),
        )

    def drop(self) -> None:
        """The collection."""
        if self._client.collection_exists(self._name):
            self._client.delete_collection(self._name)

    def digests(self, source: str | None) -> dict[str, str]:
        """From the payload of all points, a page at a time."""
        return {
            point.payload["chunk_id"]: point.payload["digest"]
            for point in self._points(source, ["chunk_id", "digest"])
        }

    def _points(self, source: str | None, payload: list[str]) -> Iterator[Any]:
        offset = None
        while True:
            points, offset = self._client.scroll(
                self._name,
                scroll_filter=_of_source(source),
                limit=PAGE,
                offset=offset,
                with_payload=payload,
            )
            yield from points
            if offset is None:
                return

    @contextmanager
    def writing(self) -> Iterator[None]:
        """There are no transactions: each batch of points is there when its call returns."""
        yield

    def upsert(self, rows: pa.Table) -> None:
        """Vector and payload together, replacing the whole point."""
        from qdrant_client import models

        for start in range(0, len(rows), BATCH):
            part = rows.slice(start, BATCH).to_pylist()
            points = [
                models.PointStruct(id=row["point_id"], vector=_vector(row), payload=_payload(row))
                for row in part
            ]
            self._client.upsert(self._name, points=points, wait=True)

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """By point id."""
        self._client.delete(self._name, points_selector=[point_id(key) for key in chunk_ids], wait=True)

    def count(self, source: str | None) -> int:
        """By the server, exactly."""
        return int(self._client.count(self._name, count_filter=_of_source(source), exact=True).count)

    def fetch(self, chunk_ids: Sequence[str]) -> dict[str, Held]:
        """By point id."""
        ids = [point_id(key) for key in chunk_ids]
        found = self._client.retrieve(self._name, ids, with_payload=["chunk_id", "digest"], with_vectors=True)
        return {point.payload["chunk_id"]: _held(point) for point in found}

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """By Qdrant's search."""
        found = self._client.query_points(
            self._name, query=vector.tolist(), limit=k, with_payload=["chunk_id"]
        ).points
        return [(point.payload["chunk_id"], float(point.score)) for point in found]

    def nearest_sparse(self, weights: Mapping[int, float], k: int) -> list[tuple[str, float]]:
        """By Qdrant's search over sparse vectors."""
        from qdrant_client import models

        query = models.SparseVector(indices=list(weights), values=list(weights.values()))
        found = self._client.query_points(
            self._name, query=query, using=SPARSE, limit=k, with_payload=["chunk_id"]
        ).points
        return [(point.payload["chunk_id"], float(point.score)) for point in found]

    def close(self) -> None:
        """Ends the connection, or frees the folder."""
        self._client.close()


def _of_source(source: str | None) -> Any:
    from qdrant_client import models

    if source is None:
        return None
    match = models.MatchValue(value=source)
    return models.Filter(must=[models.FieldCondition(key="source", match=match)])


def _vector(row: Mapping[str, Any]) -> Any:
    """The dense vector alone, or both by name."""
    from qdrant_client import models

    weights = weights_of(row.get(SPARSE))
    if not weights:
        return row["vector"]
    sparse = models.SparseVector(indices=list(weights), values=list(weights.values()))
    return {"": row["vector"], SPARSE: sparse}


def _held(point: Any) -> Held:
    import numpy as np

    vectors, payload = point.vector, point.payload
    named = vectors if isinstance(vectors, dict) else {"": vectors}
    sparse = named.get(SPARSE)
    weights = dict(zip(sparse.indices, sparse.values, strict=True)) if sparse is not None else None
    if weights is None and payload.get(EMPTY):
        weights = {}
    return Held(payload["digest"], np.array(named[""], np.float32), weights)


def _payload(row: Mapping[str, Any]) -> dict[str, Any]:
    payload = {name: value for name, value in row.items() if name not in {"vector", "point_id", SPARSE}}
    if row.get(SPARSE) == []:
        payload[EMPTY] = True
    if payload["filing_date"] is not None:
        payload["filing_date"] = payload["filing_date"].isoformat()
    return payload


def open_store(target: str, collection: str) -> QdrantStore:
    """The server at the URL, or the local store in the folder, ``target``."""
    return QdrantStore(target, collection)
