"""Local embedding beside other ways to run the same weights on the processor, without torch.

All contenders embed the same chunks of about 480 tokens with bge-small-en-v1.5 (int8). A vector that
differs from the plain loop's is said so: whole batches quantise their activations together, which
is another result, not a faster one. Wall time counts, since the point is to keep all cores busy; of each
contender its best turn. Processor time is beside it, for machines that are shared.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Result, finish, parser, ratio
from chunk_assets.embedders import load_embedder, ordered
from chunk_assets.embedders.bge_small import FILES, MODEL, TOKENIZER
from chunk_assets.embedders.model_files import locate

CHUNK_TOKENS = 480
OURS = "chunk-assets, all cores"
OURS_ONE = "chunk-assets, one core"
PLAIN = "onnxruntime loop, one thread"
Vectors = Any


@dataclass(slots=True)
class Score:
    """Seconds of each turn, and the vectors of the last."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    vectors: Vectors = None


def main(argv: list[str] | None = None) -> None:
    """Runs the benchmark and writes its result."""
    options = parser(__doc__ or "").parse_args(argv)
    count, turns = (8, 1) if options.quick else (24, 3)
    texts = chunks(count)
    result = Result("embedding")
    with tempfile.TemporaryDirectory() as folder:
        contenders = contenders_of(Path(folder), result)
        scores = run(contenders, texts, turns)
    report(result, scores, len(texts))
    if not options.quick:
        precision(result, texts[:16])
        static(result)
    result.notes.append(f"{count} chunks of about {CHUNK_TOKENS} tokens, {turns} turns, {cores()} cores")
    finish(result, options)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunks(count: int) -> list[str]:
    """Different texts of about ``CHUNK_TOKENS`` tokens, from the project's own sample documents."""
    words = [
        word
        for path in sorted((ROOT / "data" / "samples").rglob("*.md"))
        for word in path.read_text("utf-8").split()
    ]
    embedder = load_embedder("bge_small")
    size, step = 330, max(1, (len(words) - 400) // count)
    texts = []
    for start in range(0, step * count, step):
        text = " ".join(words[start : start + size])
        (tokens,) = embedder.count_tokens([text])
        kept = min(size, size * CHUNK_TOKENS // tokens)
        texts.append(" ".join(words[start : start + kept]))
    return texts


def run(
    contenders: Mapping[str, Callable[[Sequence[str]], Vectors]], texts: list[str], turns: int
) -> dict[str, Score]:
    """Every contender embeds all texts, in turns, after a warm-up with two of them."""
    scores = {name: Score() for name in contenders}
    for embed in contenders.values():
        embed(texts[:2])
    for _ in range(turns):
        for name, embed in contenders.items():
            wall, cpu = time.perf_counter(), time.process_time()
            scores[name].vectors = embed(texts)
            scores[name].wall.append(time.perf_counter() - wall)
            scores[name].cpu.append(time.process_time() - cpu)
    return scores


def contenders_of(folder: Path, result: Result) -> dict[str, Callable[[Sequence[str]], Vectors]]:
    """Ours, plain loops, and the peers that are installed."""
    embedder = load_embedder("bge_small")

    def ours(texts: Sequence[str], workers: int) -> Vectors:
        return np.stack([r.vector for r in ordered(embedder.embed(texts, workers=workers), len(texts))])

    found: dict[str, Callable[[Sequence[str]], Vectors]] = {
        PLAIN: plain_loop(1),
        OURS_ONE: lambda texts: ours(texts, 1),
        OURS: lambda texts: ours(texts, cores()),
        "onnxruntime loop, all threads": plain_loop(cores()),
        "onnxruntime, batches of 8": plain_batches(cores(), 8),
    }
    if importlib.util.find_spec("fastembed") is None:
        result.absent.append("fastembed")
        return found
    return found | fastembed_contenders(folder)


def _tokenizer_and_session(threads: int) -> tuple[Any, Any]:
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime
    from tokenizers import Tokenizer

    paths = locate(FILES)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(paths[MODEL]), options, providers=["CPUExecutionProvider"])
    return Tokenizer.from_file(str(paths[TOKENIZER])), session


def plain_loop(threads: int) -> Callable[[Sequence[str]], Vectors]:
    """What anybody would write: one text after another, default options but the threads."""
    tokenizer, session = _tokenizer_and_session(threads)

    def embed(texts: Sequence[str]) -> Vectors:
        vectors = []
        for text in texts:
            ids = np.array([tokenizer.encode(text).ids])
            feed = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
            cls = session.run(None, feed)[0][0, 0]
            vectors.append(cls / np.linalg.norm(cls))
        return np.stack(vectors)

    return embed


def plain_batches(threads: int, size: int) -> Callable[[Sequence[str]], Vectors]:
    """The same with padded batches, as most libraries do it."""
    tokenizer, session = _tokenizer_and_session(threads)
    tokenizer.enable_padding()

    def embed(texts: Sequence[str]) -> Vectors:
        parts = []
        for start in range(0, len(texts), size):
            encoded = tokenizer.encode_batch(list(texts[start : start + size]))
            ids = np.array([e.ids for e in encoded])
            mask = np.array([e.attention_mask for e in encoded])
            cls = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0})[0][
                :, 0
            ]
            parts.append(cls / np.linalg.norm(cls, axis=1, keepdims=True))
        return np.concatenate(parts)

    return embed


