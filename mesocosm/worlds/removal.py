"""Removing folders of agents, which may take long: a hundred thousand keep a disk busy for a while."""

from __future__ import annotations

import atexit
import os
import secrets
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

from mesocosm.worlds.copies import AROUND
from mesocosm.worlds.deadlines import give_way
from mesocosm.worlds.descriptors import open_folder
from mesocosm.worlds.limits import setting

_AT_ONCE = 2000
"""Files and folders that are removed before the caller goes on."""


class _Remover:
    """Removes large folders one at a time, in separate programs: Python would block others."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Path] = []
        self._thread: threading.Thread | None = None

    def take(self, path: Path) -> None:
        """Remove a folder in some time, at the latest before this process ends by itself."""
        with self._changed:
            self._waiting.append(path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="removing", daemon=True)
                self._thread.start()
                atexit.register(self._thread.join)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    atexit.unregister(threading.current_thread().join)
                    self._thread = None
                    return
                path = self._waiting.pop(0)
            _remove(path)


def _remove(path: Path) -> None:
    subprocess.run(["rm", "-rf", "--", str(path)], check=False, stderr=subprocess.DEVNULL)


def _empty(folder: int, depth: int, left: list[int]) -> bool:
    """Empty an open folder, up to ``left`` entries; true if it is empty afterwards."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if left[0] == 0:
                return False
            left[0] -= 1
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)
                continue
            if not depth:
                return False
            with open_folder(entry.name, folder) as inner:
                if not _empty(inner, depth - 1, left):
                    return False
            os.rmdir(entry.name, dir_fd=folder)
            give_way()
    return True


_remover = _Remover()


def remove(path: Path, *, at_once: bool = False) -> None:
    """Remove a folder that nobody else knows any more. A large one is moved away at once and deleted later,
    unless ``at_once``.

    Should this process be killed before, then who uses the folder around it next has to remove what begins
    with a dot there.
    """
    with suppress(OSError):  # what cannot be looked into, ``rm`` may be able to remove
        with open_folder(path) as folder:
            emptied = _empty(folder, setting("workspace_depth") + AROUND, [_AT_ONCE])
        if emptied:
            path.rmdir()
            return
    if at_once:
        _remove(path)
        return
    doomed = path.with_name(f".{path.name.lstrip('.')}.{secrets.token_hex(8)}.gone")
    path.rename(doomed)
    _remover.take(doomed)
