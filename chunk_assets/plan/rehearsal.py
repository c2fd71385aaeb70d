"""A rehearsal of a run without embedder and without writing: so the figures are its, not a guess at them.

The stages run as they would, into a scratch folder outside the home; embedding is only counted.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from chunk_assets.catalog import Catalog
from chunk_assets.errors import MassDeletion, SourceUnavailable
from chunk_assets.pipeline import (
    RunOptions,
    Session,
    all_batches,
    left_behind,
    stage_chunks,
    stage_markdown,
    stage_raw,
)
from chunk_assets.pipeline.context import BatchContext
from chunk_assets.pipeline.embedding import Embedding
from chunk_assets.pipeline.sparse import SparseEmbedding
from chunk_assets.plan.diffs import compare, diffs_of, hashes_of
from chunk_assets.plan.reasons import reasons_of
from chunk_assets.plan.records import CONVERTING, BatchPlan, DocumentDiff, Plan
from chunk_assets.records import CHUNKS, MARKDOWN_DOCUMENTS, RAW_DOCUMENTS
from chunk_assets.storage import staging
from chunk_assets.storage.layout import Batch
from chunk_assets.storage.rates import load_rates

# Until a home has measured its own: bytes of documents, documents, and tokens a second.
FIRST_RATES = {"converted_bytes": 1_000_000.0, "chunked_documents": 100.0, "tokens": 2_000.0}


def make_plan(
    catalog: Catalog,
    sources: Iterable[str] | None = None,
    options: RunOptions | None = None,
    *,
    batches: Iterable[Batch] | None = None,
    session: Session | None = None,
    diff_samples: int = 0,
) -> Plan:
    """Rehearses a run: reads what is new or touched, calls no embedder, writes nothing to the home.

    ``diff_samples`` is for how many documents a batch the chunk boundaries are compared. What keeps a
    source or batch from being planned is in ``problems``.
    """
    given = session.options if session else options or RunOptions()
    wanted = set(batches) if batches is not None else None
    names = list(dict.fromkeys(b.source for b in sorted(wanted or ()))) if wanted is not None else sources
    with tempfile.TemporaryDirectory(prefix="chunk-assets-plan-") as folder:
        rehearsal = Session(catalog, replace(given, scratch=Path(folder)))
        if session is not None:
            rehearsal.embedder, rehearsal.listings = session.embedder, session.listings
        try:
            return _plan(_Work(rehearsal, diff_samples, wanted), names)
        finally:
            rehearsal.close()


@dataclass
class _Work:
    session: Session
    diff_samples: int
    wanted: set[Batch] | None
    # Texts that an earlier batch of the plan embeds already.
    foreseen: set[bytes] = field(default_factory=set)
    foreseen_sparse: set[bytes] = field(default_factory=set)
    diffs: list[DocumentDiff] = field(default_factory=list)


def _plan(work: _Work, sources: Iterable[str] | None) -> Plan:
    plans: list[BatchPlan] = []
    problems: list[str] = []
    for source in sources if sources is not None else work.session.catalog.sources:
        try:
            found = all_batches(work.session, [source])
            plans.extend(_plan_batch(work, b) for b in found if work.wanted is None or b in work.wanted)
        except (MassDeletion, SourceUnavailable) as error:
            problems.append(str(error))
    if sources is None and not (verdict := left_behind(work.session)).passed:
        problems.append(verdict.summary)
    seconds, price = _estimates(work.session, plans)
    currency = work.session.catalog.currency
    return Plan(tuple(plans), seconds, price, currency, tuple(work.diffs), tuple(problems))


def _plan_batch(work: _Work, batch: Batch) -> BatchPlan:
    context = work.session.peek(batch.source, batch.slice)
    if context.is_current:
        kept = context.manifest.files[CHUNKS].rows if context.manifest else 0
        return BatchPlan(batch, chunks_kept=kept)
    stage_raw(context)
    converted = stage_markdown(context)
    chunked = stage_chunks(context)
    before, after = hashes_of(context, published=True), hashes_of(context, published=False)
    figures = sum(
        (compare(before.get(n, []), after.get(n, [])) for n in before.keys() | after.keys()), Counter()
    )
    texts = _texts(work, context)
    documents = reasons_of(context, bool(texts))
    if work.diff_samples:
        work.diffs += diffs_of(context, before, after, work.diff_samples)
    sparse = _sparse_texts(work, context)
    sizes = {listed.document_id: listed.size_bytes for listed in context.documents}
    staging.clear(context.layout, batch, (RAW_DOCUMENTS, MARKDOWN_DOCUMENTS, CHUNKS))
    return BatchPlan(
        batch,
        documents,
        convert=converted.worked,
        convert_bytes=sum(sizes.get(n, 0) for n, r in documents.items() if r in CONVERTING),
        chunk=chunked.worked,
        chunks_added=figures["added"],
        chunks_changed=figures["changed"],
        chunks_removed=figures["removed"],
        chunks_kept=figures["kept"],
        texts_to_embed=len(texts),
        sparse_texts_to_embed=sparse,
        tokens_to_embed=sum(texts.values()),
    )


def _texts(work: _Work, context: BatchContext) -> dict[bytes, int]:
    """Texts that this batch would embed, with their tokens."""
    stage = staging.staged(context.layout, CHUNKS, context.batch)
    if stage is None:
        return {}
    path = staging.path_of(context.layout, CHUNKS, context.batch, stage)
    wanted = Embedding(context, path).missing_keys()
    fresh = {key: tokens for key, tokens in wanted.items() if key not in work.foreseen}
    work.foreseen |= fresh.keys()
    return fresh


def _sparse_texts(work: _Work, context: BatchContext) -> int:
    """How many texts this batch would send to the sparse model; equal ones count once in a plan."""
    stage = staging.staged(context.layout, CHUNKS, context.batch)
    model = context.session.sparse_model()
    if stage is None or model is None:
        return 0
    path = staging.path_of(context.layout, CHUNKS, context.batch, stage)
    fresh = SparseEmbedding(context, path, model).missing_keys() - work.foreseen_sparse
    work.foreseen_sparse |= fresh
    return len(fresh)


def _estimates(session: Session, plans: list[BatchPlan]) -> tuple[float, float]:
    """Seconds by the measured rates, and the price by the configured one."""
    tokens = sum(plan.tokens_to_embed for plan in plans)
    if not plans:
        return 0.0, 0.0
    rates = FIRST_RATES | load_rates(session.layout.rates)
    recipe = session.recipe(plans[0].batch.source)
    speed = rates.get(f"tokens/{recipe.model_fingerprint}", rates["tokens"])
    seconds = (
        sum(plan.convert_bytes for plan in plans) / rates["converted_bytes"]
        + sum(plan.chunk for plan in plans) / rates["chunked_documents"]
        + tokens / speed
    )
    price = session.catalog.price_per_million_tokens
    return seconds, tokens * (recipe.card.price_per_million_tokens if price is None else price) / 1e6
