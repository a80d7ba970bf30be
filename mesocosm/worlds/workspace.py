"""The workspace: the folder in which the agent's files live, and the only one that its tools may touch.

An agent that runs code of its own can put anything into the folder and change it at any moment, so a path is
never trusted: it is resolved, checked, and then opened folder by folder without following a link, which
leaves no moment in which a link that appears later could lead elsewhere.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal

from mesocosm.errors import Conflict, Denied, Invalid, NotFound, Refusal
from mesocosm.worlds import deadlines
from mesocosm.worlds.descriptors import FOLDER, open_below
from mesocosm.worlds.limits import setting, settings

# Not blocking: opening a pipe must not wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE, _NEW_FOLDER = 0o644, 0o755
LAST_MOMENT = 253_402_300_799
"""The last second that has a date, which is one of the year 9999; files may bear any."""
LONGEST_PATH = 2000
"""Bytes of the path of a file or folder, seen from the workspace: with those of the folders that copies of it
lie in, it is to be a path that the system takes (4096)."""
_PLAIN = re.compile(r"\w[\w .-]{0,50}")
"""Names that are usable in any folder."""


@dataclass(frozen=True)
class FolderEntry:
    """A file or folder as a listing sees it."""

    path: str
    """Relative to the folder that was listed, with ``/`` between its parts."""
    kind: Literal["file", "folder", "other"]
    """``other``: links, pipes, sockets and devices, which the tools do not open."""
    size: int

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Details:
    """Metadata of a file or folder."""

    kind: Literal["file", "folder"]
    size: int
    permissions: int
    modified: datetime | None
    """By the world's clock; ``None`` where code of the agent wrote the file by the machine's clock, or set a
    time that no calendar has."""


@dataclass(frozen=True)
class Below:
    """Extent of a folder's content: its depth, and the bytes of its longest path."""

    height: int
    length: int


_NOTHING = Below(0, 0)


@dataclass(frozen=True)
class FileContent:
    """The bytes of a file, and an identity that changes whenever they may have changed."""

    data: bytes
    identity: tuple[int, ...]


