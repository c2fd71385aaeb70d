"""Errors, grouped by what the pipeline does with them.

A ``StopRun`` ends the command, a ``DocumentFailure`` becomes a row with a status and a reason,
a ``Retry`` may be tried again in the same run.
"""

from __future__ import annotations

from collections.abc import Iterable


class ChunkAssetsError(Exception):
    """Base of every error this package raises on purpose."""


class StopRun(ChunkAssetsError):
    """The command or run can't go on. ``exit_code`` is what the command line ends with."""

    exit_code = 2


class ConfigurationError(StopRun):
    """A setting, catalog entry or argument is wrong; the message names value and known choices."""


class LockHeld(StopRun):
    """Another run works on the same batch; the message names its owner."""

    exit_code = 3


class SourceUnavailable(StopRun):
    """A source could not be listed completely, so nothing about it may be concluded."""

    exit_code = 1


class MassDeletion(StopRun):
    """A listing shrank by more than the guard allows; no deletion was applied."""

    exit_code = 1


class BudgetReached(StopRun):
    """The token budget of this run would be exceeded; what is done is kept."""

    exit_code = 1


class DocumentFailure(ChunkAssetsError):
    """One document can't be used. It becomes a row, its neighbours go on.

    ``status`` is one of ``records.DOCUMENT_STATUSES`` other than ``ok``; ``reason`` is one sentence
    for a person, with the value and the limit where there is one.
    """

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason

    def __reduce__(self) -> tuple[type[DocumentFailure], tuple[str, str]]:
        return type(self), (self.status, self.reason)


class Retry(ChunkAssetsError):
    """A passing fault (network, rate limit); the caller may try again after ``after`` seconds."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


def unknown(kind: str, value: object, known: Iterable[str]) -> ConfigurationError:
    """The one form in which an unknown name is reported.

    >>> str(unknown("strategy", "magic", ["row", "fixed"]))
    "unknown strategy 'magic'; known: fixed, row"
    """
    return ConfigurationError(f"unknown {kind} {value!r}; known: {', '.join(sorted(known))}")
