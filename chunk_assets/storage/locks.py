"""One run at a time on a batch: a lock that says who holds it and dies with its holder.

The kernel frees an ``flock`` when its process ends, however it ends, so no lock can be stale and no
time-out has to be guessed. Shared folders on NFS pass it on to the server.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from chunk_assets.errors import LockHeld
from chunk_assets.storage.files import writing

POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a lock. ``since`` is UTC, to the second; ``name`` is free text such as a run id."""

    host: str
    pid: int
    since: str
    name: str = ""

    @classmethod
    def this_process(cls, name: str = "") -> Owner:
        """The owner that this process is from now on."""
        since = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(socket.gethostname(), os.getpid(), since, name)

    def __str__(self) -> str:
        by = f" ({self.name})" if self.name else ""
        return f"process {self.pid} on {self.host}{by} since {self.since}"


@contextmanager
def hold(path: Path, what: str, *, name: str = "", wait: float = 0.0) -> Iterator[None]:
    """Holds the lock file ``path`` while the block runs; ``what`` is the thing that it protects.

    Raises:
        LockHeld: somebody else still holds it after ``wait`` seconds.
    """
    deadline = time.monotonic() + wait
    while (descriptor := _try(path)) is None:
        if time.monotonic() >= deadline:
            owner = holder(path) or "another run that is just starting"
            msg = f"{what} is locked by {owner}; run again when it is done"
            raise LockHeld(msg)
        time.sleep(POLL_SECONDS)
    try:
        with writing(path):
            os.write(descriptor, json.dumps(asdict(Owner.this_process(name))).encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def share(path: Path, what: str, *, alone: bool = False) -> Iterator[None]:
    """Holds a lock that many may hold at once, or (``alone``) one and nobody else; its file stays.

    Raises:
        LockHeld: somebody holds it in a way that excludes this one.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        msg = f"{what} is in use by another process; run again when it is done"
        raise LockHeld(msg) from error
    finally:
        os.close(descriptor)


def holder(path: Path) -> Owner | None:
    """Who holds the lock, as far as the file tells; ``None`` when nobody does or it can't be read."""
    try:
        return Owner(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def is_held(path: Path) -> bool:
    """Whether some process holds the lock right now."""
    if not path.exists():
        return False
    descriptor = _try(path)
    if descriptor is None:
        return True
    path.unlink(missing_ok=True)
    os.close(descriptor)
    return False


def held_below(folder: Path) -> list[tuple[str, Owner | None]]:
    """Every lock below a folder that is held: its name and its owner."""
    paths = sorted(folder.rglob("*.lock")) if folder.is_dir() else []
    return [(path.relative_to(folder).as_posix(), holder(path)) for path in paths if is_held(path)]


def _try(path: Path) -> int | None:
    """A descriptor of the locked file, or ``None`` when somebody else has it."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The holder before us may have removed the name between our open and our lock.
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            os.ftruncate(descriptor, 0)
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None
