"""Carrying a workspace, and what changes in it, between the server and the code runner.

Neither side trusts what it gets: paths are checked and opened folder by folder without following a link, and
sizes are counted while they come in. Links, and files that cannot be carried (pipes, hard links), never make
the other side open anything outside of the folder.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from mesocosm.sandbox.frames import BadFrame, TooMuch, encode
from mesocosm.sandbox.workspace_handover import leaves
from mesocosm.worlds.descriptors import open_below, open_folder
from mesocosm.worlds.workspace import LAST_MOMENT, is_text

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Identity = tuple[int, ...]
Send = Callable[[bytes], None]


@dataclass(frozen=True)
class TransferItem:
    """A file, folder or link of a workspace, as it was when it was looked at."""

    kind: str
    """``file``, ``folder`` or ``link``."""
    mode: int
    modified: int
    """Nanoseconds; code may give a file a time that no date has, which is cut off."""
    size: int
    target: str
    """Of a link."""
    identity: Identity
    """Differs whenever anything may have changed."""

    def header(self, path: str) -> dict[str, Any]:
        """Return the description of the item for the other side."""
        return {
            "path": path, "is": self.kind, "mode": self.mode, "modified": self.modified, "target": self.target
        }  # fmt: skip


Tree = Mapping[str, TransferItem]


def scan(root: Path, depth: int) -> dict[str, TransferItem]:
    """Everything that can be carried, by path, each folder before what it holds."""
    found: dict[str, TransferItem] = {}
    with open_folder(root) as folder:
        _scan(folder, "", depth, found)
    return found


def _scan(folder: int, prefix: str, depth: int, found: dict[str, TransferItem]) -> None:
    for name in sorted(os.listdir(folder)):
        if not is_text(name):
            continue
        with suppress(OSError):  # code may be at work: what is gone now is seen next time
            item = _item(folder, name)
            if item is None:
                continue
            found[prefix + name] = item
            if item.kind == "folder" and depth > 0:
                with open_folder(name, folder) as inner:
                    _scan(inner, f"{prefix}{name}/", depth - 1, found)


def _item(folder: int, name: str) -> TransferItem | None:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    mode, target = stat.S_IMODE(status.st_mode), ""
    modified = min(max(status.st_mtime_ns, 0), LAST_MOMENT * 10**9)
    if stat.S_ISDIR(status.st_mode):
        # A folder's size and times say what it holds, which is compared by itself.
        return TransferItem("folder", mode, modified, 0, "", (status.st_ino, mode))
    if stat.S_ISLNK(status.st_mode):
        kind, target = "link", os.readlink(name, dir_fd=folder)
    elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        kind = "file"
    else:
        return None
    identity = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, mode)
    return TransferItem(kind, mode, modified, status.st_size, target, identity)


def look(root: Path, path: str) -> TransferItem | None:
    """One of them as it is now."""
    with suppress(OSError), _parent(root, path) as (folder, name):
        return _item(folder, name)
    return None


def digest(root: Path, path: str, item: TransferItem) -> str:
    """The SHA-256 of a file's bytes; reads it only where it may have changed since it was last asked for."""
    return _digest(str(root / path), item.identity)


@lru_cache(maxsize=65_536)
def _digest(path: str, identity: Identity) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read(root: Path, path: str, limit: int) -> bytes | None:
    """Return the bytes of a regular file up to ``limit``; ``None`` otherwise."""
    with suppress(OSError), _parent(root, path) as (folder, name):
        opened = os.open(name, _READ, dir_fd=folder)
        with os.fdopen(opened, "rb") as stream:
            status = os.fstat(opened)
            if stat.S_ISREG(status.st_mode) and status.st_size <= limit:
                return stream.read(status.st_size)
    return None


def changes(root: Path, before: Tree, after: Tree, limit: int) -> Iterator[bytes]:
    """Frames that make the one out of the other, for whom has ``before``."""
    gone = [path for path in before if path not in after or after[path].kind != before[path].kind]
    if gone:
        yield encode("gone", paths=sorted(gone, reverse=True))
    for path in sorted(after):
        item = after[path]
        if path in before and before[path].identity == item.identity:
            continue
        data = read(root, path, limit) if item.kind == "file" else b""
        if data is not None:
            yield encode("put", data, **item.header(path))


