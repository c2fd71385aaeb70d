"""Names, sizes and versions of the files under a path, local or behind an fsspec URL."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chunk_assets.catalog.origin import URL
from chunk_assets.errors import SourceUnavailable
from chunk_assets.sources.remote import walk_remote

METADATA_FILE = "metadata.csv"
SIDECAR_SUFFIX = ".meta.yaml"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file. ``version`` changes whenever the content may have.

    It is the ETag, or size, time of modification and time of the last change: the latter is the system's
    own, so that a file whose time was set back after an edit is read again. ``outside`` marks a symbolic
    link that leads out of the source's folder: whoever may write there could show any file of the machine.
    """

    relative_path: str
    location: str
    size_bytes: int
    version: str
    outside: bool = False


def walk(
    root: str, storage_options: Mapping[str, Any], *, follow_links: bool = False
) -> tuple[list[Entry], list[str]]:
    """All files below ``root`` sorted by relative path, and what could not be listed.

    With ``follow_links`` no link counts as leading outside.

    Raises:
        SourceUnavailable: the root itself can't be listed.
    """
    problems: list[str] = []
    fence = None if follow_links else Path(root).resolve()
    found = _remote(root, storage_options) if URL.match(root) else _local(root, fence, problems)
    return sorted(found, key=lambda entry: entry.relative_path), problems


def _local(root: str, fence: Path | None, problems: list[str]) -> Iterator[Entry]:
    if not Path(root).is_dir():
        msg = f"folder {root} is not there or not readable; is it mounted?"
        raise SourceUnavailable(msg)
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as items:
                for item in items:
                    if item.is_dir(follow_symlinks=False):
                        folders.append(item.path)
                    else:
                        yield from _local_file(item, root, fence)
        except OSError as error:
            if folder == root:
                msg = f"folder {root} can't be listed: {error.strerror}"
                raise SourceUnavailable(msg) from error
            problems.append(f"folder {folder} can't be listed: {error.strerror}")


def _local_file(item: os.DirEntry[str], root: str, fence: Path | None) -> Iterator[Entry]:
    """A regular file, also behind a symbolic link; links to folders, sockets and pipes are none."""
    try:
        facts = item.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return  # gone between listing and looking, or a link to nowhere or to itself
        raise
    if stat.S_ISREG(facts.st_mode):
        yield Entry(
            readable(item.path[len(root.rstrip("/")) + 1 :]),
            item.path,
            facts.st_size,
            f"{facts.st_size}-{facts.st_mtime_ns}-{facts.st_ctime_ns}",
            outside=fence is not None
            and item.is_symlink()
            and not Path(item.path).resolve().is_relative_to(fence),
        )


def moved_version(version: str) -> str:
    """The part of a version that stays when a file is moved: a move counts as a change of the file."""
    local = re.fullmatch(r"(\d+-\d+)-\d+", version)
    return local[1] if local else version


def readable(path: str) -> str:
    """A path as text that any table can hold: bytes that are not UTF-8 become backslash escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _remote(root: str, storage_options: Mapping[str, Any]) -> Iterator[Entry]:
    for relative, location, facts in walk_remote(root, storage_options):
        yield Entry(relative, location, int(facts["size"]), _remote_version(facts))


def _remote_version(facts: Mapping[str, Any]) -> str:
    for key in ("ETag", "etag", "md5Hash", "content_md5", "checksum"):
        if facts.get(key):
            return str(facts[key]).strip('"')
    changed = next(
        (facts[key] for key in ("LastModified", "last_modified", "mtime", "updated") if facts.get(key)), ""
    )
    return f"{facts['size']}-{changed}"
