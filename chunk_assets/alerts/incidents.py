"""Conditions that hold now against incidents that were told: what is new, what is over.

A condition is anything that an operator should know: a failed check of a batch, a failed run, a source
that can't be listed. It becomes an incident when it is first seen, and stays the same incident, with the
same key, until it is gone. Told is written down after each delivery, so a process killed between sending
and writing sends once more, with the same key (ADR 0008).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from chunk_assets.hashing import canonical_json, sha256_text
from chunk_assets.storage.files import read_if_there, write_atomic

OPENED = "opened"
RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is wrong now. ``kind`` is check, run, sensor, schedule, source, freshness or budget.

    ``serial`` counts how often the same thing began to be wrong, where that is known: a fault that ended
    and began again between two looks is another incident.
    """

    kind: str
    asset: str
    name: str
    batch: str
    severity: str
    summary: str
    since: float
    example: str = ""
    mend: str = ""
    link: str = ""
    count: int = 1
    serial: int = 0

    @property
    def place(self) -> str:
        """What makes two conditions the same: kind, asset, check and batch."""
        return canonical_json([self.kind, self.asset, self.name, self.batch])


@dataclass(frozen=True, slots=True)
class Incident:
    """A condition that was seen, and to which targets its beginning and end were told."""

    key: str
    condition: Condition
    told: tuple[str, ...] = ()
    over: bool = False
    told_over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notice:
    """One message about one incident. ``key`` is the same each time it is sent."""

    key: str
    event: str
    condition: Condition

    def as_json(self) -> dict[str, Any]:
        """The body of a webhook (docs, page "Alerts")."""
        return {"key": self.key, "event": self.event, **asdict(self.condition)}


@dataclass(slots=True)
class Ledger:
    """The incidents that are open or not told to the end yet, kept in one file."""

    path: Path
    incidents: dict[str, Incident] = field(default_factory=dict)
    # How often each place had an incident: part of the key, so that each one has its own.
    counts: dict[str, int] = field(default_factory=dict)
    # Targets whose newest delivery was not finished: they come last, so that one that hangs starves nobody.
    failing: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, path: Path) -> Ledger:
        """The ledger at ``path``; an empty one when there is none."""
        import json

        value = json.loads(read_if_there(path) or b"{}")
        incidents = {
            place: Incident(
                row["key"],
                Condition(**row["condition"]),
                tuple(row["told"]),
                row["over"],
                tuple(row["told_over"]),
            )
            for place, row in value.get("incidents", {}).items()
        }
        return cls(path, incidents, value.get("counts", {}), set(value.get("failing", ())))

    def save(self) -> None:
        """Writes the ledger in one atomic replacement."""
        value = {
            "incidents": {place: asdict(incident) for place, incident in self.incidents.items()},
            "counts": self.counts,
            "failing": sorted(self.failing),
        }
        write_atomic(self.path, canonical_json(value).encode())

    def see(self, conditions: Iterable[Condition], unknown: Iterable[str] = ()) -> None:
        """Opens incidents for conditions that are new, updates the open ones, ends those that are gone.

        ``unknown`` are kinds that could not be looked at this time: theirs stay as they are.
        """
        now = {condition.place: condition for condition in conditions}
        skipped = set(unknown)
        for place, condition in now.items():
            self._open(place, condition)
        for place, incident in list(self.incidents.items()):
            if place not in now and incident.condition.kind not in skipped and not incident.over:
                self._end(place, incident)

    def _open(self, place: str, condition: Condition) -> None:
        known = self.incidents.get(place)
        again = known is not None and known.condition.serial != condition.serial
        if known is None or known.over or again:
            self.counts[place] = self.counts.get(place, 0) + 1
            # With the home, since two homes with sources of the same names may tell the same receiver.
            parts = [str(self.path.resolve()), place, self.counts[place]]
            key = sha256_text(canonical_json(parts))[:16]
            self.incidents[place] = Incident(key, condition)
        else:
            self.incidents[place] = replace(known, condition=replace(condition, since=known.condition.since))

    def _end(self, place: str, incident: Incident) -> None:
        """An incident that nobody was told of ends without a word."""
        if incident.told:
            self.incidents[place] = replace(incident, over=True)
        else:
            del self.incidents[place]

    def forget(self, targets: Collection[str]) -> None:
        """Drops incidents that are over and of which none of the ``targets`` is still to be told."""
        for place, incident in list(self.incidents.items()):
            owed = set(incident.told) & set(targets) - set(incident.told_over)
            if incident.over and targets and not owed:
                del self.incidents[place]

    def note(self, notices: Iterable[Notice], target: str) -> None:
        """Writes down that ``target`` has the notices; a finished incident is forgotten."""
        for notice in notices:
            self._note(notice, target)
        self.save()

    def _note(self, notice: Notice, target: str) -> None:
        place = notice.condition.place
        incident = self.incidents[place]
        if notice.event == OPENED:
            self.incidents[place] = replace(incident, told=(*incident.told, target))
        else:
            incident = replace(incident, told_over=(*incident.told_over, target))
            self.incidents[place] = incident
            if set(incident.told) <= set(incident.told_over):
                del self.incidents[place]


def ledger_file(home: str) -> Path:
    """Where a home keeps its ledger: beside the tables, so that promoting a version leaves it alone."""
    return Path(home, "alerts", "ledger.json")


def due_notices(ledger: Ledger, target: str) -> list[Notice]:
    """What ``target`` has not been told yet, oldest first; an end only where it knows the beginning."""
    due = []
    for incident in ledger.incidents.values():
        if not incident.over and target not in incident.told:
            due.append(Notice(incident.key, OPENED, incident.condition))
        if incident.over and target in incident.told and target not in incident.told_over:
            due.append(Notice(f"{incident.key}-over", RECOVERED, incident.condition))
    return sorted(due, key=lambda notice: (notice.condition.since, notice.key))


def worst(conditions: Iterable[Mapping[str, str]]) -> str:
    """The first example of a verdict as one line: document, page and what."""
    for example in conditions:
        page = f", page {example['page']}" if example.get("page") else ""
        return f"{example.get('document_id', '')}{page}: {example.get('what', '')}"
    return ""
