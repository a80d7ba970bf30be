"""The workspace: the folder in which the agent's files live, and the only one that its tools may touch."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mesocosm.errors import Denied, Invalid, NotFound

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Largest file that a tool may write."""


class Workspace:
    """Paths inside one folder; whatever leads out of it is refused.

    Agents name files relative to the workspace, or absolutely below ``/workspace``, which is what they are
    told the folder is called: the real path on the host would differ between runs.
    """

    ALIAS = "/workspace"

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root: str | None = None

    def resolve(self, name: str) -> Path:
        """The path on disk of what the agent calls ``name``; it need not exist.

        Raises ``Denied`` for a path that leaves the workspace (by ``..``, absolutely, or through a symbolic
        link) and ``Invalid`` for one that cannot name a file.
        """
        if not name or "\0" in name:
            raise Invalid("The path must not be empty or contain a null character.")
        relative = name
        if name == self.ALIAS or name.startswith(self.ALIAS + "/"):
            relative = name[len(self.ALIAS) :].lstrip("/") or "."
        if PurePosixPath(relative).is_absolute():
            raise Denied(f"Access denied: {name} is outside the workspace {self.ALIAS}.")
        if self._real_root is None:
            self._real_root = os.path.realpath(self.root)
        real_root = self._real_root
        normal = os.path.normpath(os.path.join(real_root, relative))
        try:
            real = os.path.realpath(normal)
        except OSError as error:
            raise Invalid(f"Not a usable path: {name}") from error
        for path in (normal, real):
            if path != real_root and not path.startswith(real_root + os.sep):
                raise Denied(f"Access denied: {name} is outside the workspace {self.ALIAS}.")
        return Path(real)

    def existing_file(self, name: str) -> Path:
        """The path of an existing regular file."""
        path = self.resolve(name)
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            raise NotFound(f"No such file: {self.shown(path)}") from None
        except OSError as error:
            raise Invalid(f"Cannot read {name}: {error.strerror}") from None
        if stat.S_ISDIR(mode):
            raise Invalid(f"{self.shown(path)} is a directory, not a file.")
        if not stat.S_ISREG(mode):
            raise Denied(f"{self.shown(path)} is not a regular file.")
        return path

    def shown(self, path: Path) -> str:
        """How the agent knows a path on disk."""
        root = os.path.realpath(self.root)
        relative = os.path.relpath(path, root)
        return self.ALIAS if relative == "." else f"{self.ALIAS}/{relative}"

    def write(self, name: str, data: bytes) -> Path:
        """Write a whole file, replacing what was there in one step; creates missing folders."""
        if len(data) > MAX_FILE_BYTES:
            raise Invalid(f"{name} would be {len(data):,} bytes; the limit is {MAX_FILE_BYTES:,} bytes.")
        path = self.resolve(name)
        if path.is_dir():
            raise Invalid(f"{self.shown(path)} is a directory, not a file.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, data)
        except OSError as error:
            raise Invalid(f"Cannot write {name}: {error.strerror}") from None
        return path

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every regular file as (name relative to the workspace, path), in the order of the names."""
        for folder, subfolders, names in os.walk(self.root):
            subfolders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(self.root).as_posix(), path


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old bytes or the new ones and nothing between."""
    beside = path.with_name(f".{path.name[:80]}.writing")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
