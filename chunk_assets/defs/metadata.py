"""What the UI shows of a batch: counts, a histogram, sample chunks, and the documents that failed."""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

from chunk_assets.pipeline import StageReport
from chunk_assets.records import CHUNKS, EMBEDDINGS

SAMPLES = 5
TEXT_CHARACTERS = 240
FAILURES = 50
BINS = 40
# Of the histogram, in pixels.
LEFT, TOP, WIDTH, HEIGHT = 46, 12, 570, 190


def column_schema(schema: pa.Schema) -> dg.MetadataValue:
    """The columns of a table with their Arrow types."""
    columns = [dg.TableColumn(name=item.name, type=str(item.type)) for item in schema]
    return dg.MetadataValue.table_schema(dg.TableSchema(columns=columns))


def batch_metadata(table: str, data: pa.Table, report: StageReport, limit: int, page: str) -> dict[str, Any]:
    """Metadata of one materialization; ``limit`` is the embedder's bound in tokens, ``page`` the report."""
    metadata: dict[str, Any] = {
        "dagster/row_count": data.num_rows,
        "dagster/column_schema": column_schema(data.schema),
        **_work(table, data, report),
        "seconds": round(report.seconds, 3),
    }
    if report.statuses:
        metadata["statuses"] = counts_table(report.statuses)
    if report.failures:
        metadata["failed documents"] = failures_table(report)
    if table == CHUNKS and data.num_rows:
        metadata |= _chunk_metadata(data, limit)
        metadata["report"] = dg.MetadataValue.url(page)
    if table == EMBEDDINGS:
        metadata |= {"texts embedded": report.texts, "tokens": report.tokens, "vectors reused": report.reused}
        metadata |= {"texts refused": report.refused}
        if report.sparse_texts:
            metadata["texts embedded sparsely"] = report.sparse_texts
        if report.provider.get("requests"):
            metadata |= {f"provider: {name}": value for name, value in report.provider.items()}
    return metadata


def _work(table: str, data: pa.Table, report: StageReport) -> dict[str, int]:
    """What was made anew and what was kept; a document that is cut again makes many rows of ``chunks``."""
    if table == CHUNKS:
        return {"documents cut": report.worked}
    return {
        "worked": report.worked,
        "carried over": data.num_rows - report.worked,
        "removed": report.removed,
    }


def counts_table(counts: Mapping[str, int]) -> dg.MetadataValue:
    """Documents by status."""
    records = [
        dg.TableRecord({"status": name, "documents": number}) for name, number in sorted(counts.items())
    ]
    return dg.MetadataValue.table(records=records)


def failures_table(report: StageReport) -> dg.MetadataValue:
    """The documents that could not be used, with their reasons."""
    rows: list[dict[str, str | int | float | bool | None]] = [
        {
            "document": item.relative_path,
            "status": item.status,
            "reason": item.reason,
            "attempts": item.attempts,
        }
        for item in report.failures[:FAILURES]
    ]
    return dg.MetadataValue.table(records=[dg.TableRecord(row) for row in rows])


def _chunk_metadata(data: pa.Table, limit: int) -> dict[str, Any]:
    tokens = data.column("model_token_count").to_pylist()
    texts = data.select(["chunk_id", "model_token_count", "heading_path", "split_reason", "text"])
    samples = texts.slice(0, SAMPLES).to_pylist()
    return {
        "token histogram": dg.MetadataValue.md(f"![tokens]({histogram(tokens, limit)})"),
        "smallest (tokens)": min(tokens),
        "largest (tokens)": max(tokens),
        "sample chunks": dg.MetadataValue.table(records=[_sample(row) for row in samples]),
    }


def _sample(row: Mapping[str, Any]) -> dg.TableRecord:
    """Few columns, so that the text has room."""
    text = " ".join(row["text"].split())
    shown = text if len(text) <= TEXT_CHARACTERS else text[:TEXT_CHARACTERS] + "…"
    headings = " › ".join(row["heading_path"] or ())
    about = f"[{headings}] " if headings else ""
    return dg.TableRecord(
        {
            "chunk": row["chunk_id"],
            "tokens": row["model_token_count"],
            "text": f"{about}{shown} (ends because: {row['split_reason']})",
        }
    )


def histogram(tokens: Sequence[int], limit: int) -> str:
    """An SVG data URI: chunks by tokens of the embedder's input, with its limit as a line.

    Drawn by hand, since a plotting library would cost each run more than all else that Dagster adds.
    """
    widest = max(limit, *tokens)
    size = max(1, -(-widest // BINS))
    counts = Counter((count - 1) // size for count in tokens)
    most = max(counts.values())
    step, line = WIDTH / (widest // size + 1), LEFT + WIDTH * limit / (size * (widest // size + 1))
    bars = "".join(
        f'<rect x="{LEFT + step * place:.1f}" y="{TOP + HEIGHT - HEIGHT * count / most:.1f}" '
        f'width="{step * 0.9:.1f}" height="{HEIGHT * count / most:.1f}" fill="#4f6bed"/>'
        for place, count in sorted(counts.items())
    )
    base = TOP + HEIGHT
    words = (
        (LEFT - 6, TOP + 8, "end", f"{most}"),
        (LEFT - 6, base, "end", "0"),
        (LEFT, base + 16, "start", "0"),
        (line, base + 16, "end", f"limit {limit}"),
        (LEFT + WIDTH / 2, base + 34, "middle", "tokens of the embedder's input, by number of chunks"),
    )
    labels = "".join(
        f'<text x="{x:.0f}" y="{y}" text-anchor="{anchor}">{word}</text>' for x, y, anchor, word in words
    )
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="250" font-family="sans-serif" '
        f'font-size="13">{bars}<path d="M{LEFT} {base}h{WIDTH}" stroke="#888"/>'
        f'<path d="M{line:.1f} {TOP}v{HEIGHT}" stroke="#d13438" stroke-width="2"/>{labels}</svg>'
    )
    return f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}"
