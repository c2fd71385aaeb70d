"""Retrieval quality as an asset: one partition a strategy, with the floor and the baseline as checks."""

import os
import time
import warnings
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg

from chunk_assets.alerts.outcomes import record
from chunk_assets.catalog import Catalog
from chunk_assets.defs.asset_checks import check_results
from chunk_assets.defs.session import options_from
from chunk_assets.defs.summary import GROUP
from chunk_assets.hashing import fingerprint
from chunk_assets.pipeline import Batch, Session
from chunk_assets.pipeline.overview import code_versions
from chunk_assets.records import CHUNKS, EMBEDDINGS, Outcome
from chunk_assets.storage.layout import Layout

KEY = dg.AssetKey("retrieval_evaluation")
GOLDEN = "golden"
BASELINE = "baseline.json"
COMPARED = ("fixed", "recursive", "sentence_window", "semantic", "section")
PROMISES = {
    "retrieval_floor": "Enough questions of the golden set find their answer among the first five chunks.",
    "retrieval_regression": "No figure fell noticeably below the stored baseline.",
    "threshold_drift": "Semantic chunks end by topic about as often as when their threshold was chosen.",
}


def has_golden_set(catalog: Catalog) -> bool:
    """Whether the home has questions to evaluate with."""
    return Path(catalog.home, GOLDEN).is_dir()


def policies_in_use(catalog: Catalog) -> tuple[str, ...]:
    """The policies by which sources are cut now: theirs are the figures that matter."""
    return tuple(dict.fromkeys(catalog.policy_name(name) for name in catalog.sources))


def strategies(catalog: Catalog) -> tuple[str, ...]:
    """The partitions: the policies in use, then what they are compared with."""
    return tuple(dict.fromkeys((*policies_in_use(catalog), *COMPARED)))


def evaluation_version(session: Session) -> str:
    """Changes with every policy, engine and model, so that the UI shows old figures as unsynced."""
    versions = {name: code_versions(session, name) for name in session.catalog.sources}
    return fingerprint({name: [v[CHUNKS], v[EMBEDDINGS]] for name, v in versions.items()})


def evaluation_asset(catalog: Catalog, session: Session) -> dg.AssetsDefinition:
    """The asset ``retrieval_evaluation``."""
    partitions = dg.StaticPartitionsDefinition(list(strategies(catalog)))

    @dg.asset(
        key=KEY,
        partitions_def=partitions,
        group_name=GROUP,
        kinds={"python"},
        code_version=evaluation_version(session),
        check_specs=_specs(partitions),
        description="Recall, precision and rank on the golden questions, with intervals, by strategy.",
    )
    def _evaluate(context: dg.AssetExecutionContext) -> Iterator[Any]:
        name = context.partition_key
        rows = _measured(catalog, name)
        outcomes = _judged(catalog, name, rows)
        if name in policies_in_use(catalog):
            layout = Layout(Path(catalog.home))
            record(layout, Batch(KEY.to_user_string(), name), outcomes, context.run.run_id, time.time())
        yield dg.MaterializeResult(
            metadata=_shown(catalog, name, rows), check_results=check_results(KEY, outcomes, name)
        )

    return _evaluate


def _specs(partitions: dg.PartitionsDefinition[str]) -> list[dg.AssetCheckSpec]:
    with warnings.catch_warnings():
        # Partitions of checks are in preview in Dagster 1.13, whose minor version is held for that reason.
        warnings.simplefilter("ignore", category=dg.PreviewWarning)
        return [
            dg.AssetCheckSpec(name, asset=KEY, description=text, partitions_def=partitions)
            for name, text in PROMISES.items()
        ]


def _measured(catalog: Catalog, name: str) -> Sequence[Any]:
    from chunk_assets.evaluation import Bench, contender, evaluate, load_set, rows
    from chunk_assets.policy import BUILT_IN, policy_from_rules

    own = {key: policy_from_rules(key, list(rules)) for key, rules in catalog.policies.items()}
    bench = Bench(Path(catalog.home, "state", "evaluation"), workers=os.cpu_count() or 1)
    try:
        questions = load_set(Path(catalog.home, GOLDEN))
        entry = contender(name, {**BUILT_IN, **own})
        return rows(evaluate([questions], [entry], (catalog.embedder.name,), bench=bench))
    finally:
        bench.close()


def _shown(catalog: Catalog, name: str, rows: Sequence[Any]) -> dict[str, Any]:
    """Its figures, and all strategies that were measured so far side by side, as a table and a picture."""
    from chunk_assets.evaluation import keep, kept, markdown, plot
    from chunk_assets.evaluation.kept import results_file

    home = Path(catalog.home)
    keep(home, name, rows)
    beside = kept(home, strategies(catalog))
    picture = b64encode(plot(beside)).decode("ascii")
    return {
        **{f"{row['measure']} ({row['set']})": row["value"] for row in rows},
        "figures": dg.MetadataValue.table([dg.TableRecord(dict(row)) for row in rows]),
        "all strategies": dg.MetadataValue.md(markdown(beside)),
        "quality against tokens": dg.MetadataValue.md(f"![quality](data:image/png;base64,{picture})"),
        "results": dg.MetadataValue.path(str(results_file(home, name))),
    }


def _judged(catalog: Catalog, name: str, rows: Sequence[Any]) -> list[Outcome]:
    """Verdicts; a strategy that nobody uses may be bad without any harm, and only warns."""
    from chunk_assets.evaluation import topic_shares
    from chunk_assets.evaluation.verdicts import (
        accuracy_floor,
        load_baseline,
        regression,
        threshold_drift,
    )

    baseline = load_baseline(Path(catalog.home, GOLDEN, BASELINE))
    cut_by_it = [source for source in catalog.sources if catalog.policy_name(source) == name]
    shares = topic_shares(Layout(Path(catalog.home)), cut_by_it)
    found = [
        accuracy_floor(rows),
        regression(rows, baseline.rows),
        threshold_drift(shares, baseline.topic_shares),
    ]
    if name in policies_in_use(catalog):
        return found
    return [replace(outcome, severity="warn") for outcome in found]


def evaluations_due(catalog: Catalog, instance: dg.DagsterInstance) -> Iterator[dg.RunRequest]:
    """A request for each policy in use that was measured with another version of policy or model."""
    version = evaluation_version(Session(catalog, options_from({}, "")))
    for name in policies_in_use(catalog):
        wanted = dg.AssetRecordsFilter(asset_key=KEY, asset_partitions=[name])
        records = instance.fetch_materializations(wanted, limit=1).records
        measured = records[0].asset_materialization if records else None
        if measured is not None and (measured.tags or {}).get("dagster/code_version") != version:
            key = f"{KEY.to_user_string()}:{name}:{version}"
            yield dg.RunRequest(run_key=key, job_name="evaluate", partition_key=name)
