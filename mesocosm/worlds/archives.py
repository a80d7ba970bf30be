"""Folders as archives (tar, gzip): packed and unpacked by descriptors, because the paths of an agent may be
longer than any path may be, and may be links by the time they are opened."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mesocosm.worlds.copies import AROUND
from mesocosm.worlds.deadlines import give_way
from mesocosm.worlds.descriptors import FOLDER, open_folder
from mesocosm.worlds.limits import setting

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NANO = 1_000_000_000


def pack(folder: Path, file: IO[bytes], level: int = 1) -> None:
    """Write a folder with all that is in it to an open file. Pipes, sockets and devices are left out, and
    folders deeper than a workspace may have them."""
    with (
        tarfile.open(fileobj=file, mode="w:gz", compresslevel=level, format=tarfile.PAX_FORMAT) as archive,
        open_folder(folder) as opened,
    ):
        _Packing(archive).pack(opened, "", setting("workspace_depth") + AROUND)


class _Packing:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._seen: dict[tuple[int, int], str] = {}
        """Files that have several names, by the one they were packed under."""

    def pack(self, folder: int, prefix: str, depth: int) -> None:
        with os.scandir(folder) as items:
            names = sorted(item.name for item in items)
        for name in names:
            give_way()
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            info = _info(f"{prefix}{name}", status)
            if stat.S_ISLNK(status.st_mode):
                info.type, info.linkname = tarfile.SYMTYPE, os.readlink(name, dir_fd=folder)
                self._archive.addfile(info)
            elif stat.S_ISDIR(status.st_mode):
                info.type = tarfile.DIRTYPE
                self._archive.addfile(info)
                if depth:
                    with open_folder(name, folder) as inner:
                        self.pack(inner, f"{prefix}{name}/", depth - 1)
            elif stat.S_ISREG(status.st_mode):
                self._pack_file(info, name, folder)

    def _pack_file(self, info: tarfile.TarInfo, name: str, folder: int) -> None:
        with os.fdopen(os.open(name, _READ, dir_fd=folder), "rb") as content:
            status = os.fstat(content.fileno())
            if status.st_nlink > 1:
                first = self._seen.setdefault((status.st_dev, status.st_ino), info.name)
                if first != info.name:
                    info.type, info.linkname = tarfile.LNKTYPE, first
                    self._archive.addfile(info)
                    return
            info.size = status.st_size
            self._archive.addfile(info, content)


def _info(name: str, status: os.stat_result) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode = stat.S_IMODE(status.st_mode)
    info.mtime = status.st_mtime_ns / _NANO
    return info


def unpack(path: Path, folder: Path) -> None:
    """Make what was packed lie in a folder that is not there yet."""
    draft = folder.with_name(f".{folder.name}.unpacking")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir()
        with tarfile.open(path) as archive, open_folder(draft) as root:
            _unpack(archive, root)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _unpack(archive: tarfile.TarFile, root: int) -> None:
    folders = []
    for info in archive:
        *above, name = _parts(info.name) or ["."]
        with _made(root, above) as parent:
            if info.isdir():
                folders.append(info)
                with _made(parent, [name]):
                    pass
            elif info.issym():
                os.symlink(info.linkname, name, dir_fd=parent)
            elif info.islnk():
                *elsewhere, first = _parts(info.linkname) or ["."]
                with _made(root, elsewhere) as source:
                    os.link(first, name, src_dir_fd=source, dst_dir_fd=parent, follow_symlinks=False)
            elif info.isreg():
                content = archive.extractfile(info)
                assert content is not None
                with content, os.fdopen(os.open(name, _CREATE, 0o600, dir_fd=parent), "wb") as file:
                    shutil.copyfileobj(content, file, 1 << 20)
                    file.flush()
                    _stamp(info, file.fileno())
    # What is put into a folder changes its time.
    for info in reversed(folders):
        with _made(root, _parts(info.name)) as opened:
            _stamp(info, opened)


def _parts(name: str) -> list[str]:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise tarfile.ReadError(f"{name[:200]!r} leads out of the archive")
    return parts


@contextmanager
def _made(root: int, parts: list[str]) -> Iterator[int]:
    """A descriptor of a folder below another, made if need be; none of the names may be a link."""
    opened = os.dup(root)
    try:
        for part in parts:
            try:
                inner = os.open(part, FOLDER, dir_fd=opened)
            except FileNotFoundError:
                os.mkdir(part, 0o700, dir_fd=opened)
                inner = os.open(part, FOLDER, dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


def _stamp(info: tarfile.TarInfo, opened: int) -> None:
    os.fchmod(opened, info.mode & 0o777)
    seconds = round(info.mtime * _NANO)
    os.utime(opened, ns=(seconds, seconds))
