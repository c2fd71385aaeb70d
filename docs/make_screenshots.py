"""Makes the pictures of docs/images anew: runs the browser tests, which look at each page anyway.

    python docs/make_screenshots.py [FOLDER]

Needs Chromium at /usr/bin/chromium. Look at the pictures before you keep them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """The exit code of the tests; the pictures are in the folder all the same."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "tests/ui", "tests/report"]
    environment = {**os.environ, "CHUNK_ASSETS_SCREENSHOTS": str(folder)}
    code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    for path in sorted(folder.glob("*.png")):
        sys.stdout.write(f"{path.name}: {path.stat().st_size // 1024} kB\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
