"""How fast texts are chunked, against a bare tiktoken pass and against other chunkers.

    python -m benchmarks.chunking [--quick] [--json]

10 MB (``--quick``: 2 MB) of general and of finance prose, 500 tokens with an overlap of 100, one
process. Megabytes per processor second, contenders taking turns. Peers come with the extra
``bench-chunking``; those that are not installed are named.
"""

from __future__ import annotations

import functools
import gc
import itertools
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

from benchmarks import harness
from benchmarks.chunking_peers import OVERLAP, PEERS, SIZE, Chunker, installed
from benchmarks.chunking_texts import finance, general
from chunk_assets.chunking import chunk_markdown, strategy
from chunk_assets.text.tokens import engines
from chunk_assets.text.tokens.bpe import BytePairCounter

FULL, QUICK = 10_000_000, 2_000_000
WORDPIECE = "bge-small-en-v1.5"
OURS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "sentence_window": ("sentence_window", {"target_tokens": SIZE, "overlap_tokens": OVERLAP}, {}),
    "sentence_window, WordPiece bound": (
        "sentence_window",
        {"target_tokens": SIZE, "overlap_tokens": OVERLAP},
        {"model_tokenizer": WORDPIECE},
    ),
    "sentence_window, plain tiktoken": (
        "sentence_window",
        {"target_tokens": SIZE, "overlap_tokens": OVERLAP},
        {"tokenizer": "plain"},
    ),
    "recursive": ("recursive", {"max_tokens": SIZE, "overlap_tokens": OVERLAP}, {}),
    "paragraph": ("paragraph", {"max_tokens": SIZE}, {}),
    "section": ("section", {"target_tokens": SIZE}, {}),
}


def ours(name: str, text: str) -> int:
    """One run of ours; the number of chunks."""
    chosen, parameters, more = OURS[name]
    if more.get("tokenizer") == "plain":
        with patch("chunk_assets.text.tokens.counter", return_value=plain_tiktoken()):
            return len(chunk_markdown(text, strategy(chosen, parameters), model_tokenizer=None))
    return len(chunk_markdown(text, strategy(chosen, parameters), **{"model_tokenizer": None, **more}))


@functools.cache
def plain_tiktoken() -> BytePairCounter:
    """The counter that is used where no faster engine installs."""
    return BytePairCounter("cl100k_base", engines.tiktoken_engine("cl100k_base"))


def in_turns(chunker: Chunker, text: str, size: int) -> Callable[[], object]:
    """Each call takes another part of the text: some peers remember whole texts that they have seen."""
    starts = itertools.cycle(range(0, len(text) - size + 1, size))

    def run() -> object:
        start = next(starts)
        return chunker(text[start : start + size])

    return run


def measured(text: str, kind: str, quick: bool, result: harness.Result) -> None:
    """Adds the speeds on one text to the result."""
    sizes: dict[str, int] = {}
    contenders: dict[str, Callable[[], object]] = {}
    for name, package, make, most in PEERS:
        if not installed(package):
            result.absent.append(name)
            continue
        sizes[name] = min(most, len(text)) // (4 if quick and most < FULL else 1)
        contenders[name] = in_turns(make(), text, sizes[name])
    for name in OURS:
        sizes[name] = len(text)
        contenders[name] = partial(ours, name, text)
    # Nobody pays for walks through what the others imported.
    gc.collect()
    gc.freeze()
    seconds = harness.interleaved(contenders, 2 if quick else 3)
    gc.unfreeze()
    speeds = {name: sizes[name] / 1e6 / spent for name, spent in seconds.items()}
    result.figures[f"MB per CPU second, {kind}"] = {name: round(speed, 2) for name, speed in speeds.items()}
    for name, speed in speeds.items():
        result.table.append([kind, name, speed, speed / speeds["tiktoken pass"]])
    for name in OURS:
        result.ratios[f"{kind}: {name} / tiktoken pass"] = harness.ratio(
            speeds[name], speeds["tiktoken pass"]
        )
    peers = {name: speeds[name] for name, *_ in PEERS if name in speeds and name != "tiktoken pass"}
    for name, speed in peers.items():
        result.ratios[f"{kind}: sentence_window / {name}"] = harness.ratio(speeds["sentence_window"], speed)


def growth(text: str, result: harness.Result) -> None:
    """How much more the whole text costs than a tenth of it, and the memory at its peak."""
    tenth = text[: len(text) // 10]
    run = {"whole": partial(ours, "sentence_window", text), "tenth": partial(ours, "sentence_window", tenth)}
    seconds = harness.interleaved(run, 3)
    result.ratios["time of the whole text / of a tenth"] = harness.ratio(seconds["whole"], seconds["tenth"])
    name = "sentence_window, WordPiece bound"
    gc.collect()
    tracemalloc.start()
    ours(name, text)
    result.figures[f"peak MB of Python and numpy beyond the text, {name}"] = round(
        tracemalloc.get_traced_memory()[1] / 1e6, 1
    )
    tracemalloc.stop()


def exactness(text: str, result: harness.Result) -> None:
    """Recounts the chunks of a part with tiktoken and with the embedder's tokenizer."""
    from chunk_assets.text.vocabularies import reference_encoding

    encoding = reference_encoding("cl100k_base")
    chosen, parameters, _ = OURS["sentence_window"]
    chunks = chunk_markdown(text[: FULL // 10], strategy(chosen, parameters))
    wrong = sum(len(encoding.encode_ordinary(chunk.text)) != chunk.token_count for chunk in chunks)
    result.figures["chunks recounted with tiktoken"] = {"chunks": len(chunks), "wrong": wrong}
    assert not wrong


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints."""
    given = harness.parser(__doc__ or "").parse_args(arguments)
    result = harness.Result("chunking", table=[["text", "contender", "MB/CPU s", "x tiktoken"]])
    size = QUICK if given.quick else FULL
    texts = {"general": general(size), "finance": finance(size)}
    for kind, text in texts.items():
        measured(text, kind, given.quick, result)
    growth(texts["general"], result)
    exactness(texts["finance"], result)
    result.absent = sorted(set(result.absent))
    result.notes = [f"{size / 1e6:g} MB of each text; slow peers were given a part of it"]
    harness.finish(result, given)


if __name__ == "__main__":
    main()
