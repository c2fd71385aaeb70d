"""Alerts: exactly one per incident, counted while it lasts, and one notice when it is over."""

from chunk_assets.alerts.delivery import Target, targets_from
from chunk_assets.alerts.incidents import Condition, Incident, Ledger, Notice, due_notices, ledger_file
from chunk_assets.alerts.sending import send_due

__all__ = [
    "Condition",
    "Incident",
    "Ledger",
    "Notice",
    "Target",
    "due_notices",
    "ledger_file",
    "send_due",
    "targets_from",
]
