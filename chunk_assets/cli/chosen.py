"""``--source`` and ``--batch``: which part of a home a command works on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from chunk_assets.errors import ConfigurationError

if TYPE_CHECKING:
    from chunk_assets.catalog import Catalog
    from chunk_assets.pipeline import Batch


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sources and batches that were named; nothing named means everything."""

    sources: tuple[str, ...]
    texts: tuple[str, ...]

    def names(self, catalog: Catalog) -> tuple[str, ...] | None:
        """The named sources, or None for all.

        Raises:
            ConfigurationError: one is not in the catalog.
        """
        for name in self.sources:
            catalog.source(name)
        return self.sources or None

    def batches(self, catalog: Catalog) -> list[Batch] | None:
        """The named batches, or None for all of the sources.

        Raises:
            ConfigurationError: one is not written ``SOURCE/SLICE``, or its source is not in the catalog.
        """
        from chunk_assets.pipeline import Batch

        found = [Batch(*parse_batch(text)) for text in self.texts]
        for batch in found:
            catalog.source(batch.source)
        return found or None


source_option = click.option(
    "--source", "-s", "sources", multiple=True, help="Only this source (may be repeated)."
)
_batch_option = click.option(
    "--batch",
    "-b",
    "batches",
    multiple=True,
    metavar="SOURCE/SLICE",
    help="Only this batch (may be repeated).",
)


def batch_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds ``--source`` and ``--batch``, and passes them on as ``chosen: Chosen``."""

    @functools.wraps(function)  # the options that are there already come along
    def wrapped(*args: Any, sources: tuple[str, ...], batches: tuple[str, ...], **kwargs: Any) -> Any:
        return function(*args, chosen=Chosen(sources, batches), **kwargs)

    return source_option(_batch_option(wrapped))


def parse_batch(text: str) -> tuple[str, str]:
    """``source/slice`` as a pair.

    Raises:
        ConfigurationError: there is no slash in it.
    """
    source, slash, key = text.partition("/")
    if not slash or not key:
        msg = f"a batch is written SOURCE/SLICE, for example filings/2024-03; got {text!r}"
        raise ConfigurationError(msg)
    return source, key
