"""How fast this home's machine works, as measured by its runs: for estimates only."""

from __future__ import annotations

import json
from pathlib import Path

from chunk_assets.storage.files import read_if_there, write_atomic

# A measurement shorter than this says more about start-up than about work.
LEAST_SECONDS = 0.05
# The newest run counts this much.
WEIGHT = 0.5


def load_rates(path: Path) -> dict[str, float]:
    """Units a second by kind of work; empty when nothing was measured yet."""
    try:
        value = json.loads(read_if_there(path) or b"{}")
        return {str(name): float(rate) for name, rate in value.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def note_rate(path: Path, name: str, amount: float, seconds: float) -> None:
    """Takes one measurement into the moving average."""
    if seconds < LEAST_SECONDS or amount <= 0:
        return
    rates = load_rates(path)
    new = amount / seconds
    rates[name] = round(WEIGHT * new + (1 - WEIGHT) * rates.get(name, new), 3)
    write_atomic(path, json.dumps(rates, sort_keys=True).encode())
