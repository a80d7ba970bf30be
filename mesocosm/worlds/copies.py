"""Copies of worlds: snapshots, forks, resets."""

# A world is a directory, so fork, snapshot and restore are copies of files (decision 002).

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from mesocosm.worlds.deadlines import give_way
from mesocosm.worlds.descriptors import open_folder
from mesocosm.worlds.limits import setting
from mesocosm.worlds.manifest import MANIFEST

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


AROUND = 8
"""Folders that a workspace lies in, at most, such as ``snapshots/NAME/workspace``."""
SHARED = "shared"
"""Its name in a world says that files of the workspace may have further names in other worlds. It is a second
name of the manifest, because another file would cost as much as all these names."""
STEPS = "steps"
"""The folder of what a world was like before its latest calls; nothing in it is ever changed."""
_FOLDER_SIZE = 4096
"""Bytes that a folder takes on a disk; files that have not changed share theirs, folders cannot."""
_SETTLED = 50_000_000
"""Nanoseconds after which a file that is changed again bears another time."""


def copy_world(source: Path, target: Path, *, sharing_files: bool = False) -> None:
    """Copy a world's directory; nobody may be inside a call on it.

    ``sharing_files``: the copy's files are further names of those of the source, which must not be written
    in place in either. The tools of the workspace replace files and never do; code of an agent may, so
    ``own_files`` comes first.
    """
    target.mkdir(parents=True)
    with os.scandir(source) as items:
        entries = sorted(items, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name == STEPS:
            link_tree(source / STEPS, target / STEPS)
        elif entry.is_dir():
            (link_tree if sharing_files else copy_tree)(source / entry.name, target / entry.name)
        elif entry.name == MANIFEST:
            link_file(entry.path, target / entry.name)
            if sharing_files:
                link_file(entry.path, target / SHARED)
        elif entry.name == SHARED:
            continue
        elif not entry.name.endswith("-journal") or entry.stat().st_size:
            # A rollback journal with content is what a crash left: the copy needs it to recover.
            _copy_file(entry.path, target / entry.name)


def _copy_file(source: str, target: Path) -> None:
    with open(source, "rb", buffering=0) as file, open(target, "xb", buffering=0) as copy:
        while os.sendfile(copy.fileno(), file.fileno(), None, 1 << 30):
            pass


def own_files(world: Path) -> None:
    """Put copies in the place of shared files, one by one: a crash leaves all with the same content."""
    with (
        tempfile.TemporaryDirectory(prefix=".own-", dir=world) as aside,
        open_folder(aside) as drafts,
        open_folder(world / "workspace") as folder,
    ):
        _own_folder(folder, drafts, setting("workspace_depth"))
    (world / SHARED).unlink(missing_ok=True)


def _own_folder(folder: int, drafts: int, depth: int) -> None:
    with os.scandir(folder) as items:
        entries = list(items)
    before = os.fstat(folder)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and depth:
            with open_folder(entry.name, folder) as inner:
                _own_folder(inner, drafts, depth - 1)
        elif entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_nlink > 1:
            Copied().place(entry.name, folder, drafts, "")
            os.rename(entry.name, entry.name, src_dir_fd=drafts, dst_dir_fd=folder)
    _set_status(before, folder)


def link_file(source: str | Path, target: str | Path) -> None:
    """A second name for a file that is never written, only replaced; a copy where that cannot be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy(source, target, follow_symlinks=False)


def link_tree(source: Path, target: Path) -> None:
    """Second names for files that nobody writes; copies where the file system cannot link."""
    target.mkdir()
    with open_folder(source) as folder, open_folder(target) as copy:
        _copy_folder(folder, copy, setting("workspace_depth") + AROUND, _Linked(), "")


def is_within(source: Path, entries: int, size: int) -> bool:
    """True if a folder holds at most ``entries`` and ``size`` bytes. Stops counting at the limit."""
    with open_folder(source) as folder:
        return _is_within(folder, setting("workspace_depth"), [entries, size])


def _is_within(folder: int, depth: int, left: list[int]) -> bool:
    with os.scandir(folder) as items:
        for item in items:
            give_way()
            is_folder = item.is_dir(follow_symlinks=False)
            left[0] -= 1
            left[1] -= _FOLDER_SIZE if is_folder else item.stat(follow_symlinks=False).st_size
            if min(left) < 0:
                return False
            if is_folder and depth:
                with open_folder(item.name, folder) as inner:
                    if not _is_within(inner, depth - 1, left):
                        return False
    return True


class Copied:
    """Successive copies of a folder; unchanged files are not copied again."""

    def __init__(self) -> None:
        self._copies: dict[tuple[int, ...], str] = {}
        self._place = ""
        self.shared = False
        """True while nobody writes into the files: where others add or remove names, nothing changes."""
        self.size = 0
        """Bytes that were copied so far."""

    def begin(self, place: Path) -> None:
        """A further copy is made, which will lie there."""
        self._place = str(place)

    def clear(self) -> None:
        """The copies may be others by now."""
        self._copies.clear()

    def place(self, name: str, source: int, target: int, below: str) -> None:
        """Copy a file of one open folder into another; ``below`` is the path that leads there."""
        opened = os.open(name, _READ, dir_fd=source)
        try:
            status = os.fstat(opened)
            if self._linked(status, target, name):
                return
            copy = os.open(name, _CREATE, 0o600, dir_fd=target)
            try:
                left = status.st_size
                while left > 0 and (sent := os.sendfile(copy, opened, None, 1 << 30)):
                    left -= sent
                _set_status(status, copy)
                self._note(status, copy, f"{below}{name}")
            finally:
                os.close(copy)
        finally:
            os.close(opened)

    def _linked(self, status: os.stat_result, target: int, name: str) -> bool:
        """Link the earlier copy of the file; false if there is none or the file system refuses."""
        copy = self._copies.get(self._identity(status))
        if copy is None:
            return False
        try:
            os.link(copy, name, dst_dir_fd=target)
        except OSError:
            return False
        return True

    def _note(self, status: os.stat_result, copy: int, path: str) -> None:
        """Remember a copy that was made, open as ``copy``, of a file as it was before."""
        self.size += status.st_size
        if not self._place:
            return  # no further copy will be made
        # What was changed a moment ago may change again and bear the same time.
        if self.shared or status.st_ctime_ns < os.fstat(copy).st_ctime_ns - _SETTLED:
            self._copies[self._identity(status)] = f"{self._place}/{path}"

    def _identity(self, status: os.stat_result) -> tuple[int, ...]:
        changed = () if self.shared else (status.st_ctime_ns,)
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, *changed


class _Linked(Copied):
    """Copies that are further names of the files themselves."""

    def place(self, name: str, source: int, target: int, below: str) -> None:
        """A further name; a copy where the file system cannot link."""
        try:
            os.link(name, name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        except OSError:
            super().place(name, source, target, below)


def copy_tree(source: Path, target: Path, copied: Copied | None = None) -> None:
    """Copy a folder of the agent's to a place that is free."""
    target.mkdir()
    with open_folder(source) as folder, open_folder(target) as copy:
        _copy_folder(folder, copy, setting("workspace_depth"), copied or Copied(), "")


def _copy_folder(source: int, target: int, depth: int, copied: Copied, below: str) -> None:
    """Copy what a folder holds, by descriptors: the paths of an agent may be longer than any path may be.

    Pipes, sockets and devices, which code that was cut off by a crash may have left, are no files; folders
    deeper than they may be nested are left behind, too.
    """
    with os.scandir(source) as items:
        entries = sorted(items, key=lambda entry: entry.name)
    for entry in entries:
        give_way()
        if entry.is_symlink():
            os.symlink(os.readlink(entry.name, dir_fd=source), entry.name, dir_fd=target)
        elif entry.is_dir(follow_symlinks=False):
            os.mkdir(entry.name, dir_fd=target)
            copied.size += _FOLDER_SIZE
            with open_folder(entry.name, source) as folder, open_folder(entry.name, target) as copy:
                if depth:
                    _copy_folder(folder, copy, depth - 1, copied, f"{below}{entry.name}/")
                _copy_status(folder, copy)
        elif entry.is_file(follow_symlinks=False):
            copied.place(entry.name, source, target, below)
    _copy_status(source, target)


def _copy_status(source: int, target: int) -> None:
    _set_status(os.fstat(source), target)


def _set_status(status: os.stat_result, target: int) -> None:
    os.fchmod(target, status.st_mode & 0o7777)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
