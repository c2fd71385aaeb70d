"""Homes in an object store: which folder of this machine stands for which URL.

Work is done on files, so a home on ``s3://`` has a working folder on each machine that works on it. The
folder says by a file which URL it stands for: every process that is given the folder knows it, too.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

URL = re.compile(r"[a-z][a-z0-9+.-]+://")
CACHE_VARIABLE = "CHUNK_ASSETS_CACHE"
ORIGIN_FILE = ".origin"


def working_folder(url: str) -> Path:
    """The folder that stands for a home's URL on this machine; it is a cache that may be deleted.

    It lies in ``$CHUNK_ASSETS_CACHE``, else in ``chunk-assets`` below the user's cache folder.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chunk-assets"
    name = re.sub(r"[^a-z0-9]+", "-", url.split("://", 1)[1].lower()).strip("-")[-40:]
    return (
        Path(chosen) if chosen else cache
    ).resolve() / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"


def local_home(home: str | Path) -> str:
    """The folder to work in: the home itself, or the working folder of a URL, made when there is none."""
    text = str(home).rstrip("/") or "/"
    if not URL.match(text):
        return text
    folder = working_folder(text)
    if origin_of(folder) != text:
        folder.mkdir(parents=True, exist_ok=True)
        replace_text(folder / ORIGIN_FILE, text)
    return str(folder)


def origin_of(home: str | Path) -> str:
    """The URL that a folder stands for; empty for a home that is that folder."""
    try:
        return Path(home, ORIGIN_FILE).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def replace_text(path: Path, text: str) -> None:
    """Writes a small file at one moment; two processes that write the same one don't meet."""
    unfinished = path.with_name(f".tmp-{os.getpid()}-{path.name}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
