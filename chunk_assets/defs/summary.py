"""All batches in one place: which fail which check since when, and what there is, source by source."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg

from chunk_assets.alerts import Condition
from chunk_assets.alerts.outcomes import failing_checks, outcomes_file, recorded_batches
from chunk_assets.catalog import Catalog
from chunk_assets.defs.session import options_from
from chunk_assets.defs.waiting import late_sources, missing_sources
from chunk_assets.hashing import fingerprint
from chunk_assets.pipeline import Batch, Session
from chunk_assets.pipeline.overview import BatchStatus, batch_status
from chunk_assets.records import OK
from chunk_assets.storage.files import read_if_there, write_atomic
from chunk_assets.storage.layout import Layout

KEY = dg.AssetKey("pipeline_summary")
GROUP = "whole_home"
LISTED = 200
PROMISES = {
    "every_check_passes": "No check fails on any batch; one good batch never hides a failing one.",
    "every_source_is_listed": "Every source could be listed at the last look.",
    "searchable_in_time": "No document of any source waits longer than its source promises (freshness).",
}
DESCRIPTION = (
    "Every batch of every source: which check fails where since when, documents, chunks and failures a "
    "source. The alerts sensor brings it up to date by itself when something changed."
)


@dataclass(frozen=True, slots=True)
class Overview:
    """What an operator wants to see first. ``sources`` has one row a source."""

    failing: tuple[Condition, ...]
    missing: tuple[Condition, ...]
    late: tuple[Condition, ...]
    sources: tuple[dict[str, Any], ...]

    @property
    def digest(self) -> str:
        """Equal while nothing that matters has changed."""
        places = [(c.place, c.since, c.summary) for c in (*self.failing, *self.missing)]
        return fingerprint(
            {"places": places, "late": [(c.place, c.count) for c in self.late], "all": self.sources}
        )


class Summaries:
    """Overviews of a home. What is published of a batch is read again only when it was run again."""

    def __init__(self, catalog: Catalog) -> None:
        self.layout = Layout(Path(catalog.home))
        self._known: dict[Batch, tuple[int, BatchStatus]] = {}

    def overview(self, catalog: Catalog) -> Overview:
        """The state of all batches now."""
        severities = ("warn", "error")
        return Overview(
            tuple(failing_checks(self.layout, catalog.alerts.link_base, severities)),
            tuple(missing_sources(self.layout)),
            tuple(late_sources(self.layout, catalog)),
            tuple(self._sources(catalog)),
        )

    def _sources(self, catalog: Catalog) -> Iterator[dict[str, Any]]:
        session = Session(catalog, options_from({}, ""))
        batches = list(recorded_batches(self.layout))
        for name in catalog.sources:
            found = [self._status(session, batch) for batch in batches if batch.source == name]
            documents: Counter[str] = Counter()
            for status in found:
                documents.update(status.documents)
            yield {
                "source": name,
                "batches": len(found),
                "documents": documents.total(),
                "not whole": documents.total() - documents[OK],
                "chunks": sum(status.chunks for status in found),
                "vectors": sum(status.embeddings for status in found),
            }

    def _status(self, session: Session, batch: Batch) -> BatchStatus:
        stamp = outcomes_file(self.layout, batch).stat().st_mtime_ns
        known = self._known.get(batch)
        if known is None or known[0] != stamp:
            known = self._known[batch] = (stamp, batch_status(session, batch))
        return known[1]

    def report(self, instance: dg.DagsterInstance, catalog: Catalog) -> bool:
        """Records the summary and its checks without a run, when it is not the one recorded last."""
        overview = self.overview(catalog)
        path = self.layout.home / "alerts" / "summary"
        if read_if_there(path) == overview.digest.encode():
            return False
        instance.report_runless_asset_event(dg.AssetMaterialization(KEY, metadata=shown(overview)))
        for name, passed, severity, words in verdicts(overview):
            instance.report_runless_asset_event(
                dg.AssetCheckEvaluation(KEY, name, passed, severity=severity, description=words)
            )
        write_atomic(path, overview.digest.encode())
        return True


def shown(overview: Overview) -> dict[str, Any]:
    """The metadata of the summary: failing checks, sources, and totals to plot."""
    metadata: dict[str, Any] = {
        "failing checks": len(overview.failing),
        "documents": sum(row["documents"] for row in overview.sources),
        "chunks": sum(row["chunks"] for row in overview.sources),
        "sources": dg.MetadataValue.table([dg.TableRecord(row) for row in overview.sources]),
    }
    wrong = [*overview.failing, *overview.missing, *overview.late]
    if wrong:
        metadata["what is wrong"] = dg.MetadataValue.table([_row(condition) for condition in wrong[:LISTED]])
    return metadata


def _row(condition: Condition) -> dg.TableRecord:
    return dg.TableRecord(
        {
            "batch": condition.batch or condition.asset,
            "check": condition.name,
            "severity": condition.severity,
            "since": datetime.fromtimestamp(condition.since, UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "times": condition.count,
            "what": condition.summary,
        }
    )


def verdicts(overview: Overview) -> Iterator[tuple[str, bool, dg.AssetCheckSeverity, str]]:
    """The checks over all batches, with the worst named."""
    error, warn = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
    grave = any(condition.severity == "error" for condition in overview.failing)
    parts = (overview.failing, overview.missing, overview.late)
    severities = (error if grave else warn, error, warn)
    for name, found, severity in zip(PROMISES, parts, severities, strict=True):
        named = "; ".join(f"{c.name} on {c.batch or c.asset}" for c in found[:5])
        yield name, not found, severity, f"{len(found)} found: {named}" if found else "all is well"


def summary_asset(catalog: Catalog) -> dg.AssetsDefinition:
    """The asset ``pipeline_summary``; without upstream, since records without a run would seem unsynced."""
    summaries = Summaries(catalog)

    @dg.asset(
        key=KEY,
        group_name=GROUP,
        kinds={"table"},
        description=DESCRIPTION,
        check_specs=[dg.AssetCheckSpec(name, asset=KEY, description=text) for name, text in PROMISES.items()],
    )
    def _summary() -> Iterator[Any]:
        overview = summaries.overview(catalog)
        yield dg.MaterializeResult(
            metadata=shown(overview),
            check_results=[
                dg.AssetCheckResult(
                    asset_key=KEY, check_name=name, passed=passed, severity=severity, description=words
                )
                for name, passed, severity, words in verdicts(overview)
            ],
        )

    return _summary
