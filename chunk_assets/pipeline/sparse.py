"""Sparse vectors of the chunks of one batch, in a column beside the dense ones (ADR 0011)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chunk_assets.embedders.base import Sparse
from chunk_assets.embedders.sparse_rows import RowEmbedder, flat, row_of
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.embedding import Embedding, inputs_of, keys_of, row_groups
from chunk_assets.pipeline.trials import Trials
from chunk_assets.records import EMBEDDINGS
from chunk_assets.storage.schemas import sparse_model_of, sparse_type

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from chunk_assets.storage.vectors import VectorStore

logger = logging.getLogger(__name__)


@dataclass
class SparseEmbedding:
    """The sparse side of one batch: ``texts`` were sent to the model, ``refused`` have no vector."""

    context: BatchContext
    chunks_file: Path
    model: RowEmbedder
    texts: int = 0
    refused: int = 0

    @property
    def store(self) -> VectorStore:
        """Rows of this model by content."""
        return self.context.session.sparse_store(self.context.batch.source)

    def vectors_for_all(self) -> None:
        """Puts the row of every chunk into the store that has none; ``StopRun`` when the model is down."""
        self._recover()
        try:
            for rows in row_groups(self.chunks_file, ("input_sha256", "context", "text")):
                self._embed(rows)
        finally:
            self.store.flush()
        if self.refused:
            logger.warning(
                "%s: %d texts without a sparse vector: over %d tokens, or refused by %s",
                self.context.batch,
                self.refused,
                self.model.card.max_tokens,
                self.model.card.model_id,
            )

    def _embed(self, rows: pa.Table) -> None:
        keys = keys_of(rows)
        there = self.store.contains(keys).tolist()
        missing = {key: row for row, (key, known) in enumerate(zip(keys, there, strict=True)) if not known}
        if not missing:
            return
        part = rows.take(list(missing.values()))
        wanted = list(missing)
        for answer in Trials(self.model, self.context.session.workers).answers(inputs_of(part)):
            self.texts += 1
            if answer.vector is None:
                self.refused += 1
            else:
                self.store.add(wanted[answer.index], answer.vector)

    def missing_keys(self) -> set[bytes]:
        """Keys of the chunks that have a row neither in the store nor in the published table."""
        path = self._published()
        found: set[bytes] = set()
        for rows in row_groups(self.chunks_file, ("input_sha256",)):
            keys = keys_of(rows)
            there = self.store.contains(keys).tolist()
            found.update(key for key, known in zip(keys, there, strict=True) if not known)
        for rows in row_groups(path, ("input_sha256",)) if path is not None and found else ():
            found.difference_update(keys_of(rows))
        return found

    @property
    def same_model(self) -> bool:
        """Whether published embeddings have sparse vectors of this model."""
        return self._published() is not None

    def _published(self) -> Path | None:
        if published_sparse_model(self.context) != self.context.recipe.sparse_fingerprint:
            return None
        return self.context.published_file(EMBEDDINGS)

    def _recover(self) -> None:
        """Takes rows that the store has lost from the published table."""
        path = self._published()
        for rows in row_groups(path, ("input_sha256", "sparse")) if path is not None else ():
            keys = keys_of(rows)
            for row in (~self.store.contains(keys)).nonzero()[0].tolist():
                pairs = rows["sparse"][row].as_py()
                if pairs is not None:
                    self.store.add(keys[row], _row(pairs, self.model.card.most_weights))

    def beside(self, rows: pa.Table) -> pa.Table:
        """Rows of ``embeddings`` with the column ``sparse``, null where there is no vector."""
        schema = self.context.embeddings_schema
        return rows.append_column(schema.field("sparse"), self._column(keys_of(rows))).cast(schema)

    def _column(self, keys: Sequence[bytes]) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        rows, found = self.store.get(keys)
        counts, indices, weights = flat(rows)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        kind = sparse_type()
        pairs = pa.StructArray.from_arrays(
            [pa.array(indices, pa.int32()), pa.array(weights, pa.float32())], fields=list(kind.value_type)
        )
        return pa.ListArray.from_arrays(
            pa.array(offsets), pairs, type=kind, mask=pa.array(~found) if len(keys) else None
        )


def published_sparse_model(context: BatchContext) -> str:
    """The fingerprint of the sparse model of the published embeddings; empty without one."""
    import pyarrow.parquet as pq

    path = context.published_file(EMBEDDINGS)
    return sparse_model_of(pq.read_schema(path)) if path is not None else ""


def _row(pairs: Sequence[dict[str, float]], most: int) -> NDArray[np.float32]:
    import numpy as np

    indices = np.array([pair["index"] for pair in pairs], np.int32)
    return row_of(Sparse(indices, np.array([pair["value"] for pair in pairs], np.float32)), most)


def embedding_of(context: BatchContext, chunks_file: Path) -> Embedding:
    """The embedding of a batch by the catalog's model, and by the sparse one beside it if there is one."""
    model = context.session.sparse_model()
    return Embedding(context, chunks_file, SparseEmbedding(context, chunks_file, model) if model else None)
