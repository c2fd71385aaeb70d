"""The only floor that knows Dagster: the pipeline as partitioned, checked and scheduled assets."""
