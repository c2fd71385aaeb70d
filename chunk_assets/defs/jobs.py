"""Jobs named for what people want. Each runs one batch, in one process."""

from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from chunk_assets.catalog import Catalog
from chunk_assets.defs.freshness import freshness_key
from chunk_assets.records import CHUNKS, EMBEDDINGS, TABLES

# What each job materializes; the stages before it are taken as they were staged or published.
STAGES_OF_JOB = {
    "ingest": TABLES,
    "rechunk": (CHUNKS, EMBEDDINGS),
    "reembed": (EMBEDDINGS,),
}
DESCRIPTIONS = {
    "ingest": "Brings one batch up to date: list, convert, chunk, embed, check, publish.",
    "rechunk": "Chunks one batch again from its markdown, embeds the texts that are new, publishes.",
    "reembed": "Looks up or makes the vectors of one batch again, publishes.",
}


def job_name(job: str, source: str) -> str:
    """``ingest_filings``: one job a source, since sources are partitioned differently."""
    return f"{job}_{source}"


def source_jobs(catalog: Catalog, name: str) -> list[UnresolvedAssetJobDefinition]:
    """The jobs of one source."""
    return [
        dg.define_asset_job(
            job_name(job, name),
            selection=_selection(catalog, name, tables),
            description=DESCRIPTIONS[job],
            tags={"source": name},
            executor_def=dg.in_process_executor,
        )
        for job, tables in STAGES_OF_JOB.items()
        if name in catalog.sources
    ]


def _selection(catalog: Catalog, name: str, tables: Sequence[str]) -> dg.AssetSelection:
    """The assets with the checks that are part of them; freshness is not a matter of one batch."""
    chosen = dg.AssetSelection.assets(*(dg.AssetKey([name, table]) for table in tables))
    if catalog.sources[name].freshness is None:
        return chosen
    return chosen - dg.AssetSelection.checks(freshness_key(name))


HOME_JOBS = {
    "pipeline_summary": ("summarize", "Looks over all batches: what fails where since when."),
    "retrieval_evaluation": ("evaluate", "Measures retrieval of one strategy on the golden questions."),
}


def home_jobs(assets: Sequence[dg.AssetsDefinition]) -> dict[str, UnresolvedAssetJobDefinition]:
    """The jobs of the assets that belong to the whole home, by their names."""
    named = [(HOME_JOBS[asset.key.to_user_string()], asset.key) for asset in assets]
    return {
        name: dg.define_asset_job(
            name,
            selection=dg.AssetSelection.assets(key),
            description=text,
            executor_def=dg.in_process_executor,
        )
        for (name, text), key in named
    }
