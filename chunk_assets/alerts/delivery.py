"""Where alerts go: a webhook with a documented body, and everything that apprise reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from chunk_assets.alerts.incidents import RECOVERED, Notice
from chunk_assets.catalog import Alerts
from chunk_assets.errors import Retry
from chunk_assets.hashing import sha256_text

TIMEOUT_SECONDS = 20.0
# Notices that a message spells out; the others are counted. A webhook has all of them as data.
SPELT_OUT = 20


@dataclass(frozen=True, slots=True)
class Target:
    """One receiver. Its address may hold a secret: it is never shown, ``name`` is."""

    name: str
    kind: str
    address: str = field(repr=False)

    def send(self, notices: Sequence[Notice]) -> None:
        """Delivers one message about all ``notices``.

        Raises:
            Retry: the receiver did not take it; nothing of the address is in the message.
        """
        if self.kind == "webhook":
            self._post(notices)
        else:
            self._notify(notices)

    def _post(self, notices: Sequence[Notice]) -> None:
        import httpx

        body = {"notices": [notice.as_json() for notice in notices], "text": text_of(notices)}
        headers = {"Idempotency-Key": "+".join(notice.key for notice in notices)[:200]}
        try:
            answer = httpx.post(self.address, json=body, headers=headers, timeout=TIMEOUT_SECONDS)
        except httpx.HTTPError as error:
            msg = f"{self.name}: {type(error).__name__}"
            raise Retry(msg) from None
        if answer.is_error:
            msg = f"{self.name}: HTTP {answer.status_code}"
            raise Retry(msg)

    def _notify(self, notices: Sequence[Notice]) -> None:
        import apprise

        service = apprise.Apprise()
        if not service.add(self.address):
            msg = f"{self.name}: apprise does not know this kind of address"
            raise Retry(msg)
        if not service.notify(body=text_of(notices), title=title_of(notices)):
            msg = f"{self.name}: apprise could not deliver"
            raise Retry(msg)


def targets_from(settings: Alerts, environment: Mapping[str, str]) -> list[Target]:
    """The receivers that the environment names; apprise addresses are separated by blanks.

    A target is known by the variable it came from and a digest of its address, so that the ledger holds
    no secret and survives a reordering.
    """
    targets = []
    if address := environment.get(settings.webhook_env):
        targets.append(Target(_name(settings.webhook_env, address), "webhook", address))
    for variable in settings.apprise_env:
        targets += [
            Target(_name(variable, address), "apprise", address)
            for address in environment.get(variable, "").split()
        ]
    return targets


def _name(variable: str, address: str) -> str:
    return f"{variable}#{sha256_text(address)[:6]}"


def title_of(notices: Sequence[Notice]) -> str:
    """One line for a subject or a push message."""
    if len(notices) > 1:
        return f"chunk-assets: {len(notices)} notices"
    notice = notices[0]
    state = "recovered" if notice.event == RECOVERED else notice.condition.severity
    return f"chunk-assets: {state}: {notice.condition.name} {notice.condition.batch}".rstrip()


def text_of(notices: Sequence[Notice]) -> str:
    """What failed, where, since when, the worst example, what to do, and a link."""
    paragraphs = [_paragraph(notice) for notice in notices[:SPELT_OUT]]
    if len(notices) > SPELT_OUT:
        paragraphs.append(f"and {len(notices) - SPELT_OUT} more: see pipeline_summary in the UI")
    return "\n\n".join(paragraphs)


def _paragraph(notice: Notice) -> str:
    condition = notice.condition
    since = datetime.fromtimestamp(condition.since, UTC).strftime("%Y-%m-%d %H:%M UTC")
    where = " ".join(part for part in (condition.asset, condition.batch) if part)
    if notice.event == RECOVERED:
        return f"Recovered: {condition.name} on {where} (since {since}). [{notice.key}]"
    lines = [
        f"{condition.severity.upper()}: {condition.name} on {where} since {since}",
        condition.summary,
        f"Worst: {condition.example}" if condition.example else "",
        f"Seen {condition.count} times" if condition.count > 1 else "",
        f"To do: {condition.mend}" if condition.mend else "",
        condition.link,
        f"[{notice.key}]",
    ]
    return "\n".join(line for line in lines if line)
