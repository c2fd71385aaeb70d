"""Jobs over the whole home: plan, verify, repair, prune, reap. Each is one step that calls the core."""

import time
from contextlib import closing
from math import ceil

import dagster as dg

from chunk_assets.catalog import Catalog
from chunk_assets.defs.pruning import prune_records, prune_runs, reap_runs
from chunk_assets.defs.session import options_from
from chunk_assets.errors import LockHeld
from chunk_assets.pipeline import Batch, Session, all_batches
from chunk_assets.pipeline.pruning import prune
from chunk_assets.plan import make_plan
from chunk_assets.storage.remote import bring_up_to_date
from chunk_assets.verify import verify

DAY_SECONDS = 86_400


def upkeep_jobs(catalog: Catalog) -> list[dg.JobDefinition]:
    """The jobs that keep a home in order."""
    return [_plan(catalog), _verify(catalog), _prune(catalog)]


def _plan(catalog: Catalog) -> dg.JobDefinition:
    @dg.op(
        name="plan_all", description="What the next run would do and cost; calls no embedder, writes nothing."
    )
    def plan_all(context: dg.OpExecutionContext) -> None:
        plan = make_plan(catalog, options=options_from({}, ""))
        figures = {key: value for key, value in plan.as_json().items() if not isinstance(value, list | dict)}
        reasons = [dg.TableRecord({"reason": name, "documents": n}) for name, n in plan.reasons.items()]
        metadata = {**figures, "reasons": dg.MetadataValue.table(reasons)} if reasons else figures
        context.log_event(dg.AssetObservation(asset_key=dg.AssetKey("plan"), metadata=metadata))

    @dg.job(name="plan", description="Says what the next run would convert, chunk and embed, and its cost.")
    def job() -> None:
        plan_all()

    return job


def share_of(batches: list[Batch], share: float, today: float) -> list[Batch]:
    """Every n-th batch, another one each week, so that all had their turn after ``1 / share`` weeks."""
    turns = ceil(1 / share)
    week = int(today // (7 * DAY_SECONDS))
    return [batch for number, batch in enumerate(batches) if number % turns == week % turns]


def _verify(catalog: Catalog) -> dg.JobDefinition:
    @dg.op(
        name="verify_share", description="Re-derives what the tables claim, for a rotating share of batches."
    )
    def verify_share(context: dg.OpExecutionContext) -> None:
        with closing(Session(catalog, options_from({}, ""))) as session:
            bring_up_to_date(catalog.home)
            batches = share_of(list(all_batches(session)), catalog.operation.verify_share, time.time())
        faults = verify(catalog, batches=batches, options=options_from({}, ""))
        context.log.info("%d batches verified, %d faults", len(batches), len(faults))
        if faults:
            worst = "; ".join(f"{f.batch} {f.table} {f.row}: {f.what}" for f in faults[:5])
            raise dg.Failure(
                f"{len(faults)} faults: {worst}. 'chunk-assets repair' rebuilds what is wrong",
                allow_retries=False,
            )

    @dg.job(name="verify", description="Verifies a share of the batches, another one each week.")
    def job() -> None:
        verify_share()

    return job


def _prune(catalog: Catalog) -> dg.JobDefinition:
    @dg.op(
        name="prune_old", description="Drops old runs, ends dead ones, and drops vectors that nothing needs."
    )
    def prune_old(context: dg.OpExecutionContext) -> None:
        reaped = reap_runs(context.instance, time.time() - DAY_SECONDS)
        pruned = prune_runs(context.instance, catalog.operation.keep_runs_per_batch)
        records = prune_records(context.instance)
        vectors = _prune_vectors(catalog.home)
        found = (pruned, records, len(reaped), vectors)
        said = "%d runs and %d records deleted, %d dead runs ended, %d vectors dropped"
        context.log.info(said, *found)

    @dg.job(name="prune", description="Keeps the Dagster database bounded.")
    def job() -> None:
        prune_old()

    return job


def _prune_vectors(home: str) -> int:
    """Vectors dropped; none while a run is going on, next week is soon enough."""
    try:
        return prune(home).dropped
    except LockHeld:
        return 0
