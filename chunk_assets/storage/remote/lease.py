"""One run at a time on a batch of a home in an object store: a lock object that has to be renewed.

No machine's clock matters: how old a lock is, the store says. A holder that died stops renewing, and after
``seconds`` anybody may take the lock over; a holder that only seemed dead finds out at its next renewal,
and can't publish in any case (see ``home.RemoteHome.batch``).
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from chunk_assets.errors import ConfigurationError, LockHeld, StopRun
from chunk_assets.storage.locks import Owner
from chunk_assets.storage.remote.conditional import Answer, Conflict
from chunk_assets.storage.remote.objects import ObjectStore

POLL_SECONDS = 1.0
# Renewals in the time that a lock lives: three may fail in a row.
BEATS = 4


class Lease:
    """A held lock. ``taken_over``: somebody held it before and did not free it."""

    def __init__(self, store: ObjectStore, key: str, what: str, seconds: float) -> None:
        self._store, self._key, self._what, self._seconds = store, key, what, seconds
        self._token = ""
        self._serial = 0
        self._nonce = secrets.token_hex(8)
        self._owner = Owner.this_process()
        self._renewed = 0.0
        self.ended = threading.Event()
        self._turn = threading.Lock()
        self._threads: list[threading.Thread] = []
        self.lost = False
        self.taken_over = False

    def acquire(self, name: str, wait: float) -> None:
        """Takes the lock.

        Raises:
            LockHeld: somebody else still holds it after ``wait`` seconds.
        """
        self._owner = Owner.this_process(name)
        deadline = time.monotonic() + wait
        while (other := self._try()) is not None:
            if time.monotonic() >= deadline:
                msg = f"{self._what} is locked by {owner_of(other)}; run again when it is done"
                raise LockHeld(msg)
            time.sleep(min(POLL_SECONDS, max(0.0, deadline - time.monotonic())))

    def keep(self, beat: Callable[[], object]) -> None:
        """Renews the lock from now on in a thread, and calls ``beat`` as often in another one.

        Two threads, so that a ``beat`` that takes long does not cost the lock.
        """

        def again(what: Callable[[], object]) -> None:
            while not self.ended.wait(self._seconds / BEATS) and not self.lost:
                what()

        for what in (self._renew, beat):
            self._threads.append(threading.Thread(target=again, args=(what,), daemon=True))
            self._threads[-1].start()

    def check(self) -> None:
        """Refuses to go on without the lock.

        Raises:
            LockHeld: the lock was lost, or could not be renewed for so long that it may be.
        """
        if not self.lost and time.monotonic() - self._renewed < self._seconds:
            return
        if not self.lost:
            self._renew()
        if self.lost:
            there = self._store.get(self._key)
            by = f"; it is locked by {owner_of(there)}" if there and there.data else ""
            msg = f"{self._what}: this run was not heard of for {self._seconds:g} s and lost its lock{by}"
            raise LockHeld(msg)

    def release(self) -> None:
        """Frees the lock, if it is still ours; a store that fails now frees it by time."""
        self.ended.set()
        for thread in self._threads:
            thread.join()
        if self.lost:
            return
        try:
            # An empty object, not a deletion: few stores delete on a condition.
            self._store.put_if(self._key, b"", self._token)
        except (Conflict, StopRun):
            self.lost = True

    def _try(self) -> Answer | None:
        """Takes the lock if it is free or was not renewed in time, else gives what is there."""
        there = self._store.get(self._key)
        if there is not None and is_live(there):
            return there
        self.taken_over = there is not None and bool(there.data)
        try:
            self._put(there.token if there else None)
        except Conflict:
            return self._store.get(self._key)
        return None

    def _renew(self) -> None:
        # One at a time: the thread, or a check just now. When the store fails, the next beat tries again, and
        # ``check`` knows how long ago the last one was.
        with self._turn, suppress(StopRun):
            try:
                self._put(self._token)
            except Conflict:
                there = self._store.get(self._key)
                # Ours after all: the answer to a renewal got lost.
                if there is not None and _read(there).get("nonce") == self._nonce:
                    self._put(there.token)
                else:
                    self.lost = True

    def _put(self, token: str | None) -> None:
        self._serial += 1
        asked = time.monotonic()
        value = {"serial": self._serial, "nonce": self._nonce, "seconds": self._seconds}
        data = json.dumps(asdict(self._owner) | value, sort_keys=True).encode()
        self._token = self._store.put_if(self._key, data, token)
        self._renewed = asked


def is_live(lock: Answer) -> bool:
    """Whether a lock object is held: it names a holder, and was renewed in time by the store's clock."""
    return bool(lock.data) and lock.now - lock.modified <= float(_read(lock).get("seconds", 0.0))


def owner_of(lock: Answer | None) -> str:
    """Who holds a lock, in words."""
    value = _read(lock) if lock is not None else {}
    try:
        return str(Owner(**{name: value[name] for name in ("host", "pid", "since", "name")}))
    except KeyError:
        return "another run that is just starting"


def _read(lock: Answer) -> dict[str, Any]:
    try:
        return dict(json.loads(lock.data or b"{}"))
    except ValueError:
        return {}


def refuse_careless_store(store: ObjectStore, key: str) -> None:
    """Tries whether the store keeps conditions: two writers could not be kept apart without.

    Raises:
        ConfigurationError: it puts what it should refuse.
    """
    first, second = (json.dumps({"probe": secrets.token_hex(8)}).encode() for _ in range(2))
    old = store.put(key, first)
    store.put(key, second)
    kept = 0
    for token in (None, old):
        try:
            store.put_if(key, first, token)
        except Conflict:
            kept += 1
    if kept == 2:
        return
    msg = (
        f"{store.url}: the store puts what its conditions (If-None-Match, If-Match) forbid, so two "
        "runs could publish over each other; use a store that keeps them, or set object_store: "
        "{single_writer: true} if only one process ever writes"
    )
    raise ConfigurationError(msg)