class Workspace:
    """Paths inside one folder; whatever leads out of it is refused.

    Agents name files relative to the workspace, or absolutely below ``/workspace``, which is what they are
    told the folder is called: the real path on the host would differ between runs.

    Args:
        root: The folder.
        linked: Whether its files may have further names outside of it, as they do in a world that is only
            read and shares them with others. Elsewhere such a file is refused.
    """

    ALIAS = "/workspace"

    def __init__(self, root: Path, *, linked: bool = False) -> None:
        self.root = root
        self.linked = linked
        self.about_to_change: Callable[[], None] = lambda: None
        """Called before a tool changes anything here."""
        self._real_root: str | None = None

    # -- paths ------------------------------------------------------------------------------------------

    def resolve(self, name: str) -> Path:
        """The path on disk of what the agent calls ``name``; it need not exist.

        Raises ``Denied`` for a path that leaves the workspace (by ``..``, absolutely, or through a symbolic
        link) and ``Invalid`` for one that cannot name a file.
        """
        if not name or "\0" in name:
            raise Invalid("The path must not be empty or contain a null character.")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise Invalid("The path is not valid Unicode text.") from None
        relative = name
        if name == self.ALIAS or name.startswith(self.ALIAS + "/"):
            relative = name[len(self.ALIAS) :].lstrip("/") or "."
        if PurePosixPath(relative).is_absolute():
            raise Denied(f"Access denied: {name} is outside the workspace {self.ALIAS}.")
        real_root = self._root()
        if relative == ".":
            return Path(real_root)
        normal = os.path.normpath(os.path.join(real_root, relative))
        try:
            os.stat(normal)  # the kernel knows when links are too many, and when a name is too long
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
                raise Invalid(f"Not a usable path: {error.strerror}: {name[:200]}") from None
        try:
            real = os.path.realpath(normal)
        except (OSError, RecursionError):
            raise Invalid(f"Not a usable path: {name[:200]}") from None
        for path in (normal, real):
            if path != real_root and not path.startswith(real_root + os.sep):
                raise Denied(f"Access denied: {name} is outside the workspace {self.ALIAS}.")
        return Path(real)

    def existing_file(self, name: str) -> Path:
        """The path of an existing regular file."""
        path = self.resolve(name)
        try:
            with self._opened(path) as file:
                self._check_regular(path, os.fstat(file))
        except OSError as error:
            raise self._refusal(path, error) from None
        return path

    def shown(self, path: Path) -> str:
        """Return the agent's name of a path on disk."""
        relative = os.path.relpath(path, self._root())
        return self.ALIAS if relative == "." else f"{self.ALIAS}/{visible(relative)}"

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, name: str, limit: int | None = None) -> bytes:
        """All bytes of a regular file; ``Invalid`` if they are more than ``limit``."""
        return self.content(name, limit).data

    def content(self, name: str, limit: int | None = None) -> FileContent:
        """The bytes of a regular file together with their identity."""
        named = " (setting workspace_file_size)" if limit is None else ""
        limit = setting("workspace_file_size") if limit is None else limit
        path = self.resolve(name)
        try:
            with self._opened(path) as file:
                status = os.fstat(file)
                self._check_regular(path, status)
                if status.st_size > limit:
                    raise Invalid(
                        f"{self.shown(path)} has {status.st_size:,} bytes; at most {limit:,} can be read"
                        f"{named}."
                    )
                with os.fdopen(os.dup(file), "rb") as stream:
                    # One more than the limit, because the file may grow while it is read.
                    data = stream.read(limit + 1)[:limit]
        except OSError as error:
            raise self._refusal(path, error) from None
        return FileContent(data, _identity(status))

    def identity(self, name: str) -> tuple[int, ...]:
        """The identity of a regular file, as ``content`` returns it, without reading it."""
        path = self.resolve(name)
        try:
            with self._opened(path) as file:
                status = os.fstat(file)
        except OSError as error:
            raise self._refusal(path, error) from None
        self._check_regular(path, status)
        return _identity(status)

    def details(self, name: str) -> Details:
        """Size, times and permissions of a file or folder."""
        path = self.resolve(name)
        try:
            with self._opened(path) as file:
                status = os.fstat(file)
        except OSError as error:
            raise self._refusal(path, error) from None
        folder = stat.S_ISDIR(status.st_mode)
        if not folder:
            self._check_regular(path, status)
        # The world's moments are whole seconds; what the machine's clock stamps hardly ever is.
        seconds, fraction = divmod(status.st_mtime_ns, 1_000_000_000)
        return Details(
            kind="folder" if folder else "file",
            size=status.st_size,
            permissions=stat.S_IMODE(status.st_mode),
            modified=None if fraction else _moment(seconds),
        )

    def is_folder(self, name: str) -> bool:
        """True if a folder of that name exists."""
        return self.resolve(name).is_dir()

    def exists(self, name: str) -> bool:
        """True if a file, folder or link of that name exists."""
        return os.path.lexists(self.resolve(name))

    def entries(self, name: str = ".") -> list[FolderEntry]:
        """List the content of a folder, sorted by name."""
        path = self.resolve(name)
        try:
            with self._folder(path) as folder:
                return _entries(folder, "")
        except OSError as error:
            raise self._refusal(path, error, kind="folder") from None

    def walk(self, name: str = ".", skip: Callable[[str], bool] | None = None) -> Iterator[FolderEntry]:
        """Everything below a folder, each folder before what it holds, in the order of the names.

        ``skip`` says of a folder, by its relative path, that it shall not be entered.
        """
        path = self.resolve(name)
        try:
            with self._folder(path) as folder:
                yield from _walk(folder, "", skip)
        except OSError as error:
            raise self._refusal(path, error, kind="folder") from None

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every regular file as (name relative to the workspace, path), in the order of the names."""
        for entry in self.walk():
            if entry.kind == "file":
                yield entry.path, self.root / entry.path

    # -- writing ----------------------------------------------------------------------------------------

    def write(self, name: str, data: bytes, moment: datetime | None = None) -> Path:
        """Write a whole file, replacing what was there in one step; creates missing folders.

        ``moment`` is the time that the file shall bear: a store passes its ``now``, because the machine's
        clock would differ between runs. A write that fails leaves nothing behind.
        """
        limit = setting("workspace_file_size")
        if len(data) > limit:
            raise Invalid(
                f"{name} would be {len(data):,} bytes; the limit is {limit:,} bytes "
                "(setting workspace_file_size)."
            )
        path = self._changeable(name)
        self._check_room(path, len(data))
        self._past_return()
        made: list[Path] = []
        try:
            self._make_folders(path.parent, made)
            with self._folder(path.parent) as folder:
                self._check_replaceable(path, folder)
                _replace(folder, path.name, data, moment)
                _stamp(folder, moment)
        except OSError as error:
            self._remove_folders(made)
            raise self._refusal(path, error, doing="write") from None
        except Refusal:
            self._remove_folders(made)
            raise
        return path

    def fill(self, files: Iterable[tuple[str, bytes]], moment: datetime) -> None:
        """Write many files of a world that is being built, without counting all others for each of them."""
        self.fill_dated((name, data, moment) for name, data in files)

    def fill_dated(self, files: Iterable[tuple[str, bytes, datetime]]) -> None:
        """The same with a moment for each file; a folder has that of the last one that was put into it."""
        known: dict[str, tuple[Path, ...]] = {}
        stamps: dict[Path, float] = {}
        for name, data, moment in files:
            stamp = moment.timestamp()
            parent, _, last = name.rpartition("/")
            if parent in known and _PLAIN.fullmatch(last):
                path = known[parent][0] / last
            else:
                path = self.resolve(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                known[parent] = self._folders_of(path)
            with open(path, "wb", buffering=0) as file:
                file.write(data)
                os.utime(file.fileno(), (stamp, stamp))
            stamps |= dict.fromkeys(known[parent], stamp)
        for folder, stamp in stamps.items():
            os.utime(folder, (stamp, stamp))

    def _folders_of(self, path: Path) -> tuple[Path, ...]:
        """The folders that a path lies in, the innermost first and the workspace last."""
        root = Path(self._root())
        return tuple(folder for folder in path.parents if folder.is_relative_to(root))

    def make_folder(self, name: str, moment: datetime | None = None) -> Path:
        """Make sure that a folder exists, with all folders above it."""
        path = self.resolve(name)
        made: list[Path] = []
        try:
            self._check_room(path, 0)
            self._past_return()
            self._make_folders(path, made)
            for folder in (*made, *(first.parent for first in made[:1])):
                with self._folder(folder) as opened:
                    _stamp(opened, moment)
        except OSError as error:
            self._remove_folders(made)
            raise self._refusal(path, error, doing="create", kind="folder") from None
        return path

    def move(self, source: str, destination: str, moment: datetime | None = None) -> None:
        """Give a file or folder another name; ``Conflict`` if that name is taken."""
        old, new = self._changeable(source), self._changeable(destination)
        try:
            with self._folder(old.parent) as origin:
                status = os.stat(old.name, dir_fd=origin, follow_symlinks=False)
                if not stat.S_ISDIR(status.st_mode):
                    self._check_regular(old, status)
                if new == old or new.is_relative_to(old):
                    raise Invalid(
                        f"Cannot move {self.shown(old)} to {self.shown(new)}: it is the same or inside."
                    )
                with self._folder(new.parent) as target:
                    if _exists(new.name, target):
                        raise Conflict(f"The destination already exists: {self.shown(new)}")
                    self._check_depth(new, self._below(old))
                    self._past_return()
                    os.rename(old.name, new.name, src_dir_fd=origin, dst_dir_fd=target)
                    _stamp(target, moment)
                _stamp(origin, moment)
        except OSError as error:
            missing = new.parent if os.path.lexists(old) else old
            raise self._refusal(missing, error, doing="move") from None

    def delete(self, name: str, moment: datetime | None = None) -> None:
        """Remove a file, or an empty folder."""
        path = self._changeable(name)
        try:
            with self._folder(path.parent) as folder:
                status = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
                self._past_return()
                if stat.S_ISDIR(status.st_mode):
                    os.rmdir(path.name, dir_fd=folder)
                else:
                    os.unlink(path.name, dir_fd=folder)
                _stamp(folder, moment)
        except OSError as error:
            raise self._refusal(path, error, doing="delete") from None

    def _past_return(self) -> None:
        self.about_to_change()
        deadlines.past_return()

    # -- how --------------------------------------------------------------------------------------------

    def _root(self) -> str:
        if self._real_root is None:
            self._real_root = os.path.realpath(self.root)
        return self._real_root

    def _changeable(self, name: str) -> Path:
        path = self.resolve(name)
        if str(path) == self._root():
            raise Invalid(f"{self.ALIAS} is the workspace itself, which cannot be replaced or removed.")
        if name.endswith("/") and not path.is_dir():
            raise Invalid(f"{name} names a folder, not a file.")
        return path

    @contextmanager
    def _folder(self, path: Path) -> Iterator[int]:
        """A descriptor of a resolved folder, reached without following any link."""
        root = self._root()
        with open_below(root, path.relative_to(root).parts) as opened:
            yield opened

    @contextmanager
    def _opened(self, path: Path) -> Iterator[int]:
        """A descriptor of a resolved file or folder, for reading."""
        if str(path) == self._root():
            with self._folder(path) as folder:
                yield folder
            return
        with self._folder(path.parent) as folder:
            opened = os.open(path.name, _READ, dir_fd=folder)
        try:
            yield opened
        finally:
            os.close(opened)

    def _make_folders(self, path: Path, made: list[Path]) -> None:
        """Create a folder and those above it, noting in ``made`` which are new."""
        reached = Path(self._root())
        opened = os.open(reached, FOLDER)
        try:
            for part in path.relative_to(reached).parts:
                reached /= part
                fresh = _make_folder(part, opened)
                if fresh:
                    made.append(reached)
                # Raises where something that is not a folder has the name, or got it a moment ago.
                inner = os.open(part, FOLDER, dir_fd=opened)
                os.close(opened)
                opened = inner
                if fresh:
                    os.fchmod(opened, _NEW_FOLDER)  # whatever the umask is
        finally:
            os.close(opened)

    def _remove_folders(self, made: list[Path]) -> None:
        for folder in reversed(made):
            with suppress(OSError), self._folder(folder.parent) as parent:
                os.rmdir(folder.name, dir_fd=parent)

    def _check_regular(self, path: Path, status: os.stat_result) -> None:
        if stat.S_ISDIR(status.st_mode):
            raise Invalid(f"{self.shown(path)} is a directory, not a file.")
        if not stat.S_ISREG(status.st_mode):
            raise Denied(f"{self.shown(path)} is not a regular file.")
        if status.st_nlink > 1 and not self.linked:
            # Its bytes may be those of a file outside of the workspace.
            raise Denied(f"{self.shown(path)} is a hard link, which the tools do not open; copy it first.")

    def _check_replaceable(self, path: Path, folder: int) -> None:
        with suppress(FileNotFoundError):
            self._check_regular(path, os.stat(path.name, dir_fd=folder, follow_symlinks=False))

    def _check_room(self, path: Path, size: int) -> None:
        """Refuse what would make the workspace larger than it may be."""
        total, count = size, 1
        for entry in self.walk():
            total += entry.size
            count += 1
        with suppress(OSError):
            total -= path.lstat().st_size if path.is_file() else 0
        limits = settings()
        if total > limits.workspace_size:
            raise Invalid(
                f"The workspace is full: its files may have {limits.workspace_size:,} bytes together "
                "(setting workspace_size)."
            )
        if count > limits.workspace_entries:
            raise Invalid(
                f"The workspace is full: it may hold {limits.workspace_entries:,} files and folders "
                "(setting workspace_entries)."
            )
        self._check_depth(path)

    def _check_depth(self, path: Path, below: Below = _NOTHING) -> None:
        """Refuse to put a tree where its content would be nested too deeply."""
        place = path.relative_to(self._root())
        if len(os.fsencode(place)) + below.length > LONGEST_PATH:
            raise Invalid(f"The path is too long: it may have {LONGEST_PATH:,} bytes.")
        depth, most = len(place.parts) - 1 + below.height, setting("workspace_depth")
        if depth > most:
            raise Invalid(
                f"{self.shown(path)} lies too deep: folders may be nested {most} deep "
                "(setting workspace_depth)."
            )

    def _below(self, path: Path) -> Below:
        """Measure the content of a file or folder."""
        inside = f"{path.relative_to(self._root()).as_posix()}/"
        below = [entry.path[len(inside) :] for entry in self.walk() if entry.path.startswith(inside)]
        return Below(
            max((rest.count("/") + 1 for rest in below), default=0),
            max((len(os.fsencode(rest)) + 1 for rest in below), default=0),
        )

    def _refusal(self, path: Path, error: OSError, *, doing: str = "read", kind: str = "file") -> Refusal:
        """Translate an operating system error into a refusal for the agent."""
        shown = self.shown(path)
        match error.errno:
            case errno.ENOENT:
                return NotFound(f"No such {'file' if kind == 'file' else 'directory'}: {shown}")
            case errno.ELOOP | errno.EXDEV:
                return Denied(f"Access denied: {shown} is reached through a symbolic link.")
            case errno.ENXIO | errno.ENODEV:
                return Denied(f"{shown} is not a regular file.")
            case errno.ENOTDIR | errno.EEXIST:
                return Invalid(f"Cannot {doing} {shown}: a part of the path is not a directory.")
            case errno.ENOTEMPTY:
                return Conflict(f"Cannot {doing} {shown}: the directory is not empty.")
            case _:
                return Invalid(f"Cannot {doing} {shown}: {error.strerror}.")


def visible(name: str) -> str:
    """A name from the disk as text that can be printed: code may give files names that are not text."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def is_text(name: str) -> bool:
    """True if a name from the disk is valid UTF-8 and so can be sent in results and requests."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old bytes or the new ones and nothing between.

    For files of Mesocosm's own; files of the agent are written with ``Workspace.write``.
    """
    beside = path.with_name(f".{path.name[:80]}.writing")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def keep_for_owner(path: Path, data: bytes) -> None:
    """Write a file of Mesocosm's own that nobody but its owner may read, and that is not there yet."""
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)


