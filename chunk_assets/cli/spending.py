"""What a remote provider, or a sparse model, did in a run, as rows of the closing table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

PRICE = "price ("


def provider_rows(sparse: int, provider: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Rows for what there was: ``sparse`` texts, and the totals of a provider by name."""
    if sparse:
        yield "sparse", f"{sparse:,} texts"
    if not provider.get("requests"):
        return
    counts = {
        name: f"{provider.get(name, 0):,.0f}" for name in ("requests", "throttled", "retries", "tokens")
    }
    words = f"{counts['requests']} requests, {counts['throttled']} throttled "
    words += f"({provider.get('paused_seconds', 0):,.1f} s paused), {counts['retries']} sent again; "
    words += f"{counts['tokens']} tokens billed"
    prices = [
        f"{value:.4f} {name[len(PRICE) : -1]}" for name, value in provider.items() if name.startswith(PRICE)
    ]
    yield "provider", "; ".join([words, *prices])
