"""The workspace before, while and after code of the agent has it.

The code may leave anything behind, and other code of it may still be running: nothing here follows a link,
and no depth, name or number of files is trusted.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from mesocosm.sandbox.jobs import JobLimits
from mesocosm.worlds.deadlines import give_way
from mesocosm.worlds.descriptors import open_folder
from mesocosm.worlds.limits import settings
from mesocosm.worlds.workspace import LAST_MOMENT, LONGEST_PATH, is_text, visible

_ANY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o755
RESERVE_BYTES = 512 * 1024 * 1024
"""Free disk space below which writing jobs are ended, whoever filled the disk."""
_SHOWN = 10
"""Number of removed or renamed files are named."""


class _TooMuch(Exception):
    """There is more than any limit allows; counting on would take long."""


def usage(workspace: Path, depth: int) -> tuple[int, int]:
    """Bytes and number of the files and folders; infinite where they are nested too deeply."""
    counted = [0, 0]
    try:
        os.chmod(workspace, _MODE)
        with open_folder(workspace) as folder:
            _count(folder, depth, counted)
    except _TooMuch:
        return sys.maxsize, sys.maxsize
    except OSError:
        pass  # the code is at work: what is gone now is seen next time
    return counted[0], counted[1]


def _count(folder: int, room: int, counted: list[int]) -> None:
    for name, status in _listed(folder):
        # A file may take room without being that long, and be long without taking room yet.
        counted[0] += max(0 if stat.S_ISDIR(status.st_mode) else status.st_size, status.st_blocks * 512)
        counted[1] += 1
        if stat.S_ISDIR(status.st_mode):
            if room <= 0:
                raise _TooMuch
            # What cannot be entered cannot be counted.
            _make_usable(folder, name, status, 0o700)
            with suppress(OSError), open_folder(name, folder) as inner:
                _count(inner, room - 1, counted)


def bounded(limits: JobLimits, workspace: Path, built: Path | None = None) -> JobLimits:
    """The limits of a job in a workspace, which may always be as large as it was ``built``.

    In one that is over its limit nothing can be written, so that runs cannot make it larger one by one; what
    is in it can be removed.
    """
    first_bytes, first_count = usage(built, limits.workspace_depth) if built else (0, 0)
    total, count = usage(workspace, limits.workspace_depth)
    allowed = replace(
        limits,
        workspace_bytes=max(limits.workspace_bytes, first_bytes),
        workspace_entries=max(limits.workspace_entries, first_count),
    )
    over = total > allowed.workspace_bytes or count > allowed.workspace_entries
    return replace(allowed, full=over)


class WorkspaceQuota:
    """Detects that a workspace exceeds its limits; one that was too large before may shrink."""

    def __init__(self, workspace: Path, limits: JobLimits) -> None:
        self._workspace = workspace
        self._depth = limits.workspace_depth
        total, count = usage(workspace, self._depth)
        self._bytes, self._count = max(total, limits.workspace_bytes), max(count, limits.workspace_entries)

    def exceeded(self, unseen: int) -> bool:
        """True if the quota is exceeded; ``unseen`` is the size of deleted files that are still open."""
        total, count = usage(self._workspace, self._depth)
        if total + unseen > self._bytes or count > self._count:
            return True
        disk = os.statvfs(self._workspace)
        return disk.f_bavail * disk.f_frsize < RESERVE_BYTES


def hand_over(workspace: Path, owner: int) -> None:
    """Give everything in the workspace to the user under whom code runs (needs root)."""
    with open_folder(workspace) as folder:
        os.fchown(folder, owner, owner)
        _give(folder, owner, settings().workspace_depth)


def _give(folder: int, owner: int, room: int) -> None:
    for name, status in _listed(folder):
        if status.st_uid != owner or status.st_gid != owner:
            with suppress(FileNotFoundError):
                os.chown(name, owner, owner, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode) and room > 0:
            with suppress(OSError), open_folder(name, folder) as inner:
                _give(inner, owner, room - 1)


def tidy(workspace: Path, moment: datetime | None = None, depth: int | None = None) -> tuple[str, ...]:
    """Remove from a workspace what tools, copies and graders must not meet; returns what was removed.

    Removed are links that lead out of it, hard links, pipes, sockets, devices, folders nested more than
    ``depth`` deep, and what has a path that copies of the workspace could not hold. What has a name that is
    not UTF-8, which no result could bear, is given one that is. What the code made unreadable becomes
    readable to its owner again, and what the machine's clock stamped gets the time ``moment``, so that
    listings are the same whenever the code is run.
    """
    os.chmod(workspace, _MODE)
    with open_folder(workspace) as folder:
        task = _Tidying(folder, moment, settings().workspace_depth if depth is None else depth)
        task.tidy(folder, "", 0)
        task.stamp(folder)
    hidden = len(task.remarks) - _SHOWN
    more = [f"... and {hidden} more files were removed or renamed"] if hidden > 0 else []
    return (*task.remarks[:_SHOWN], *more)


class _Tidying:
    def __init__(self, root: int, moment: datetime | None, limit: int) -> None:
        self.root = root
        self.remarks: list[str] = []
        self._limit = limit
        self._number = 1
        self._seconds = int(moment.timestamp()) if moment else None

    def tidy(self, folder: int, prefix: str, depth: int) -> None:
        listed = _listed(folder)
        taken = {name for name, _ in listed}
        for name, status in listed:
            if reason := self._reason_to_remove(name, status, folder, prefix, depth):
                self._remove(folder, name, status)
                self.remarks.append(f"Removed from the workspace: {visible(prefix + name)[:200]} ({reason})")
                continue
            if not is_text(name):
                name = self._rename(folder, name, prefix, taken)
            if stat.S_ISDIR(status.st_mode):
                _make_usable(folder, name, status, 0o700)
                with suppress(OSError), open_folder(name, folder) as inner:
                    self.tidy(inner, f"{prefix}{name}/", depth + 1)
                    self.stamp(inner)
            else:
                if stat.S_ISREG(status.st_mode):
                    _make_usable(folder, name, status, 0o600)
                self._stamp(folder, name, status)

    def _remove(self, folder: int, name: str, status: os.stat_result) -> None:
        with suppress(OSError):
            if stat.S_ISDIR(status.st_mode):
                _remove_tree(self.root, folder, name)
            else:
                os.unlink(name, dir_fd=folder)

    def _stamp(self, folder: int, name: str, status: os.stat_result) -> None:
        if self._seconds is not None and _is_ours(status):
            with suppress(OSError):
                times = (self._seconds, self._seconds)
                os.utime(name, times, dir_fd=folder, follow_symlinks=False)

    def stamp(self, folder: int) -> None:
        """Stamp an open folder."""
        if self._seconds is not None and _is_ours(os.fstat(folder)):
            os.utime(folder, (self._seconds, self._seconds))

    def _reason_to_remove(
        self, name: str, status: os.stat_result, folder: int, prefix: str, depth: int
    ) -> str | None:
        if len(os.fsencode(prefix + name)) > LONGEST_PATH:
            return f"the path has more than {LONGEST_PATH:,} bytes"
        if stat.S_ISDIR(status.st_mode):
            return f"nested more than {self._limit} folders deep" if depth >= self._limit else None
        if stat.S_ISREG(status.st_mode):
            return "hard link" if status.st_nlink > 1 else None
        if not stat.S_ISLNK(status.st_mode):
            return "not a regular file"
        try:
            target = os.readlink(name, dir_fd=folder)
        except OSError:
            return None
        outside = leaves(target, depth) or not is_text(target)
        return "link that leaves the workspace" if outside else None

    def _rename(self, folder: int, name: str, prefix: str, taken: set[str]) -> str:
        """Give a file a name that is text: ``%FF`` for each byte that is none."""
        plain = re.sub(r"[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:02X}", name)
        plain = fresh = plain.encode()[:240].decode("utf-8", "ignore")
        while fresh in taken:
            self._number += 1
            fresh = f"{plain}-{self._number}"
        taken.add(fresh)
        with suppress(OSError):
            os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=folder)
        old, new = visible(prefix + name)[:200], visible(fresh)
        self.remarks.append(f"Renamed in the workspace: {old} to {new} (the name was not UTF-8)")
        return fresh


def _is_ours(status: os.stat_result) -> bool:
    """True if a time is from the machine's clock or invalid. Times of the world are whole seconds."""
    return status.st_mtime_ns % 10**9 != 0 or not 0 <= status.st_mtime_ns <= LAST_MOMENT * 10**9


