"""The few operations on files that everything else is made of; each is atomic or safe to repeat."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from chunk_assets.errors import StopRun

TEMPORARY = ".tmp-"
RENAME_EXCHANGE = 2
AT_FDCWD = -100
_TARGET_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)


@contextmanager
def writing(what: object) -> Iterator[None]:
    """Turns a full, read-only or broken disk into one sentence.

    Raises:
        StopRun: names ``what``, the cause, and that published tables are as they were.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _TARGET_FAULTS:
            raise
        cause = os.strerror(error.errno).lower()
        msg = (
            f"can't write {what}: {cause}; the published tables are unchanged, run again when that is mended"
        )
        raise StopRun(msg) from error


def temporary(path: Path) -> Path:
    """A name beside ``path`` for a file that is not finished; unique among live processes.

    It has another ending, so that no reader's ``*.parquet`` takes it up.
    """
    return path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}.unfinished")


def write_atomic(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Replaces the content of ``path`` at one moment; ``durable`` also survives a power cut."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = temporary(path)
        try:
            with unfinished.open("wb") as file:
                file.write(data)
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def read_if_there(path: Path) -> bytes | None:
    """The content of a file, or ``None`` when there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def link(existing: Path, path: Path) -> None:
    """Makes ``path`` another name of ``existing``, replacing what was there at one moment.

    Copies where the file system has no links.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = temporary(path)
        unfinished.unlink(missing_ok=True)
        try:
            os.link(existing, unfinished)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOSPC):
                raise
            shutil.copy2(existing, unfinished)
        unfinished.replace(path)
        # Renaming one link of a file over another one leaves both: POSIX says so.
        unfinished.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Removes a file, and the folders above it that become empty, as far as Hive folders go."""
    with writing(path):
        path.unlink(missing_ok=True)
        for folder in path.parents:
            if "=" not in folder.name:
                return
            try:
                folder.rmdir()
            except OSError:
                return


def remove_tree(path: Path) -> None:
    """Removes a folder and all in it, if it is there."""
    with writing(path), suppress(FileNotFoundError):
        shutil.rmtree(path)


@cache
def _renameat2() -> Any | None:
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None


def exchange(one: Path, other: Path) -> bool:
    """Swaps two folders at one moment. ``False``: this system or file system can't.

    Linux ``renameat2(RENAME_EXCHANGE)``; on ext4, xfs, btrfs and tmpfs.
    """
    function = _renameat2()
    if function is None:
        return False
    with writing(one):
        if function(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) == 0:
            return True
        code = ctypes.get_errno()
        if code in (errno.EINVAL, errno.ENOSYS, errno.EXDEV, errno.ENOTSUP):
            return False
        raise OSError(code, os.strerror(code), str(one))
