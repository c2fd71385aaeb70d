"""The last verdict of every check on every batch, with since when and how often it fails.

One small file a batch, written at the end of each run: an operator, the summary asset and the alerts read
the same place, over all batches, so that one good batch never hides a failing one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from chunk_assets.alerts.incidents import Condition, worst
from chunk_assets.hashing import canonical_json
from chunk_assets.records import Outcome
from chunk_assets.storage.files import read_if_there, write_atomic
from chunk_assets.storage.layout import Batch, Layout

FOLDER = "outcomes"
# Files of batches whose failing verdicts a process remembers: a tick reads only what has changed.
FILES_KNOWN = 20_000
STOPPED = "run_completed"
BUDGET = "budget_kept"
# What kind of incident a verdict is; all others are checks.
KINDS = {STOPPED: "run", BUDGET: "budget"}
MENDS = {
    "token_bounds": "lower max_tokens of the policy, or of the source, below the embedder's limit",
    "deletions_within_bounds": "see that the source is mounted; if files are really gone, --allow-deletions",
    "documents_readable": "see the reasons; mend or exclude the files; they are tried again",
    "hash_stability": "run 'chunk-assets verify', then 'chunk-assets repair'",
    "published_files_intact": "nothing: damaged files were made again; find out who changed them",
    STOPPED: "read the message; run the batch again when its cause is gone",
    BUDGET: "raise the budget of the run; texts embedded so far are kept and not paid for again",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is remembered of one check on one batch. Times are seconds since the epoch."""

    table: str
    passed: bool
    severity: str
    summary: str
    example: str
    since: float
    count: int
    serial: int
    run_id: str


def outcomes_file(layout: Layout, batch: Batch) -> Path:
    """The verdicts of a batch."""
    return layout.state / FOLDER / f"{batch.hive}.json"


def load_verdicts(layout: Layout, batch: Batch) -> dict[str, Verdict]:
    """Verdicts by name of the check; none when the batch was never run."""
    return _load(outcomes_file(layout, batch))


def _load(path: Path) -> dict[str, Verdict]:
    value = json.loads(read_if_there(path) or b"{}")
    return {name: Verdict(**row) for name, row in value.items()}


def record(
    layout: Layout,
    batch: Batch,
    outcomes: Iterable[Outcome],
    run_id: str,
    now: float,
    stopped: str = "",
    *,
    over_budget: bool = False,
    ended: bool = True,
) -> None:
    """Takes the verdicts of a run over those of before; checks that did not run keep theirs.

    ``stopped`` is why the run ended early, which is remembered like a failed check; ``over_budget`` tells
    that it was the budget, which is an incident of its own kind. Without ``ended`` nothing is said of how
    the run ended: the checks alone were run again.
    """
    known = load_verdicts(layout, batch)
    failed = stopped and (BUDGET if over_budget else STOPPED)
    endings = [
        Outcome(name, "", name != failed, "error", stopped if name == failed else "the run completed")
        for name in (STOPPED, BUDGET)
        if ended and (name != BUDGET or BUDGET in known or over_budget)
    ]
    for outcome in (*outcomes, *endings):
        known[outcome.name] = _next(known.get(outcome.name), outcome, run_id, now)
    write_atomic(
        outcomes_file(layout, batch), canonical_json({name: asdict(v) for name, v in known.items()}).encode()
    )


def _next(before: Verdict | None, outcome: Outcome, run_id: str, now: float) -> Verdict:
    failing = before is not None and not before.passed
    begins = not outcome.passed and not failing
    serial = (before.serial if before else 0) + begins
    since = before.since if before is not None and before.passed == outcome.passed else now
    repeated = before is not None and before.passed == outcome.passed and before.run_id != run_id
    return Verdict(
        outcome.table,
        outcome.passed,
        outcome.severity,
        outcome.summary,
        worst(outcome.examples),
        since,
        before.count + 1 if before is not None and repeated else 1,
        serial,
        run_id,
    )


def recorded_batches(layout: Layout) -> Iterator[Batch]:
    """Every batch that has verdicts, in order."""
    for path in sorted((layout.state / FOLDER).glob("source=*/slice=*.json")):
        yield Batch(path.parent.name.removeprefix("source="), path.stem.removeprefix("slice="))


def _failing(path: Path) -> tuple[tuple[str, Verdict], ...]:
    """The failing verdicts in a file, by name of the check; an unchanged file is read once a process."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return ()
    return _failing_of(path, (stat.st_mtime_ns, stat.st_ino, stat.st_size))


@lru_cache(maxsize=FILES_KNOWN)
def _failing_of(path: Path, _stamp: tuple[int, ...]) -> tuple[tuple[str, Verdict], ...]:
    return tuple(item for item in sorted(_load(path).items()) if not item[1].passed)


def failing_checks(layout: Layout, link_base: str, severities: tuple[str, ...]) -> Iterator[Condition]:
    """A condition for each check that fails on any batch, of the severities that matter."""
    for batch in recorded_batches(layout):
        for name, verdict in _failing(outcomes_file(layout, batch)):
            if verdict.severity not in severities:
                continue
            # What is not a table of a source (retrieval_evaluation) is an asset by itself.
            own = verdict.table in ("", batch.source)
            asset = batch.source if own else f"{batch.source}/{verdict.table}"
            yield Condition(
                kind=KINDS.get(name, "check"),
                asset=asset,
                name=name,
                batch=str(batch),
                severity=verdict.severity,
                summary=verdict.summary,
                since=verdict.since,
                example=verdict.example,
                mend=MENDS.get(name, "open the batch in the UI; its check shows the worst rows"),
                link=f"{link_base}/runs/{verdict.run_id}" if verdict.run_id else "",
                count=verdict.count,
                serial=verdict.serial,
            )
