"""Copies of worlds: snapshots, forks, resets."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from mesocosm.worlds.folders import open_folder
from mesocosm.worlds.limits import settings

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def copy_world(source: Path, target: Path) -> None:
    """Copy a world's directory; nobody may be inside a call on it."""
    target.mkdir(parents=True)
    for entry in sorted(source.iterdir()):
        if entry.is_dir():
            (target / entry.name).mkdir()
            with open_folder(entry) as folder, open_folder(target / entry.name) as copy:
                _copy_folder(folder, copy, settings().workspace_depth)
        elif not entry.name.endswith("-journal") or entry.stat().st_size:
            # A rollback journal with content is what a crash left: the copy needs it to recover.
            shutil.copyfile(entry, target / entry.name)


def _copy_folder(source: int, target: int, depth: int) -> None:
    """Copy what a folder holds, by descriptors: the paths of an agent may be longer than any path may be.

    Pipes, sockets and devices, which code that was cut off by a crash may have left, are no files; folders
    deeper than they may be nested are left behind, too.
    """
    with os.scandir(source) as items:
        entries = sorted(items, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_symlink():
            os.symlink(os.readlink(entry.name, dir_fd=source), entry.name, dir_fd=target)
        elif entry.is_dir(follow_symlinks=False):
            os.mkdir(entry.name, dir_fd=target)
            with open_folder(entry.name, source) as folder, open_folder(entry.name, target) as copy:
                if depth:
                    _copy_folder(folder, copy, depth - 1)
                _copy_status(folder, copy)
        elif entry.is_file(follow_symlinks=False):
            _copy_file(entry.name, source, target)
    _copy_status(source, target)


def _copy_file(name: str, source: int, target: int) -> None:
    opened = os.open(name, _READ, dir_fd=source)
    try:
        copy = os.open(name, _CREATE, 0o600, dir_fd=target)
        try:
            while os.sendfile(copy, opened, None, 1 << 30):
                pass
            _copy_status(opened, copy)
        finally:
            os.close(copy)
    finally:
        os.close(opened)


def _copy_status(source: int, target: int) -> None:
    status = os.fstat(source)
    os.fchmod(target, status.st_mode & 0o7777)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
