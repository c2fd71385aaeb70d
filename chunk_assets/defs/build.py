"""All definitions of a home: assets, checks, jobs, sensors and schedules from one catalog."""

import dagster as dg

from chunk_assets.catalog import Catalog
from chunk_assets.defs.assets import source_assets
from chunk_assets.defs.evaluation import evaluation_asset, has_golden_set
from chunk_assets.defs.freshness import freshness_checks
from chunk_assets.defs.jobs import home_jobs, source_jobs
from chunk_assets.defs.rechecks import recheck_job
from chunk_assets.defs.schedules import schedules
from chunk_assets.defs.sensors import alerts_sensor, arrivals_sensor
from chunk_assets.defs.session import Collect, options_from, run_resource
from chunk_assets.defs.summary import summary_asset
from chunk_assets.defs.upkeep import upkeep_jobs
from chunk_assets.defs.vector_indexes import vector_index_assets, vector_index_checks
from chunk_assets.pipeline import Session


def build_definitions(
    catalog: Catalog, shared: Session | None = None, collect: Collect | None = None
) -> dg.Definitions:
    """Explicit definitions; ``shared`` and ``collect`` are for runs in the caller's own process."""
    names = list(catalog.sources)
    recipes = shared or Session(catalog, options_from({}, ""))
    jobs = {name: source_jobs(catalog, name) for name in names}
    ingest = {name: jobs[name][0] for name in names}
    upkeep = upkeep_jobs(catalog)
    rechecks = [recheck_job(catalog, name) for name in names]
    whole = [summary_asset(catalog)]
    if has_golden_set(catalog):
        whole.append(evaluation_asset(catalog, recipes))
    of_home = home_jobs(whole)
    evaluate = of_home.get("evaluate")
    return dg.Definitions(
        assets=[
            *(asset for name in names for asset in source_assets(catalog, name, recipes)),
            *whole,
            *vector_index_assets(catalog),
        ],
        asset_checks=[*freshness_checks(catalog), *vector_index_checks(catalog)],
        jobs=[*(job for name in names for job in jobs[name]), *of_home.values(), *upkeep, *rechecks],
        sensors=[
            arrivals_sensor(catalog, [*ingest.values(), *([evaluate] if evaluate else [])]),
            alerts_sensor(catalog),
        ],
        schedules=schedules(catalog, ingest, upkeep, evaluate),
        resources={"run": run_resource(catalog, shared, collect)},
        executor=dg.in_process_executor,
    )
