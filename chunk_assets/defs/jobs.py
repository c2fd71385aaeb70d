"""Jobs named for what people want. Each runs one batch, in one process."""

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from chunk_assets.catalog import Catalog
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
            selection=dg.AssetSelection.assets(*(dg.AssetKey([name, table]) for table in tables)),
            description=DESCRIPTIONS[job],
            tags={"source": name},
            executor_def=dg.in_process_executor,
        )
        for job, tables in STAGES_OF_JOB.items()
        if name in catalog.sources
    ]