class Receiver:
    """Applies frames to a workspace, within limits.

    Args:
        root: The workspace.
        depth: How deep folders may be nested.
        entries: How many frames may come.
        room: How many bytes may come.
        owner: To whom new files are given, where that is not the user of this process.
    """

    def __init__(self, root: Path, depth: int, entries: int, room: int, owner: int | None = None) -> None:
        self._root, self._depth, self._owner = root, depth, owner
        self._entries, self._room = entries, room
        self._folder_times: dict[str, int] = {}

    def take(self, header: Mapping[str, Any], payload: bytes) -> None:
        """Carry out one frame; ``BadFrame`` if it is none that may be sent."""
        if header["kind"] == "gone":
            for path in _texts(header.get("paths")):
                self._count(0)
                self._remove(_checked(path, self._depth))
            return
        self._count(len(payload))
        path = _checked(header.get("path"), self._depth)
        mode, modified, target = header.get("mode"), header.get("modified"), header.get("target")
        if type(mode) is not int or type(modified) is not int or not 0 <= modified <= LAST_MOMENT * 10**9:
            raise BadFrame(f"no mode or time of {path!r}")
        match header.get("is"):
            case "folder":
                self._make_folder(path, mode)
                self._folder_times[path] = modified
            case "file":
                self._write(path, payload, mode & 0o777, modified)
            case "link" if isinstance(target, str) and target and "\0" not in target:
                if not leaves(target, path.count("/")):
                    self._link(path, target)
            case other:
                raise BadFrame(f"{path!r} is {other!r}")

    def finish(self) -> None:
        """Give folders their times, which writing into them has changed."""
        for path, modified in self._folder_times.items():
            with suppress(OSError), open_below(self._root, _parts(path)) as folder:
                os.utime(folder, ns=(modified, modified))
        self._folder_times.clear()

    def _count(self, size: int) -> None:
        self._entries -= 1
        self._room -= size
        if self._entries < 0 or self._room < 0:
            raise TooMuch("more than the workspace may hold")

    def _remove(self, path: str) -> None:
        with suppress(FileNotFoundError, NotADirectoryError), _parent(self._root, path) as (folder, name):
            if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                with suppress(OSError):  # what came into it meanwhile stays, and so does the folder
                    os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)

    def _make_folder(self, path: str, mode: int) -> None:
        with _parent(self._root, path) as (folder, name):
            with suppress(FileExistsError):
                os.mkdir(name, 0o755, dir_fd=folder)
            with open_folder(name, folder) as made:
                self._give(made)
                os.fchmod(made, mode & 0o777)

    def _write(self, path: str, data: bytes, mode: int, modified: int) -> None:
        with _parent(self._root, path) as (folder, name):
            # As another file first: who has the old one open keeps it, and nobody sees half of the new one.
            beside = f".arriving-{secrets.token_hex(8)}"
            opened = os.open(beside, _CREATE, 0o600, dir_fd=folder)
            try:
                with os.fdopen(opened, "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    self._give(opened)
                    os.fchmod(opened, mode)
                    os.utime(opened, ns=(modified, modified))
                os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                os.unlink(beside, dir_fd=folder)
                raise

    def _link(self, path: str, target: str) -> None:
        with _parent(self._root, path) as (folder, name):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            os.symlink(target, name, dir_fd=folder)

    def _give(self, opened: int) -> None:
        if self._owner is not None:
            os.fchown(opened, self._owner, self._owner)


def _checked(path: object, depth: int) -> str:
    if isinstance(path, str) and is_text(path) and "\0" not in path:
        parts = path.split("/")
        if len(parts) <= depth + 1 and not any(part in ("", ".", "..") for part in parts):
            return path
    raise BadFrame(f"not a path in a workspace: {path!r}"[:200])


def _texts(value: object) -> Iterable[object]:
    if not isinstance(value, list):
        raise BadFrame("no list of paths")
    return value


@contextmanager
def _parent(root: Path, path: str) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder in which a path lies, and the name that it has there."""
    above, _, name = path.rpartition("/")
    with open_below(root, _parts(above)) as folder:
        yield folder, name


def _parts(path: str) -> list[str]:
    return path.split("/") if path else []
