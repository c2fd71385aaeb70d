"""Engines: conversion on one and two processes, what handing over costs, and whether the bytes are equal.

Throughput is documents a second by the clock, on the sample documents, one and two workers in turns; the
best turn of each counts, since a neighbour on the machine can only slow one down. A neighbour takes from the
second worker first, so the same is also said in processor time: what one worker spends, over half of what two
workers and their driver spend, which is what two idle cores would give.
Overhead is what a document costs that takes no time at all: of the driver's processor, and by the clock.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from benchmarks import clusters
from benchmarks.engine_tasks import convert_here, nothing
from benchmarks.harness import ROOT, Result, finish, parser, ratio
from chunk_assets.compute import Task, WorkerPool, engine, run_all

SAMPLES = ROOT / "data" / "samples"
SETTINGS = "embedder: {name: hash, dimension: 16}\n%s\nsources:\n  docs: {path: docs}\n"
CLUSTERS: Mapping[str, Callable[[Path], AbstractContextManager[str]]] = {
    "dask": clusters.dask,
    "ray": clusters.ray,
}


def main() -> None:
    """Measures all engines that are installed."""
    options = parser(__doc__ or "").parse_args()
    result = Result("engines")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        os.environ["CHUNK_ASSETS_CACHE"] = str(folder / "cache")
        throughput(result, repeats=2 if options.quick else 6, turns=2 if options.quick else 15)
        addresses = {
            kind: address
            for kind, begin in CLUSTERS.items()
            if (address := begun(result, stack, kind, begin, folder))
        }
        store = begun(result, stack, "s3", clusters.s3, folder)
        overheads(result, addresses, documents=100 if options.quick else 1_000)
        same_bytes(result, folder, addresses, store)
    finish(result, options)


def begun(
    result: Result,
    stack: ExitStack,
    kind: str,
    begin: Callable[[Path], AbstractContextManager[str]],
    folder: Path,
) -> str:
    """The address of a cluster or store; empty when it is not installed."""
    place = folder / kind
    place.mkdir()
    try:
        return stack.enter_context(begin(place))
    except ImportError as error:
        result.absent.append(f"{kind} ({error})")
        return ""


def throughput(result: Result, repeats: int, turns: int) -> None:
    """Conversion of the samples on one worker and on two, in turns; the first turn is not counted."""
    whole = (path for path in sorted(SAMPLES.rglob("*")) if path.parent.name != "damaged")
    files = [str(path) for path in whole if path.suffix in {".pdf", ".docx", ".pptx"}]
    tasks = [Task(convert_here, (file,)) for file in files * repeats]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    spent: dict[int, list[float]] = {1: [], 2: []}
    with WorkerPool(1) as one, WorkerPool(2) as two:
        for turn in range(turns + 1):
            for pool in (one, two):
                clock, cpu = time.perf_counter(), time.process_time()
                work = sum(finished.cpu_seconds for finished in run_all(tasks, executor=pool))
                driver = time.process_time() - cpu if pool is two else 0.0
                if turn:
                    seconds[pool.workers].append(time.perf_counter() - clock)
                    spent[pool.workers].append(work + driver)
    best = {workers: min(found) for workers, found in seconds.items()}
    result.table.append(["converting the samples", "documents a second", "over one worker"])
    for workers, found in best.items():
        rate = len(tasks) / found
        result.figures[f"documents a second, {workers} workers"] = rate
        result.table.append([f"{workers} workers", rate, ratio(best[1], found)])
    result.ratios["throughput of 2 workers over 1, by the clock"] = ratio(best[1], best[2])
    result.ratios["throughput of 2 workers over 1, by processor time"] = ratio(
        statistics.median(spent[1]), statistics.median(spent[2]) / 2
    )


def overheads(result: Result, addresses: Mapping[str, str], documents: int) -> None:
    """What one empty document costs on each engine, in milliseconds."""
    tasks = [Task(nothing, (n,)) for n in range(documents)]
    result.table.append(["handing over a document", "driver cpu ms", "clock ms"])
    for name, opened in engines(addresses).items():
        with opened() as pool:
            list(run_all(tasks[:20], executor=pool))  # the workers start
            cpu, clock = time.process_time(), time.perf_counter()
            assert [f.value for f in run_all(tasks, executor=pool)] == list(range(documents))
            spent = {"cpu": time.process_time() - cpu, "clock": time.perf_counter() - clock}
        figures = {f"{what} ms": 1_000 * seconds / documents for what, seconds in spent.items()}
        result.figures[f"handing over, {name}"] = figures
        result.table.append([name, *figures.values()])
    local = result.figures["handing over, local, 2 workers"]["clock ms"]
    for kind in addresses:
        there = result.figures[f"handing over, {kind}"]["clock ms"]
        result.ratios[f"handing over to {kind} over local"] = ratio(there, local)


def engines(addresses: Mapping[str, str]) -> dict[str, Callable[[], AbstractContextManager[Executor]]]:
    """Every engine, opened when it is called."""

    @contextmanager
    def opened(kind: str, address: str, workers: int) -> Iterator[Executor]:
        found = engine(kind, address, workers)
        try:
            yield found
        finally:
            found.close()

    local = {f"local, {n} workers": (lambda n=n: opened("local", "", n)) for n in (1, 2)}
    return local | {kind: (lambda k=kind, a=a: opened(k, a, 1)) for kind, a in addresses.items()}


def same_bytes(result: Result, folder: Path, addresses: Mapping[str, str], store: str) -> None:
    """The four tables of one small home, made in every way there is; all must be the same bytes."""
    ways: dict[str, Callable[[], str]] = {
        "local, 1 worker": lambda: made(folder / "one", "", 1),
        "local, 2 workers": lambda: made(folder / "two", "", 2),
    }
    for kind, address in addresses.items():
        settings = f"compute: {{engine: {kind}, address: '{address}'}}"
        ways[kind] = lambda k=kind, s=settings: made(folder / f"home-{k}", s, 1)
    if store:
        ways["home and source on s3://"] = lambda: made_in_store(store)
    digests = {name: make() for name, make in ways.items()}
    result.table.append(["tables made by", "sha-256 of the four tables", "equal"])
    for name, digest in digests.items():
        result.table.append([name, digest[:16], str(digest == digests["local, 1 worker"])])
    result.figures["sha-256 of the tables"] = digests
    assert len(set(digests.values())) == 1, digests


def documents() -> Iterator[tuple[str, bytes]]:
    """Every sample, damaged ones too, under a flat name."""
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file() and path.suffix not in {".yaml", ".csv"}:
            yield f"{path.parent.name}_{path.name}", path.read_bytes()


def made(home: Path, settings: str, workers: int) -> str:
    """The digest of the tables of a home in a folder."""
    (home / "docs").mkdir(parents=True)
    (home / "sources.yaml").write_text(SETTINGS % settings)
    for name, data in documents():
        (home / "docs" / name).write_bytes(data)
    return run(home, workers)


def made_in_store(url: str) -> str:
    """The digest of the tables of a home in a bucket, as the working folder shows them."""
    import fsspec

    for name, data in [
        ("sources.yaml", (SETTINGS % "").encode()),
        *((f"docs/{n}", d) for n, d in documents()),
    ]:
        with fsspec.open(f"{url}/home/{name}", "wb") as file:
            file.write(data)
    return run(f"{url}/home", 1)


def run(home: str | Path, workers: int) -> str:
    """Runs a home and hashes its published tables."""
    from chunk_assets.catalog import load_catalog
    from chunk_assets.pipeline import RunOptions, run_sources

    catalog = load_catalog(home)
    report = run_sources(catalog, options=RunOptions(workers=workers))
    assert not report.errors, report.errors
    digest = hashlib.sha256()
    for path in sorted(Path(catalog.home, "tables").rglob("*.parquet")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
