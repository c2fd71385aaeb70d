"""What is there to do, batch by batch, and the run requests for it. Read by the sensor and the schedules."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing

import dagster as dg

from chunk_assets.catalog import Catalog, Retries, load_catalog
from chunk_assets.defs.jobs import job_name
from chunk_assets.defs.looks import Look, Todo
from chunk_assets.defs.partitions import partitions_of
from chunk_assets.defs.places import BATCH_TAG, STATE_TAG, busy_batches
from chunk_assets.defs.session import options_from
from chunk_assets.errors import SourceUnavailable
from chunk_assets.hashing import fingerprint
from chunk_assets.pipeline import BatchContext, Session, all_batches
from chunk_assets.records import OK

# Batches whose runs are looked up with one question to the database.
AT_ONCE = 200


def as_written(loaded: Catalog) -> Catalog:
    """The catalog as its file says now, with the sources that were there when the definitions were loaded.

    A process that runs for months sees a changed policy at its next tick; a source that is new has no
    assets before the definitions are loaded again.

    Raises:
        ConfigurationError: the file is wrong now; the tick shows it.
    """
    now = load_catalog(loaded.home)
    known = {name: source for name, source in now.sources.items() if name in loaded.sources}
    return now.model_copy(update={"sources": known})


def look(catalog: Catalog, sources: tuple[str, ...] = ()) -> Look:
    """Lists the sources and finds the batches that are not current. Reads no document.

    A source that can't be listed is a problem, the others are looked at all the same.
    """
    found = Look()
    for name in sources or tuple(catalog.sources):
        # A session a source, so that the listing of one is forgotten before the next.
        with closing(Session(catalog, options_from({}, ""))) as session:
            partitions = partitions_of(catalog.source(name))
            try:
                for todo in _todo(session, name):
                    if partitions.has_partition_key(todo.batch.slice):
                        found.todo.append(todo)
                    else:
                        found.future.append(todo.batch)
            except SourceUnavailable as error:
                found.problems[name] = str(error)
    return found


def _todo(session: Session, name: str) -> Iterator[Todo]:
    for batch in all_batches(session, [name]):
        context = session.peek(batch.source, batch.slice)
        if context.is_current or _only_waits(context):
            continue
        attempts = {name: row.count for name, row in context.state.attempts.items()}
        parts = {"listing": context.listing_digest, "recipe": context.recipe.digest, "attempts": attempts}
        published = context.state.listing_digest if context.manifest is not None else ""
        yield Todo(batch, fingerprint(parts), context.listing_digest, published)


def _only_waits(context: BatchContext) -> bool:
    """Whether all that is left to do is to try failed documents again, and it is too early for that."""
    state, manifest = context.state, context.manifest
    if not state.attempts or manifest is None or manifest.recipe != context.recipe.digest or context.damaged:
        return False
    listed = {document.document_id: document for document in context.documents}
    seen = state.documents
    changed = any(name not in listed or listed[name].version != seen[name].version for name in seen)
    fresh = any(document.status == OK and name not in seen for name, document in listed.items())
    if changed or fresh:
        return False
    rule = context.catalog.retry_rule(context.batch.source)
    due = [
        row.last + 60.0 * rule.first_wait_minutes * 2 ** (row.count - 1)
        for row in state.attempts.values()
        if row.count < rule.max_attempts
    ]
    return not due or time.time() < min(due)


def requests(
    catalog: Catalog, instance: dg.DagsterInstance, found: Look, most: int, why: str
) -> list[dg.RunRequest]:
    """At most ``most`` requests, source by source in turn, oldest slices first; never two for a batch."""
    busy = busy_batches(instance)
    turn: Counter[str] = Counter()
    ranked = []
    for todo in found.todo:
        ranked.append((turn[todo.batch.source], todo.batch, todo))
        turn[todo.batch.source] += 1
    free = [todo for *_, todo in sorted(ranked, key=lambda item: item[:2]) if str(todo.batch) not in busy]
    asked: list[dg.RunRequest] = []
    for start in range(0, len(free), AT_ONCE):
        part = free[start : start + AT_ONCE]
        ended = _ended(instance, part)
        for todo in part:
            ends = ended.get((str(todo.batch), todo.state), [])
            if len(asked) < most and _may_ask(ends, catalog.retry_rule(todo.batch.source)):
                asked.append(_request(todo, len(ends), why))
        if len(asked) >= most:
            break
    return asked


def _ended(instance: dg.DagsterInstance, todos: Sequence[Todo]) -> dict[tuple[str, str], list[float]]:
    """When the runs on these very states ended, by batch and state; one question for many batches."""
    states = [todo.state for todo in todos]
    found: dict[tuple[str, str], list[float]] = {}
    for record in instance.get_run_records(filters=dg.RunsFilter(tags={STATE_TAG: states})):
        tags = record.dagster_run.tags
        ended = record.end_time or record.update_timestamp.timestamp()
        found.setdefault((tags.get(BATCH_TAG, ""), tags[STATE_TAG]), []).append(ended)
    return found


def _may_ask(ends: Sequence[float], rule: Retries) -> bool:
    """Whether runs on a state have not failed too often or lately; waits double."""
    if not ends:
        return True
    wait = rule.first_wait_minutes * 60 * 2 ** (len(ends) - 1)
    return len(ends) < rule.max_attempts and time.time() - max(ends) >= wait


def _request(todo: Todo, ended: int, why: str) -> dg.RunRequest:
    """The run request for a batch.

    The run key holds the state and how many runs on it have ended, so that asking twice starts one run,
    and a batch whose run died is asked for again, a bounded number of times.
    """
    return dg.RunRequest(
        run_key=f"{todo.batch}:{todo.state}:{ended}",
        job_name=job_name("ingest", todo.batch.source),
        partition_key=todo.batch.slice,
        tags={BATCH_TAG: str(todo.batch), STATE_TAG: todo.state, "chunk-assets/why": why},
    )
