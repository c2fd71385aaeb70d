"""The daemon of a home as a process of its own, and what may befall it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil

from chunk_assets.defs.home import instance_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE = 300.0


@dataclass
class Daemon:
    """``dagster-daemon run`` with its code server and runs, for one home."""

    home: Path
    webhook: str
    process: subprocess.Popen[bytes] | None = None
    logs: list[Path] = field(default_factory=list)

    def start(self) -> None:
        log = self.home / f"daemon-{len(self.logs)}.log"
        self.logs.append(log)
        environment = {
            **os.environ,
            "CHUNK_ASSETS_HOME": str(self.home),
            "DAGSTER_HOME": str(instance_folder(self.home)),
            "CHUNK_ASSETS_ALERT_WEBHOOK": self.webhook,
        }
        command = [sys.executable, "-m", "dagster._daemon", "run", "-m", "chunk_assets.definitions"]
        with log.open("wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)

    def family(self) -> list[psutil.Process]:
        """The daemon, its code server, and the runs that they started."""
        assert self.process is not None
        with suppress(psutil.NoSuchProcess):
            parent = psutil.Process(self.process.pid)
            return [parent, *parent.children(recursive=True)]
        return []

    def kill(self, *, alone: bool = False) -> None:
        """SIGKILL to all of it at once, as when a machine loses power, or to the daemon ``alone``."""
        assert self.process is not None
        family = self.family()
        for process in family[:1] if alone else family:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        self.process.wait()

    def kill_run(self) -> bool:
        """SIGKILL to one run alone, as the system does when memory is short; false when none is going on."""
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                parent = process.parent()
                is_run = "spawn_main" in " ".join(process.cmdline())
                if is_run and parent is not None and "grpc" in parent.cmdline():
                    process.send_signal(signal.SIGKILL)
                    return True
        return False

    def said(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in self.logs)[-8000:]

    def until(self, true: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
        """Waits for something to become true while the daemon works."""
        deadline = time.monotonic() + patience
        while not true():
            assert time.monotonic() < deadline, f"never came: {what}\n{self.said()}"
            time.sleep(0.5)
