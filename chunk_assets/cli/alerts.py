"""``chunk-assets alerts``: the open incidents, and a test of every target."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime

import click

from chunk_assets.cli.common import SOME_FAILED, Output, home_options


@click.group("alerts")
def command() -> None:
    """Show open incidents, or send a test alert to each target."""


@command.command("test")
@home_options
def test(out: Output) -> int:
    """Send one alert to each target that the environment names."""
    from chunk_assets.alerts import Condition, Notice, targets_from
    from chunk_assets.errors import Retry

    settings = out.catalog().alerts
    targets = targets_from(settings, os.environ)
    condition = Condition(
        "check", "test", "alerts_arrive", "", "warn", "This is a test; nothing is wrong.", time.time()
    )
    results = []
    for target in targets:
        problem = ""
        try:
            target.send([Notice(f"test-{int(condition.since)}", "opened", condition)])
        except Retry as error:
            problem = str(error)
        results.append({"target": target.name, "ok": not problem, "problem": problem})
    out.result({"ok": all(r["ok"] for r in results), "targets": results})
    out.table("Alerts", ("target", "ok", "problem"), [(r["target"], r["ok"], r["problem"]) for r in results])
    if not targets:
        names = ", ".join((settings.webhook_env, *settings.apprise_env))
        click.echo(f"no targets: set one of {names}", err=True)
    return 0 if targets and all(r["ok"] for r in results) else SOME_FAILED


@command.command("list")
@home_options
def listing(out: Output) -> int:
    """Show the incidents that are open."""
    from chunk_assets.alerts import Ledger, ledger_file

    ledger = Ledger.load(ledger_file(out.catalog().home))
    rows = [
        {
            "key": incident.key,
            "name": incident.condition.name,
            "batch": incident.condition.batch,
            "severity": incident.condition.severity,
            "since": datetime.fromtimestamp(incident.condition.since, UTC).isoformat(timespec="seconds"),
            "count": incident.condition.count,
            "summary": incident.condition.summary,
            "told": list(incident.told),
        }
        for incident in ledger.incidents.values()
        if not incident.over
    ]
    out.result({"incidents": rows})
    columns = ("since", "name", "batch", "severity", "count", "summary")
    out.table("Open incidents", columns, [[row[name] for name in columns] for row in rows])
    return 0
