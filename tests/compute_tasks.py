"""What the tests of the worker processes have them do."""

from __future__ import annotations

import os
import signal
import sys
import time

from chunk_assets.converters.base import Limits
from chunk_assets.records import Converted

LIMITS = Limits(max_seconds=20.0, max_memory_mb=500)
TIGHT = Limits(max_seconds=0.5, max_memory_mb=500)


def square(number: int) -> int:
    return number * number


def pid_of_worker(_: int = 0) -> int:
    return os.getpid()


def hang() -> None:
    while True:
        pass


def sleep_long() -> None:
    time.sleep(60)


def eat_memory() -> int:
    kept = []
    while True:
        kept.append(bytearray(20_000_000))


def claim_address_space() -> int:
    return len(bytearray(50_000_000_000))


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave() -> None:
    os._exit(3)


def complain() -> None:
    raise ValueError("no good\nsecond line")


class Panic(BaseException):
    """What a native library throws past every ``except Exception``."""


def panic() -> None:
    raise Panic("index out of bounds")


def unpicklable() -> object:
    return lambda: None


def chatter() -> str:
    sys.stdout.write("on standard output")
    sys.stdout.flush()
    os.write(1, b"and past Python\n")
    return "fine"


def environment(name: str) -> str | None:
    return os.environ.get(name)


def convert(text: str) -> Converted:
    return Converted(text)


def len_of_zeros(count: int) -> int:
    return len(bytes(bytearray(b"x") * count))
