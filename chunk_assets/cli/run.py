"""``chunk-assets run``: the main job, in this process, with progress and a closing table."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.chosen import Chosen, batch_options
from chunk_assets.cli.common import SOME_FAILED, Output, home_options
from chunk_assets.cli.meter import Load, Meter
from chunk_assets.cli.progress import showing
from chunk_assets.cli.spending import provider_rows

if TYPE_CHECKING:
    from chunk_assets.defs.runs import Ran
    from chunk_assets.pipeline import Batch, BatchReport, Session

GOOD = ("ok",)


@click.command("run")
@batch_options
@click.option(
    "--workers",
    type=click.IntRange(0),
    default=0,
    help="Processes for converting and embedding; 0 is one a core.",
)
@click.option(
    "--budget", type=click.IntRange(0), help="Stop before more tokens than this are sent to the embedder."
)
@click.option("--allow-deletions", is_flag=True, help="Confirm that many documents are really gone.")
@click.option(
    "--retry-failed", is_flag=True, help="Also try documents that failed too often to be tried again."
)
@click.option(
    "--version",
    "version",
    default="",
    metavar="NAME",
    help="Build beside the published tables, under this name.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0),
    default=0.0,
    help="Seconds to wait for another run that holds a batch  [default: 0]",
)
@home_options
def command(out: Output, chosen: Chosen, **how: Any) -> int:
    """Bring the tables up to date: list, convert, chunk, embed, check, publish.

    Batches with nothing to do are left alone. Each batch is a Dagster run of the home's instance.
    """
    from chunk_assets.pipeline import Session
    from chunk_assets.pipeline.versions import version_catalog

    started = time.monotonic()
    meter = Meter()
    with showing(meter, quiet=out.quiet) as progress:
        catalog = version_catalog(out.home, how["version"]) if how["version"] else out.catalog()
        session = Session(catalog, _options(progress, **how))
        with closing(session):
            summary = _run_all(session, meter, chosen)
    summary.seconds["total"] = round(time.monotonic() - started, 3)
    out.result(summary.as_json())
    _show(out, summary)
    return summary.exit_code()


def _options(progress: Any, **how: Any) -> Any:
    from chunk_assets.pipeline import RunOptions

    return RunOptions(
        workers=how["workers"],
        progress=progress,
        allow_deletions=how["allow_deletions"],
        budget_tokens=how["budget"],
        lock_wait=how["wait"],
        retry_parked=how["retry_failed"],
        version=how["version"],
        owner="chunk-assets run",
        mode=os.environ.get("CHUNKING_FACTORY_MODE", ""),
    )


@dataclass(slots=True)
class Summary:
    """What the run did, over all batches."""

    documents: Counter[str] = field(default_factory=Counter)
    failures: list[Any] = field(default_factory=list)
    chunks: int = 0
    embedded: int = 0
    tokens: int = 0
    reused: int = 0
    sparse: int = 0
    provider: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    runs: int = 0
    unchanged: int = 0
    peak_mb: float = 0.0
    files_written: list[str] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    stopped: list[Any] = field(default_factory=list)

    def exit_code(self) -> int:
        """0 all well, 1 a document or check failed, 2 wrong configuration, 3 a lock was held."""
        codes = [error.exit_code for error in self.stopped]
        failed = bool(set(self.documents) - set(GOOD)) or bool(self.problems) or self.failed_checks > 0
        return max(codes, default=0) or (SOME_FAILED if failed else 0)

    @property
    def failed_checks(self) -> int:
        """Checks that did not pass."""
        return sum(not check["passed"] for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """The object of ``--json``."""
        return {
            "documents": dict(sorted(self.documents.items())),
            "chunks": self.chunks,
            "embedded": self.embedded,
            "tokens": self.tokens,
            "reused": self.reused,
            "sparse": self.sparse,
            "provider": {name: round(value, 6) for name, value in self.provider.items()},
            "files_written": self.files_written,
            "checks": self.checks,
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
            "runs": self.runs,
            "batches_unchanged": self.unchanged,
            "failures": [
                {
                    "document_id": f.document_id,
                    "file": f.relative_path,
                    "status": f.status,
                    "reason": f.reason,
                }
                for f in self.failures
            ],
            "problems": self.problems,
            "peak_mb": round(self.peak_mb, 1),
        }

    def add(self, ran: Ran | BatchReport) -> None:
        """Takes the figures of one batch."""
        self.runs += 1
        for report in ran.stages:
            self.seconds[report.table] = self.seconds.get(report.table, 0.0) + report.seconds
            self.embedded += report.texts
            self.tokens += report.tokens
            self.reused += report.reused
            self.sparse += report.sparse_texts
            for name, amount in report.provider.items():
                self.provider[name] += amount
            self.peak_mb = max(self.peak_mb, report.peak_mb)
        if ran.published is not None:
            self.files_written += ran.published.files_written
        self.checks += [
            {
                "name": outcome.name,
                "asset": f"{ran.batch.source}/{outcome.table}",
                "batch": str(ran.batch),
                "passed": outcome.passed,
                "severity": outcome.severity,
                "summary": outcome.summary,
            }
            for outcome in ran.outcomes
        ]
        if ran.error is not None:
            self.stopped.append(ran.error)
            self.problems.append(f"{ran.batch}: {ran.error}")

    def look_for_the_left_behind(self, session: Session) -> None:
        """Names, or after confirmation withdraws, batches of sources that left the catalog."""
        from chunk_assets.pipeline import left_behind

        verdict = left_behind(session)
        if not verdict.passed:
            self.problems.append(f"{verdict.name}: {verdict.summary}")


def _run_all(session: Session, meter: Meter, chosen: Chosen) -> Summary:
    summary = Summary()
    wanted = _wanted(session, chosen, summary)
    todo = [batch for batch in wanted if not session.peek(batch.source, batch.slice).is_current]
    summary.unchanged = len(wanted) - len(todo)
    listed = (session.documents(batch.source, batch.slice) for batch in todo)
    meter.expect(Load.of((d.relative_path, d.size_bytes) for d in documents) for documents in listed)
    if todo:  # a run with nothing to do never loads Dagster
        for ran in _runs(session, todo, meter):
            meter.finish_batch()
            summary.add(ran)
            meter.failures = len(summary.problems)
        from chunk_assets.pipeline import tidy

        tidy(session)
    if not chosen.names(session.catalog) and not chosen.batches(session.catalog):
        summary.look_for_the_left_behind(session)
    _count(session, wanted, summary)
    return summary


def _runs(session: Session, todo: Sequence[Batch], meter: Meter) -> Iterator[Ran | BatchReport]:
    """Runs of the home's Dagster instance; a version built beside it is not what its assets show."""
    if session.options.version:
        from chunk_assets.pipeline import run_sources

        for batch in todo:
            meter.start_batch()
            yield from run_sources(session.catalog, batches=[batch], session=session).batches
        return
    from chunk_assets.defs.home import open_instance
    from chunk_assets.defs.runs import run_batches

    with open_instance(session.catalog.home) as instance:
        yield from run_batches(session, todo, instance, started=lambda _: meter.start_batch())


