"""``chunk-assets convert``: files to markdown, one JSON line each."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from chunk_assets.cli.common import SOME_FAILED, Output, home_options

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@click.command("convert")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--jsonl",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write here instead of to standard output.",
)
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="File names are given relative to this folder.",
)
@click.option(
    "--workers", type=click.IntRange(0), default=0, show_default=True, help="Worker processes; 0: one a core."
)
@click.option("--max-seconds", type=click.FloatRange(min=0, min_open=True), help="Limit on one document.")
@click.option("--max-memory-mb", type=click.IntRange(64), help="Limit on one document.")
@click.option(
    "--html-keep",
    type=click.Choice(["all", "main"]),
    default="all",
    show_default=True,
    help="All that a web page says, or its main content without navigation.",
)
@click.option("--ocr", is_flag=True, help="Read pages that are pictures (extra: ocr).")
@home_options
def command(files: tuple[Path, ...], target: Path | None, root: Path | None, out: Output, **how: Any) -> int:
    """Convert FILES (folders are walked) to markdown.

    Each JSON line has file, status, reason, markdown, pages, seconds and peak_mb. With --jsonl, --json
    prints a summary. Exit code 1 when any file has a status other than ok. Needs no home.
    """
    counts: dict[str, int] = {}
    opened: AbstractContextManager[TextIO] = (
        target.open("w", encoding="utf-8") if target else nullcontext(sys.stdout)
    )
    with opened as stream:
        for line in convert_files(list(_walk(files)), root, **how):
            counts[line["status"]] = counts.get(line["status"], 0) + 1
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
    if target:
        out.result({"documents": counts, "jsonl": str(target)})
    if not out.as_json and not out.quiet:
        click.echo(", ".join(f"{number} {status}" for status, number in sorted(counts.items())), err=True)
    return SOME_FAILED if set(counts) - {"ok"} else 0


def _walk(files: tuple[Path, ...]) -> Iterator[Path]:
    for path in files:
        if path.is_dir():
            yield from sorted(item for item in path.rglob("*") if item.is_file())
        else:
            yield path


def convert_files(
    files: list[Path],
    root: Path | None,
    *,
    workers: int,
    max_seconds: float | None,
    max_memory_mb: int | None,
    ocr: bool,
    html_keep: str,
) -> Iterator[dict[str, Any]]:
    """The JSON lines of ``files``, in their order, converted in worker processes."""
    from dataclasses import replace

    from chunk_assets.compute import Task, convert_all
    from chunk_assets.conversion import convert_source
    from chunk_assets.converters.base import Limits, Options

    limits = Limits()
    limits = replace(limits, max_seconds=max_seconds or limits.max_seconds)
    limits = replace(limits, max_memory_mb=max_memory_mb or limits.max_memory_mb)
    options = Options(limits=limits, ocr=ocr, html_keep=html_keep)
    tasks = (Task(convert_source, (str(path), path.name, options)) for path in files)
    answers = convert_all(tasks, workers=workers or os.cpu_count() or 1, limits=limits)
    for path, result in zip(files, answers, strict=True):
        yield {
            "file": Path(os.path.relpath(path.resolve(), root.resolve()) if root else path).as_posix(),
            "status": result.converted.status,
            "reason": result.converted.reason,
            "markdown": result.converted.markdown,
            "pages": [{"number": p.number, "start": p.start, "end": p.end} for p in result.converted.pages],
            "warnings": list(result.converted.warnings),
            "facts": dict(result.converted.facts),
            "seconds": round(result.seconds, 4),
            "peak_mb": round(result.peak_mb, 1),
        }