def leaves(target: str, depth: int) -> bool:
    """True if a link leads outside. ``..`` is allowed only at its start, where no other link can redirect
    it.
    """
    parts = [part for part in target.split("/") if part not in ("", ".")]
    rising = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
    return target.startswith("/") or rising > depth or ".." in parts[rising:]


def _make_usable(folder: int, name: str, status: os.stat_result, needed: int) -> None:
    mode = stat.S_IMODE(status.st_mode)
    wanted = (mode | needed) & 0o777
    if mode == wanted:
        return
    with suppress(OSError):
        # Through a descriptor, because changing the mode by name would follow a link put there meanwhile.
        opened = os.open(name, _ANY, dir_fd=folder)
        try:
            if not stat.S_ISLNK(os.fstat(opened).st_mode):
                os.chmod(f"/proc/self/fd/{opened}", wanted)
        finally:
            os.close(opened)


def _remove_tree(root: int, folder: int, name: str) -> None:
    """Remove a folder of any depth: each folder in it is first moved up to the root of the workspace."""
    waiting = [_lifted(root, folder, name)]
    while waiting:
        current = waiting.pop()
        with suppress(OSError):
            _make_usable(root, current, os.stat(current, dir_fd=root, follow_symlinks=False), 0o700)
            with open_folder(current, root) as opened:
                for inner, status in _listed(opened):
                    if stat.S_ISDIR(status.st_mode):
                        _make_usable(opened, inner, status, 0o700)
                        waiting.append(_lifted(root, opened, inner))
                    else:
                        os.unlink(inner, dir_fd=opened)
            os.rmdir(current, dir_fd=root)


def _lifted(root: int, folder: int, name: str) -> str:
    fresh = f".removed-{secrets.token_hex(16)}"
    os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=root)
    return fresh


def _listed(folder: int) -> list[tuple[str, os.stat_result]]:
    found = []
    with os.scandir(folder) as items:
        for item in items:
            give_way()
            with suppress(FileNotFoundError):  # removed meanwhile
                found.append((item.name, item.stat(follow_symlinks=False)))
    return sorted(found, key=lambda pair: pair[0])
