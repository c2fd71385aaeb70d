"""Since when each batch has had something to do, so that a promise of freshness can be kept or missed."""

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from chunk_assets.alerts import Condition
from chunk_assets.catalog import Catalog
from chunk_assets.defs.arrivals import Look
from chunk_assets.hashing import canonical_json
from chunk_assets.storage.files import read_if_there, write_atomic
from chunk_assets.storage.layout import Layout

FILE = "arrivals.json"


def remember(layout: Layout, found: Look, sources: Iterable[str]) -> None:
    """Writes what a look found: since when batches wait, and which sources can't be listed."""
    path = layout.home / "alerts" / FILE
    before = _load(path)
    now = time.time()
    looked = set(sources)
    value = {
        "waiting": {
            **{key: since for key, since in before["waiting"].items() if key.split("/")[0] not in looked},
            **{str(t.batch): before["waiting"].get(str(t.batch), now) for t in found.todo},
        },
        "problems": {
            **{key: row for key, row in before["problems"].items() if key not in looked},
            **{key: [before["problems"].get(key, [now])[0], what] for key, what in found.problems.items()},
        },
    }
    if value != before:
        write_atomic(path, canonical_json(value).encode())


def late_batches(layout: Layout, catalog: Catalog) -> Iterator[Condition]:
    """A condition for each batch that has waited longer than its source promises."""
    now = time.time()
    for key, since in _load(layout.home / "alerts" / FILE)["waiting"].items():
        source = catalog.sources.get(key.split("/")[0])
        if source is None or source.freshness is None or now - since <= source.freshness.within_hours * 3600:
            continue
        yield Condition(
            kind="freshness",
            asset=key.split("/")[0],
            name="fresh",
            batch=key,
            severity="warn",
            summary=f"documents have waited {(now - since) / 3600:.1f} h; promised within "
            f"{source.freshness.within_hours:g} h",
            since=since,
            mend="look at the runs of this batch, and whether the daemon and the arrivals sensor run",
        )


def missing_sources(layout: Layout) -> Iterator[Condition]:
    """A condition for each source that could not be listed."""
    for name, (since, what) in _load(layout.home / "alerts" / FILE)["problems"].items():
        yield Condition(
            kind="source",
            asset=name,
            name="listed",
            batch="",
            severity="error",
            summary=what,
            since=since,
            mend="mount it or mend its path; nothing is deleted while it can't be listed",
        )


def _load(path: Path) -> dict[str, dict[str, Any]]:
    value = json.loads(read_if_there(path) or b"{}")
    return {"waiting": value.get("waiting", {}), "problems": value.get("problems", {})}
