"""Since when documents wait to be searchable, so that a source's promise of freshness is kept or missed."""

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chunk_assets.alerts import Condition
from chunk_assets.catalog import Catalog
from chunk_assets.defs.looks import Look, Todo
from chunk_assets.hashing import canonical_json
from chunk_assets.records import EMBEDDINGS
from chunk_assets.storage.files import read_if_there, write_atomic
from chunk_assets.storage.layout import Layout

FILE = "arrivals.json"
CHECK = "searchable_in_time"
HOUR = 3600.0
# Listings of a batch that are remembered beside the oldest one: the newest.
LISTINGS = 16


def remember(layout: Layout, found: Look, sources: Iterable[str]) -> None:
    """Writes what a look found: since when documents wait, and which sources can't be listed.

    The time of the file is the time of the newest look.
    """
    path = _file(layout)
    before = _load(path)
    now = time.time()
    looked = set(sources)
    old = before["waiting"]
    value = {
        "waiting": {
            **{key: row for key, row in old.items() if key.split("/")[0] not in looked},
            **{str(t.batch): _seen(old.get(str(t.batch)), t, now) for t in found.todo if _waits(t)},
        },
        "problems": {
            **{key: row for key, row in before["problems"].items() if key not in looked},
            **{key: [before["problems"].get(key, [now])[0], what] for key, what in found.problems.items()},
        },
    }
    if value != before or not path.exists():
        write_atomic(path, canonical_json(value).encode())
    else:
        os.utime(path)


def _waits(todo: Todo) -> bool:
    """Whether documents wait; a batch that only a changed policy or model makes stale has none that do."""
    return todo.listed != todo.published


def _seen(before: dict[str, Any] | None, todo: Todo, now: float) -> dict[str, Any]:
    """The listings of a batch that were seen since the one that is published, each with its time.

    So that a source in which something arrives all the time is late only if one document really waited.
    """
    known = before or {"published": todo.published, "seen": []}
    seen = list(known["seen"])
    digests = [digest for digest, _ in seen]
    if todo.published in digests:
        seen = seen[digests.index(todo.published) + 1 :]
    elif todo.published != known["published"]:  # what was published was never seen by a look
        seen = [entry for entry in seen if entry[0] == todo.listed]
    if todo.listed not in [digest for digest, _ in seen]:
        seen.append([todo.listed, now])
    return {"published": todo.published, "seen": [seen[0], *seen[1:][-LISTINGS:]]}


def late_sources(layout: Layout, catalog: Catalog) -> Iterator[Condition]:
    """A condition for each source of which documents have waited longer than it promises.

    A source at which nobody has looked for so long is late as well: what came is not known.
    """
    path = _file(layout)
    if not path.exists():
        return
    now, looked, waiting = time.time(), path.stat().st_mtime, _load(path)["waiting"]
    for name, source in catalog.sources.items():
        if source.freshness is None:
            continue
        limit = source.freshness.within_hours * HOUR
        own = [(row["seen"][0][1], key) for key, row in waiting.items() if key.split("/")[0] == name]
        late = sorted(entry for entry in own if now - entry[0] > limit)
        if late or now - looked > limit:
            yield _late(name, late, looked, now, limit)


def _late(name: str, late: Sequence[tuple[float, str]], looked: float, now: float, limit: float) -> Condition:
    since, batch = late[0] if late else (looked, "")
    hours = f"{(now - since) / HOUR:.1f} h; promised within {limit / HOUR:g} h"
    if late:
        what = f"documents of {len(late)} batches wait, the longest for {hours}"
        mend = f"look at the runs of {batch}, at the queue, and whether the daemon runs"
    else:
        what = f"nobody has looked for new documents for {hours}"
        mend = "switch the sensor arrivals on, see its newest tick, and whether the daemon runs"
    when = datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Condition(
        kind="freshness",
        asset=f"{name}/{EMBEDDINGS}",
        name=CHECK,
        batch="",
        severity="warn",
        summary=what,
        since=since,
        example=f"{batch} since {when}" if batch else "",
        mend=mend,
        count=max(1, len(late)),
    )


def missing_sources(layout: Layout) -> Iterator[Condition]:
    """A condition for each source that could not be listed."""
    for name, (since, what) in _load(_file(layout))["problems"].items():
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


def _file(layout: Layout) -> Path:
    return layout.home / "alerts" / FILE


def _load(path: Path) -> dict[str, dict[str, Any]]:
    value = json.loads(read_if_there(path) or b"{}")
    waiting = {key: row for key, row in value.get("waiting", {}).items() if isinstance(row, dict)}
    return {"waiting": waiting, "problems": value.get("problems", {})}
