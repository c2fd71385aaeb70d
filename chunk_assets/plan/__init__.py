"""What the next run would do and why, before it is paid for."""

from chunk_assets.plan.records import REASONS, BatchPlan, Boundary, DocumentDiff, Plan
from chunk_assets.plan.rehearsal import make_plan

__all__ = ["REASONS", "BatchPlan", "Boundary", "DocumentDiff", "Plan", "make_plan"]
