"""``chunk-assets evaluate``: measure retrieval on question sets, strategies side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.cli.common import Output, home_options
from chunk_assets.errors import ConfigurationError

if TYPE_CHECKING:
    from chunk_assets.evaluation import Result

GOLDEN = "golden"
STRATEGIES = ("auto", "fixed", "recursive", "sentence_window", "semantic", "section")


@click.command("evaluate")
@click.option(
    "--set",
    "sets",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with a question set  [default: HOME/golden]",
)
@click.option(
    "--strategy",
    "-s",
    "strategies",
    multiple=True,
    help=f"A policy or strategy  [default: {', '.join(STRATEGIES)}]",
)
@click.option(
    "--embedder",
    "-e",
    "embedders",
    multiple=True,
    help="bge_small, static, bm25, or bge_small+bm25 for fusion  [default: bge_small]",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write results.parquet, results.md and quality.png here.",
)
@click.option(
    "--save-baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the figures as the baseline that later ones are compared with.",
)
@click.option("--compare", default=None, help="Show paired differences of the others to this strategy.")
@home_options
def command(
    out: Output,
    sets: tuple[Path, ...],
    strategies: tuple[str, ...],
    embedders: tuple[str, ...],
    folder: Path | None,
    compare: str | None,
    save_baseline: Path | None,
) -> int:
    """Measure recall, precision, IoU, MRR and cost with 95 % intervals on question sets."""
    from chunk_assets.evaluation import rows

    results = measure(out, sets, strategies, embedders)
    found = rows(results)
    value: dict[str, Any] = {"rows": found}
    if compare:
        value["differences"] = _differences(results, compare)
    out.result(value)
    if folder:
        _write(folder, results)
    if save_baseline:
        from chunk_assets.evaluation.verdicts import Baseline
        from chunk_assets.evaluation.verdicts import save_baseline as save

        save(save_baseline, Baseline(found, _topic_shares(out)))
    if not out.as_json and not out.quiet:
        from chunk_assets.evaluation import markdown

        click.echo(markdown(found))
        for line in value.get("differences", []):
            interval = f"{line['value']:+.3f} [{line['low']:+.3f}, {line['high']:+.3f}]"
            click.echo(f"{line['set']} {line['ours']} over {line['theirs']}, {line['measure']}: {interval}")
    return 0


def measure(
    out: Output, sets: tuple[Path, ...], strategies: tuple[str, ...], embedders: tuple[str, ...]
) -> list[Result]:
    """Every set, strategy and embedder asked for; vectors are kept below the home's state folder."""
    from chunk_assets.evaluation import Bench, contender, evaluate, load_set
    from chunk_assets.policy import BUILT_IN, policy_from_rules

    known = dict(BUILT_IN)
    if Path(out.home, "sources.yaml").is_file():
        catalog = out.catalog()
        known |= {name: policy_from_rules(name, rules) for name, rules in catalog.policies.items()}
    folders = sets or (Path(out.home, GOLDEN),)
    if not sets and not folders[0].is_dir():
        msg = f"no question set at {folders[0]}; give one with --set FOLDER"
        raise ConfigurationError(msg)
    bench = Bench(cache=Path(out.home, "state", "evaluation"), workers=os.cpu_count() or 1)
    loaded = [load_set(folder) for folder in folders]
    for questions in loaded:
        if questions.dropped and not out.quiet:
            click.echo(
                f"{questions.name}: {len(questions.dropped)} questions dropped, truth not found", err=True
            )
    return evaluate(
        loaded,
        [contender(name, known) for name in strategies or STRATEGIES],
        embedders or ("bge_small",),
        bench=bench,
        progress=lambda line: None if out.quiet else click.echo(line, err=True),
    )


def _topic_shares(out: Output) -> dict[str, float]:
    """How the home's published tables are cut; none where there is no home."""
    from chunk_assets.evaluation import topic_shares
    from chunk_assets.storage.layout import Layout

    if not Path(out.home, "sources.yaml").is_file():
        return {}
    catalog = out.catalog()
    return topic_shares(Layout(Path(catalog.home)), catalog.sources)


def _differences(results: list[Result], ours: str) -> list[Any]:
    from chunk_assets.evaluation import differences

    return list(differences(results, ours))


def _write(folder: Path, results: list[Result]) -> None:
    import pyarrow.parquet as pq

    from chunk_assets.evaluation import markdown, plot, rows
    from chunk_assets.evaluation.tables import arrow

    folder.mkdir(parents=True, exist_ok=True)
    found = rows(results)
    pq.write_table(arrow(found), folder / "results.parquet", compression="zstd")
    folder.joinpath("results.md").write_text(markdown(found), encoding="utf-8")
    folder.joinpath("quality.png").write_bytes(plot(found))
