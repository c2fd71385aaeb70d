"""Telling every target what it has not been told, and writing down each delivery."""

from __future__ import annotations

from collections.abc import Sequence

from chunk_assets.alerts.delivery import Target
from chunk_assets.alerts.incidents import Ledger, due_notices
from chunk_assets.errors import Retry

# Of a digest: receivers refuse bodies of megabytes.
MOST_IN_ONE = 200


def send_due(ledger: Ledger, targets: Sequence[Target], digest_over: int) -> tuple[int, list[str]]:
    """Delivers what is due; more than ``digest_over`` notices for a target go together, 200 a message.

    The ledger is saved before the first delivery, so that keys are fixed before anybody hears them, and
    after each one. A target that fails is tried again at the next call, after those that did not.

    Returns the number of notices delivered, and what went wrong.
    """
    ledger.save()
    delivered, problems = 0, []
    for target in sorted(targets, key=lambda target: target.name in ledger.failing):
        due = due_notices(ledger, target.name)
        if not due:
            continue
        ledger.failing.add(target.name)
        ledger.save()
        size = MOST_IN_ONE if len(due) > digest_over else 1
        for start in range(0, len(due), size):
            parcel = due[start : start + size]
            try:
                target.send(parcel)
            except Retry as error:
                problems.append(str(error))
                break
            ledger.note(parcel, target.name)
            delivered += len(parcel)
        else:
            ledger.failing.discard(target.name)
    ledger.forget([target.name for target in targets])
    ledger.save()
    return delivered, problems
