"""What the four assets of a run share: the batch, open and locked from the first stage to the last."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace

import dagster as dg

from chunk_assets.alerts.outcomes import record
from chunk_assets.catalog import Catalog
from chunk_assets.errors import BudgetReached, StopRun
from chunk_assets.pipeline import BatchContext, PublishReport, RunOptions, Session, StageReport
from chunk_assets.records import Outcome

# Tags by which whoever launches a run (a person, a sensor, a backfill) gives options.
ALLOW_DELETIONS_TAG = "chunk-assets/allow_deletions"
BUDGET_TAG = "chunk-assets/budget_tokens"
RETRY_TAG = "chunk-assets/retry_parked"
# A batch asked for by a person while a sensor's run is on it waits its turn, and then finds little to do.
LOCK_WAIT_SECONDS = 1800.0


@dataclass(slots=True)
class BatchRun:
    """One run on one batch. Dagster makes it once a run, since all steps run in one process."""

    session: Session
    stack: ExitStack
    opened: dict[tuple[str, str], BatchContext] = field(default_factory=dict)
    reports: list[StageReport] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    published: PublishReport | None = None
    stopped: StopRun | None = None
    # Why the run ended that no ``StopRun`` says: a fault that is a bug, or a person who cancelled it.
    fault: str = ""
    cancelled: bool = False

    def batch(self, source: str, slice_key: str) -> BatchContext:
        """The open batch; the first call locks it until the run ends."""
        key = (source, slice_key)
        if key not in self.opened:
            self.opened[key] = self.stack.enter_context(self.session.batch(source, slice_key))
        return self.opened[key]

    def add(self, report: StageReport, outcomes: Iterable[Outcome]) -> None:
        """Keeps what a stage says, for whoever started the run."""
        self.reports.append(report)
        self.outcomes.extend(outcomes)

    def remember(self, run_id: str) -> None:
        """Writes down the verdicts of this run, for the operator and the alerts; none if it was cancelled."""
        if self.cancelled:
            return
        stopped = str(self.stopped or self.fault)
        over_budget = isinstance(self.stopped, BudgetReached)
        for context in self.opened.values():
            place = (context.layout, context.batch)
            record(*place, self.outcomes, run_id, time.time(), stopped, over_budget=over_budget)

    @contextmanager
    def failing_for_good(self) -> Iterator[None]:
        """A ``StopRun`` ends the run with its message alone; trying again at once would not help."""
        try:
            yield
        except StopRun as error:
            self.stopped = error
            raise dg.Failure(str(error), allow_retries=False) from error
        except Exception as error:
            self.fault = f"{type(error).__name__}: {error}"
            raise
        except BaseException:
            self.cancelled = True
            raise


Collect = Callable[[BatchRun], None]


def run_resource(
    catalog: Catalog, shared: Session | None = None, collect: Collect | None = None
) -> dg.ResourceDefinition:
    """The resource ``run``.

    ``shared`` is the session of a caller who runs many batches in this process; without it each run has
    its own. ``collect`` is shown the run when it ends.
    """

    @contextmanager
    def make(context: dg.InitResourceContext) -> Iterator[BatchRun]:
        with ExitStack() as stack:
            session = shared or stack.enter_context(closing(_own_session(catalog, context)))
            run = BatchRun(session, stack)
            try:
                yield run
            finally:
                run.remember(context.run.run_id if context.run else "")
                if collect is not None:
                    collect(run)

    return dg.ResourceDefinition(make, description="The batch of this run, open and locked.")


def _own_session(catalog: Catalog, context: dg.InitResourceContext) -> Session:
    run = context.run
    tags = dict(run.tags) if run else {}
    return Session(catalog, options_from(tags, run.run_id if run else ""))


def options_from(tags: dict[str, str], run_id: str) -> RunOptions:
    """The options that the tags of a run ask for; the environment gives the chunking mode."""
    import os

    budget = tags.get(BUDGET_TAG)
    return replace(
        RunOptions(),
        owner=f"run {run_id}" if run_id else "",
        lock_wait=LOCK_WAIT_SECONDS if run_id else 0.0,
        mode=os.environ.get("CHUNKING_FACTORY_MODE", ""),
        allow_deletions=tags.get(ALLOW_DELETIONS_TAG) == "true",
        retry_parked=tags.get(RETRY_TAG) == "true",
        budget_tokens=int(budget) if budget else None,
    )