def _wanted(session: Session, chosen: Chosen, summary: Summary) -> list[Batch]:
    """The batches asked for, or all that are listed or published; an unreachable source is a problem."""
    from chunk_assets.errors import SourceUnavailable
    from chunk_assets.pipeline import all_batches

    if batches := chosen.batches(session.catalog):
        return batches
    found: list[Batch] = []
    for name in chosen.names(session.catalog) or session.catalog.sources:
        try:
            found += all_batches(session, [name])
        except SourceUnavailable as error:
            summary.stopped.append(error)
            summary.problems.append(f"{name}: {error}")
    return found


def _count(session: Session, batches: Sequence[Batch], summary: Summary) -> None:
    """Documents and chunks as they stand in the published tables now."""
    from chunk_assets.pipeline.overview import batch_status

    for batch in batches:
        status = batch_status(session, batch)
        summary.documents.update(status.documents)
        summary.failures += status.failures
        summary.chunks += status.chunks


def _show(out: Output, summary: Summary) -> None:
    failed = [(f.relative_path, f.status, f.reason) for f in summary.failures]
    if failed:
        out.table("Documents that are not whole", ("document", "status", "reason"), failed)
    if summary.checks:
        columns = ("asset", "check", "severity", "passed", "failed")
        out.table("Checks", columns, _check_rows(summary.checks))
    broken = [(c["batch"], c["name"], c["severity"], c["summary"]) for c in summary.checks if not c["passed"]]
    if broken:
        out.table("Checks that failed", ("batch", "check", "severity", "what"), broken)
    for problem in summary.problems:
        click.echo(f"problem: {problem}", err=True)
    if not summary.runs:
        out.table("Nothing to do", ("batches", "documents", "chunks"), [_totals(summary)])
        return
    rows = [
        ("documents", ", ".join(f"{n} {status}" for status, n in sorted(summary.documents.items()))),
        ("chunks", f"{summary.chunks:,}"),
        (
            "embedded",
            f"{summary.embedded:,} texts, {summary.tokens:,} tokens; {summary.reused:,} vectors reused",
        ),
        *provider_rows(summary.sparse, summary.provider),
        ("batches", f"{summary.runs} run, {summary.unchanged} with nothing to do"),
        ("checks", f"{len(summary.checks)} run, {summary.failed_checks} failed"),
        ("files", f"{len(summary.files_written)} written"),
        ("seconds", ", ".join(f"{name} {value:.1f}" for name, value in summary.seconds.items())),
    ]
    out.table("Done", ("", ""), rows)


def _totals(summary: Summary) -> tuple[str, str, str]:
    return (f"{summary.unchanged}", f"{sum(summary.documents.values())}", f"{summary.chunks:,}")


def _check_rows(checks: Sequence[dict[str, Any]]) -> list[tuple[str, str, str, int, int]]:
    """One row a check, over all sources and batches, in the order of the stages."""
    counted: dict[tuple[str, str, str], list[int]] = {}
    for check in checks:
        key = (check["asset"].split("/")[1], check["name"], check["severity"])
        counted.setdefault(key, [0, 0])[0 if check["passed"] else 1] += 1
    return [(*key, passed, failed) for key, (passed, failed) in counted.items()]