def _replace(folder: int, name: str, data: bytes, moment: datetime | None) -> None:
    """Write a file of a folder in one step; whatever has the temporary name is left alone."""
    mode = _NEW_FILE
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    beside, opened = _create_beside(folder)
    try:
        with os.fdopen(opened, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(opened, mode)
            _stamp(opened, moment)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(beside, dir_fd=folder)
        raise


def _create_beside(folder: int) -> tuple[str, int]:
    number = 0
    while True:
        name = f".writing-{number}"
        try:
            return name, os.open(name, _CREATE, _NEW_FILE, dir_fd=folder)
        except FileExistsError:
            number += 1


def _stamp(opened: int, moment: datetime | None) -> None:
    if moment is not None:
        seconds = int(moment.timestamp())
        os.utime(opened, (seconds, seconds))


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _make_folder(name: str, parent: int) -> bool:
    try:
        os.mkdir(name, _NEW_FOLDER, dir_fd=parent)
    except FileExistsError:
        return False
    return True


def _entries(folder: int, prefix: str) -> list[FolderEntry]:
    found = []
    with os.scandir(folder) as items:
        for item in items:
            deadlines.check()
            if item.is_dir(follow_symlinks=False):
                found.append(FolderEntry(prefix + item.name, "folder", 0))
            elif item.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):  # removed by the agent's code a moment ago
                    size = item.stat(follow_symlinks=False).st_size
                    found.append(FolderEntry(prefix + item.name, "file", size))
            else:
                found.append(FolderEntry(prefix + item.name, "other", 0))
    return sorted(found, key=lambda entry: entry.path)


def _walk(folder: int, prefix: str, skip: Callable[[str], bool] | None) -> Iterator[FolderEntry]:
    depth = setting("workspace_depth")
    for entry in _entries(folder, prefix):
        deadlines.check()
        yield entry
        deeper = entry.kind == "folder" and entry.path.count("/") < depth
        if deeper and not (skip and skip(entry.path)):
            try:
                inner = os.open(entry.name, FOLDER, dir_fd=folder)
            except OSError:
                continue  # removed or replaced meanwhile
            try:
                yield from _walk(inner, entry.path + "/", skip)
            finally:
                os.close(inner)


def _moment(seconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _identity(status: os.stat_result) -> tuple[int, ...]:
    # The time of the last change of the inode cannot be set by anybody, unlike the time of modification.
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