def fastembed_contenders(folder: Path) -> dict[str, Callable[[Sequence[str]], Vectors]]:
    """Fastembed with the same files: one text a call (equal vectors), and its own batches."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    paths = locate(FILES)
    for name, path in paths.items():
        (folder / name).symlink_to(path)
    special = {
        "unk_token": "[UNK]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
    }
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512, **special}))
    TextEmbedding.add_custom_model(
        model="bge-small-int8",
        pooling=PoolingType.CLS,
        normalization=True,
        sources=ModelSource(hf="local/local"),
        dim=384,
        model_file=MODEL,
    )
    model = TextEmbedding("bge-small-int8", threads=cores(), specific_model_path=str(folder))
    return {
        "fastembed, one text a call": lambda texts: np.stack(list(model.embed(list(texts), batch_size=1))),
        "fastembed, batches of 8": lambda texts: np.stack(list(model.embed(list(texts), batch_size=8))),
    }


def report(result: Result, scores: Mapping[str, Score], count: int) -> None:
    """Rates and differences; ratios of ours over each contender with equal vectors."""
    reference = scores[PLAIN].vectors
    result.table.append(["contender", "chunks/s", "cpu s/chunk", "cores busy", "largest difference"])
    rates = {name: count / min(score.wall) for name, score in scores.items()}
    for name, score in scores.items():
        wall, cpu = min(score.wall), statistics.median(score.cpu)
        away = float(np.abs(score.vectors - reference).max())
        result.table.append([name, rates[name], cpu / count, cpu / wall, away])
        result.figures[name] = {
            "chunks_per_second": round(rates[name], 3),
            "cpu_seconds_per_chunk": round(cpu / count, 4),
            "largest_difference": away,
        }
        if name not in {OURS, OURS_ONE} and away < 1e-5:
            result.ratios[f"speed over {name}"] = ratio(rates[OURS], rates[name])
    result.ratios["speed over cores x onnxruntime loop"] = ratio(rates[OURS], cores() * rates[PLAIN])
    cpu_of = {name: statistics.median(score.cpu) for name, score in scores.items()}
    result.ratios["processor time of the onnxruntime loop over ours"] = ratio(cpu_of[PLAIN], cpu_of[OURS])


def precision(result: Result, texts: list[str]) -> None:
    """How far int8 and float32 vectors are apart, and what float32 costs."""
    vectors, seconds = {}, {}
    for name in ("int8", "fp32"):
        embedder = load_embedder("bge_small", precision=name)
        list(embedder.embed(texts[:1]))
        began = time.process_time()
        vectors[name] = np.stack([r.vector for r in ordered(embedder.embed(texts), len(texts))])
        seconds[name] = time.process_time() - began
        embedder.close()
    away = np.abs(vectors["int8"] - vectors["fp32"]).max()
    cosine = (vectors["int8"] * vectors["fp32"]).sum(axis=1)
    result.figures["int8 beside fp32"] = {
        "largest_difference": float(away),
        "least_cosine": float(cosine.min()),
        "fp32_processor_time_over_int8": ratio(seconds["fp32"], seconds["int8"]),
    }


def static(result: Result) -> None:
    """How much faster the static embedding is, over texts that it never saw, its counting included."""
    embedder, texts = load_embedder("static"), chunks(512)
    list(embedder.embed(["one text"]))
    began = time.process_time()
    made = list(embedder.embed(texts))
    seconds = (time.process_time() - began) / len(made)
    result.figures["static"] = {"cpu_seconds_per_chunk": round(seconds, 6)}
    ours = result.figures[OURS]["cpu_seconds_per_chunk"]
    result.ratios["processor time of bge-small over static"] = ratio(ours, seconds)


if __name__ == "__main__":
    main()
