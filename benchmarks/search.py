"""Questions over many chunks: how long one takes once the tables are mapped, and what a change costs.

The texts are words of the sample documents dealt by Zipf's law, about 250 a chunk, the vectors and the
question's are those of the hash embedder with 384 numbers: what costs is the size, not the meaning. A
question is answered whole: scores of all chunks, the best, their passages with the best sentence marked.
Beside it is the least that exact search needs: one product and a partial sort in numpy.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.harness import ROOT, Result, finish, parser, ratio
from chunk_assets.embedders import load_embedder
from chunk_assets.hashing import chunk_id, point_id, sha256_text
from chunk_assets.records import CHUNKS, EMBEDDINGS, PAYLOAD_FIELDS
from chunk_assets.search import open_index
from chunk_assets.search.index import Index
from chunk_assets.storage.schemas import embeddings_schema, schema
from chunk_assets.storage.tables import write_table

WORDS, PER_DOCUMENT, BATCHES = 250, 20, 16
QUESTIONS = 40
SIZES = (4_000, 100_000)


def main(argv: list[str] | None = None) -> None:
    """Runs the benchmark and writes its result."""
    options = parser(__doc__ or "").parse_args(argv)
    size = SIZES[0] if options.quick else SIZES[1]
    result = Result("search")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for batch in range(BATCHES):
            publish(home, batch, size // BATCHES, batch)
        measure(home, size, result)
    result.notes.append(f"{size} chunks of {WORDS} words in {BATCHES} batches, {QUESTIONS} questions a mode")
    result.notes.append("wall time: a person waits for it; processor time is beside it")
    finish(result, options)


def vocabulary() -> list[str]:
    """Different words of the sample documents, in order of their first place."""
    texts = (path.read_text("utf-8") for path in sorted((ROOT / "data" / "samples").rglob("*.md")))
    return list(dict.fromkeys(word for text in texts for word in text.split()))


def publish(home: Path, batch: int, count: int, seed: int) -> None:
    """Writes the chunks and vectors of one batch, as a run would."""
    source = np.random.default_rng(seed)
    words = np.array(vocabulary(), dtype=object)
    places = (source.zipf(1.2, (count, WORDS)) - 1) % len(words)
    rows = [row(batch, number, " ".join(words[places[number]])) for number in range(count)]
    rows.sort(key=lambda r: (r["document_id"], r["chunk_index"]))
    embedder = load_embedder("hash")
    vectors = source.standard_normal((count, embedder.card.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kind = embeddings_schema(embedder.card, "hash")
    columns = {name: [r[name] for r in rows] for name in kind.names if name in rows[0]}
    columns |= {"vector": list(vectors), "model": ["sha256"] * count, "model_fingerprint": ["hash"] * count}
    part = Path(f"source=docs/slice=bucket-{batch}/part-0.parquet")
    chunks = pa.Table.from_pylist(rows, schema=schema(CHUNKS))
    write_table(home / "tables" / CHUNKS / part, CHUNKS, chunks, schema(CHUNKS))
    embedded = pa.Table.from_pydict(columns, schema=kind)
    write_table(home / "tables" / EMBEDDINGS / part, EMBEDDINGS, embedded, kind)


def row(batch: int, number: int, text: str) -> dict[str, Any]:
    """One row of ``chunks``."""
    document = f"document_{batch:02d}_{number // PER_DOCUMENT:06d}"
    index = number % PER_DOCUMENT
    name = chunk_id(document, index)
    facts = {
        "chunk_id": name,
        "point_id": point_id(name),
        "document_id": document,
        "chunk_index": index,
        "text": text,
        "context": "",
        "chunk_sha256": sha256_text(text),
        "input_sha256": sha256_text(text),
        "token_count": WORDS,
        "model_token_count": WORDS,
        "start_char": index * 10_000,
        "end_char": index * 10_000 + len(text),
        "heading_path": ["Part", str(index)],
        "content_kind": "prose",
        "strategy": "none",
        "split_reason": "end",
        "overlap_chars": 0,
        "tags": ["even" if number % 2 else "odd"],
        "metadata": [],
        "document_sha256": sha256_text(document),
        "fingerprint": "f",
    }
    return dict.fromkeys(PAYLOAD_FIELDS) | facts | {"company": f"Company {batch}"}


def measure(home: Path, size: int, result: Result) -> None:
    """Opening, asking, and opening again after one batch changed."""
    result.table.append(["what", "p50 ms", "p95 ms", "cpu ms"])
    figures = result.figures
    first, index = timed(lambda: loaded(home))
    figures["first opening, seconds"] = round(first, 2)
    figures["opening again, seconds"] = round(timed(lambda: loaded(home))[0], 3)
    words = vocabulary()
    questions = [" ".join(words[at : at + 6]) for at in range(0, 6 * QUESTIONS, 6)]
    asked: list[tuple[str, Callable[[str], object]]] = [
        (mode, lambda text, mode=mode: index.search(text, 5, mode)) for mode in ("dense", "bm25", "hybrid")
    ]
    filters = {"company": "Company 3", "tags": "odd"}
    asked.append(("hybrid, two filters", lambda text: index.search(text, 5, "hybrid", filters)))
    asked.append(("numpy: product and partial sort", lambda text: plain(index, text)))
    middles = {name: ask(result, name, how, questions) for name, how in asked}
    bare = middles.pop("numpy: product and partial sort")
    result.ratios["numpy alone over dense search"] = ratio(bare, middles["dense"])
    result.ratios["bound of 100 ms over the slowest mode"] = ratio(100.0, max(middles.values()))
    publish(home, 5, size // BATCHES, 99)
    changed = timed(lambda: loaded(home))[0]
    figures["opening after one batch changed, seconds"] = round(changed, 2)
    result.ratios["opening after one change over the first opening"] = ratio(changed, first)
    figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    for name, value in figures.items():
        if "seconds" in name:
            result.notes.append(f"{name}: {value}")


def timed(work: Callable[[], Index]) -> tuple[float, Index]:
    """Wall seconds of some work, and what it gave."""
    began = time.perf_counter()
    made = work()
    return time.perf_counter() - began, made


def loaded(home: Path) -> Index:
    """An index that has answered once in each mode."""
    index = open_index(home, embedder=load_embedder("hash"))
    for mode in ("dense", "bm25"):
        index.search("first question", mode=mode)
    return index


def plain(index: Index, text: str) -> object:
    """The best ids by one product."""
    query = load_embedder("hash").embed_query(text)
    scores = np.concatenate([segment.vectors @ query for segment in index.rows.segments])
    return np.argpartition(-scores, 5)[:5]


def ask(result: Result, name: str, how: Callable[[str], object], questions: list[str]) -> float:
    """The median wall milliseconds of a question."""
    how(questions[0])
    walls, began = [], time.process_time()
    for question in questions:
        start = time.perf_counter()
        how(question)
        walls.append(1000 * (time.perf_counter() - start))
    cpu = 1000 * (time.process_time() - began) / len(questions)
    middle, late = statistics.median(walls), statistics.quantiles(walls, n=20)[-1]
    result.table.append([name, middle, late, cpu])
    result.figures[name] = {"p50_ms": round(middle, 1), "p95_ms": round(late, 1), "cpu_ms": round(cpu, 1)}
    return middle


if __name__ == "__main__":
    main()
