"""One axis of partitions a source: months of the document date, or hash buckets. Never a key a document."""

from datetime import date

import dagster as dg

from chunk_assets.catalog import Source


def partitions_of(source: Source) -> dg.PartitionsDefinition[str]:
    """The partitions of a source; their keys are the slices of the tables.

    Months run up to and including the current one in UTC, so that a filing of today has a batch.
    """
    if source.slice.by == "month":
        return dg.MonthlyPartitionsDefinition(start_date=str(source.slice.start), fmt="%Y-%m", end_offset=1)
    return dg.StaticPartitionsDefinition(list(source.slice.keys(date.max)))
