"""One run of a peer for the incremental benchmark: ``python -m … NAME HOME CHUNK_CHARS``.

Written as the peer's own documentation does it: CocoIndex 1 with memoised functions and its SQLite target,
LlamaIndex with an ``IngestionPipeline``, a document store that upserts, and a local vector store.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

DIMENSION = 384
embedded = 0


def vector(text: str) -> Any:
    """The same amount of work as this project's hash embedder."""
    import numpy as np

    global embedded  # noqa: PLW0603 - a counter of this process
    embedded += 1
    data = hashlib.shake_256(hashlib.sha256(text.encode()).digest()).digest(4 * DIMENSION)
    whole = np.frombuffer(data, dtype="<u4").astype(np.float64) / 2**31 - 1
    return (whole / np.linalg.norm(whole)).astype(np.float32)


def cocoindex(home: Path, chunk_chars: int) -> tuple[float, int]:
    """Seconds of processor time and rows."""
    os.environ["COCOINDEX_DISABLE_USAGE_TRACKING"] = "1"
    from dataclasses import dataclass

    import cocoindex as coco
    from cocoindex.connectors import localfs, sqlite
    from cocoindex.ops.text import RecursiveSplitter

    database = coco.ContextKey[sqlite.ManagedConnection]("database")
    splitter = RecursiveSplitter()
    target_file = str(home / "out.sqlite")

    @coco.lifespan
    async def lifespan(builder: Any) -> Any:
        builder.settings.db_path = home / "coco.db"
        builder.provide_with(database, sqlite.managed_connection(target_file, load_vec=False))
        yield

    @dataclass
    class Row:
        id: str
        filename: str
        text: str
        start: int
        vector: bytes

    @coco.fn(memo=True)
    async def embed(text: str) -> bytes:
        return bytes(vector(text).tobytes())

    @coco.fn(memo=True)
    async def process(file: Any, table: Any, size: int) -> None:
        text = await file.read_text()
        pieces = splitter.split(text, chunk_size=size, chunk_overlap=200, language="markdown")
        name = str(file.file_path.path)
        for number, piece in enumerate(pieces):
            row = Row(f"{name}:{number}", name, piece.text, piece.start.char_offset, await embed(piece.text))
            table.declare_row(row=row)

    @coco.fn
    async def run(folder: Path, size: int) -> None:
        shape = await sqlite.TableSchema.from_class(Row, primary_key=["id"])
        table = await sqlite.mount_table_target(database, "chunks", shape)
        await coco.mount_each(process, localfs.walk_dir(folder, recursive=True).items(), table, size)

    began = time.process_time()
    coco.App("bench", run, folder=home / "docs", size=chunk_chars).update_blocking()
    seconds = time.process_time() - began
    return seconds, sqlite3.connect(target_file).execute("select count(*) from chunks").fetchone()[0]


def llama_index(home: Path, chunk_chars: int) -> tuple[float, int]:
    """Seconds of processor time and rows."""
    from llama_index.core import SimpleDirectoryReader
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.storage.docstore import SimpleDocumentStore
    from llama_index.core.vector_stores import SimpleVectorStore

    class Hashed(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            found: list[float] = vector(text).tolist()
            return found

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    began = time.process_time()
    store_file = home / "pipeline" / "vectors.json"
    store = (
        SimpleVectorStore.from_persist_path(str(store_file)) if store_file.exists() else SimpleVectorStore()
    )
    pipeline = IngestionPipeline(
        transformations=[SentenceSplitter(chunk_size=chunk_chars // 4, chunk_overlap=50), Hashed()],
        docstore=SimpleDocumentStore(),
        vector_store=store,
        docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE,
    )
    if (home / "pipeline").exists():
        pipeline.load(str(home / "pipeline"))
    pipeline.run(documents=SimpleDirectoryReader(str(home / "docs"), filename_as_id=True).load_data())
    pipeline.persist(str(home / "pipeline"))
    store.persist(str(store_file))
    return time.process_time() - began, len(store.data.embedding_dict)


def main() -> None:
    """Runs the peer and prints processor seconds, texts embedded and peak memory."""
    name, home, size = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    seconds, rows = {"cocoindex": cocoindex, "llama_index": llama_index}[name](home, size)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    figures = {"cpu": round(seconds, 3), "embedded": embedded, "chunks": rows, "peak_mb": peak}
    sys.stdout.write("\n" + json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
