"""A process that runs the pipeline in children and kills them at a given moment; driven over stdin.

Each line is JSON: ``{"home": …, "kill_after": seconds or null}``; each answer says how the child ended.
Children are forked from a warmed-up parent, so that moments fall into the work and not into imports.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chunk_assets.catalog import load_catalog
from chunk_assets.embedders import Embedded, load_embedder
from chunk_assets.pipeline import RunOptions, Session, run_sources
from chunk_assets.pipeline.recipe import recipe_of


class LoggingEmbedder:
    """The hash embedder; every text it is paid for leaves a line in a file that survives a kill."""

    def __init__(self, log: Path) -> None:
        self._inner = load_embedder("hash", dimension=16)
        self.card = self._inner.card
        self._log = log

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def embed(self, texts: Sequence[str], *, workers: int = 1) -> Iterator[Embedded]:
        with self._log.open("ab", buffering=0) as log:
            for answer in self._inner.embed(texts):
                log.write(hashlib.sha256(texts[answer.index].encode()).hexdigest()[:16].encode() + b"\n")
                yield answer

    def embed_query(self, text: str) -> Any:
        return self._inner.embed_query(text)

    def close(self) -> None:
        pass


def run(home: Path) -> int:
    catalog = load_catalog(home)
    session = Session(catalog, RunOptions(workers=1), LoggingEmbedder(home / "paid"))
    try:
        report = run_sources(catalog, session=session)
        for error in report.errors:
            sys.stderr.write(f"{error}\n")
        return report.exit_code
    finally:
        session.close()


def child(home: Path, kill_after: float | None) -> dict[str, object]:
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(run(home))
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return {"code": os.waitstatus_to_exitcode(status), "seconds": time.perf_counter() - started}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        home = Path(request["home"])
        if request.get("warm"):
            recipe_of(load_catalog(home), "docs", load_embedder("hash"))
            answer: dict[str, object] = {}
        else:
            answer = child(home, request["kill_after"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
