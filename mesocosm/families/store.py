"""A place beside this machine where episodes and instances are kept: a shared folder, or a bucket of S3.

::

    URL/
      episodes/FOLDER/000000030000007.tar.gz   an episode as it was kept last; the numbers grow
      instances/NAME.tar.gz             a built instance; its name says what it was built from

Whoever may read it may open the episodes and see what is expected of them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar, cast

from mesocosm.errors import MissingExtra, NotNow, UsageError
from mesocosm.worlds.archives import pack, unpack
from mesocosm.worlds.removal import remove
from mesocosm.worlds.workspace import replace_file

KEPT = "kept"
"""The file of an episode that says under which number it was kept last, or was to be."""


class StoreFailed(NotNow):
    """It cannot be written to or read at present."""


class NotPacked(NotNow):
    """A folder cannot be read as a whole, which is its own trouble and not the store's."""


class Superseded(NotNow):
    """Another server has a newer state of the episode."""

    seconds = 1


DEADLINE = 10.0
"""Seconds in which a store has to answer, besides what it takes to carry something large."""
_SLOWEST = 2**20
"""Bytes a second at which that is carried at least."""
_SILENCE = 5.0
"""Seconds for which a store is not asked again that did not answer."""
_MOST_STUCK = 16
"""Requests that may hang beyond their time; then none is made until one of them has ended."""
T = TypeVar("T")
PACKING = ".packing-"
"""Begins the names of files beside a folder that is being packed."""
_FENCE = 10**7
"""Times an episode may be kept under one fence."""


class EpisodeStore:
    """Keeps folders under numbers that grow, and brings them back.

    Args:
        url: As ``fsspec`` has it: ``file:///srv/shared``, ``s3://bucket/path``. Keys come from the
            environment, as the libraries behind it read them.
    """

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ModuleNotFoundError:
            raise MissingExtra("to keep episodes elsewhere", "store") from None
        self.url = url
        try:
            self._fs, self._root = fsspec.url_to_fs(url, use_listings_cache=False)
        except ImportError as error:
            raise MissingExtra(f"to keep episodes at {url} ({error})", "store") from None
        except ValueError as error:
            raise UsageError(f"not a usable store: {url}: {error}") from None
        self._is_local = "file" in self._protocols
        self._silent_until = 0.0
        self._counting = threading.Lock()
        self._waiting = self._stuck = 0
        """Requests that have not come to an end, in threads of their own; those whose time is up."""

    @property
    def waiting(self) -> int:
        """Requests that are not answered yet."""
        return self._waiting

    def _timely(self, ask: Callable[[], T], seconds: float | None = None) -> T:
        """Run a store operation with a timeout, because a remote disk may hang.

        Raises ``TimeoutError`` where it takes too long; then the same is raised at once for some seconds.
        """
        seconds = DEADLINE if seconds is None else seconds
        if self._stuck >= _MOST_STUCK or monotonic() < self._silent_until:
            raise TimeoutError("it does not answer")
        answered: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
        ended = is_late = False

        def run() -> None:
            nonlocal ended
            try:
                answered.put((ask(), None))
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                answered.put((None, error))
            with self._counting:
                ended = True
                self._waiting -= 1
                self._stuck -= is_late

        with self._counting:
            self._waiting += 1
        threading.Thread(target=run, name="store", daemon=True).start()
        try:
            answer, error = answered.get(timeout=seconds)
        except Empty:
            with self._counting:
                is_late = not ended
                self._stuck += is_late
            self._silent_until = monotonic() + _SILENCE
            raise TimeoutError(f"no answer within {seconds:g} seconds") from None
        if error is not None:
            raise error
        return cast(T, answer)

    @property
    def _protocols(self) -> tuple[str, ...]:
        known = self._fs.protocol
        return (known,) if isinstance(known, str) else tuple(known)

    def check(self) -> None:
        """``UsageError`` unless it can be written to."""
        try:
            self._put(f"{self._root}/.ready", b"")
        except StoreFailed as error:
            raise UsageError(str(error)) from None

    # -- episodes ---------------------------------------------------------------------------------------

    def keep(self, folder: Path, fence: int = 0) -> int:
        """Store an episode; no call may be in progress. Returns the copy's number.

        Raises ``Superseded`` where somebody with a higher fence has kept it meanwhile.
        """
        number = max(number_of(folder) + 1, fence * _FENCE)
        try:
            # First: a store may take what it has not answered for, and whoever takes this episode over must
            # not have its folder, in which it has gone on, replaced by that.
            replace_file(folder / KEPT, str(number).encode())
        except OSError as error:
            raise NotPacked(f"{folder.name} cannot be written: {error}") from error
        self._put_folder(self._episode(folder.name, number), folder)
        numbers = self._numbers(folder.name)
        for old in numbers[:-2]:
            self._remove(self._episode(folder.name, old))
        if numbers[-1] > number:
            raise Superseded("the episode was served by another server meanwhile")
        return number

    def bring(self, folder: Path) -> bool:
        """Fetch the latest stored copy of an episode into a folder unless it is as new; true if it did. The
        episode must be closed.
        """
        newest = self._newest(folder.name)
        if not newest or (folder.is_dir() and number_of(folder) >= newest):
            return False
        fresh = folder.with_name(f".{folder.name}.brought")
        self._unpack(self._episode(folder.name, newest), fresh)
        replace_file(fresh / KEPT, str(newest).encode())
        if folder.is_dir():
            remove(folder)
        fresh.rename(folder)
        return True

    def has(self, name: str) -> bool:
        return bool(self._numbers(name))

    def forget(self, name: str) -> None:
        """Keep an episode no longer."""
        if self.names(f"episodes/{name}"):
            self._remove(f"{self._root}/episodes/{name}")

    def _episode(self, name: str, number: int) -> str:
        return f"{self._root}/episodes/{name}/{number:015d}.tar.gz"

    def _newest(self, name: str) -> int:
        return max(self._numbers(name), default=0)

    def _numbers(self, name: str) -> list[int]:
        names = [found.removesuffix(".tar.gz") for found in self.names(f"episodes/{name}")]
        return sorted(int(found) for found in names if found.isdecimal())

    # -- instances --------------------------------------------------------------------------------------

    def bring_instance(self, path: Path) -> bool:
        """Make an instance that was built elsewhere lie at a path; whether there is one."""
        where = f"{self._root}/instances/{path.name}.tar.gz"
        try:
            if not self._timely(lambda: self._fs.exists(where)):
                return False
        except Exception as error:
            raise StoreFailed(f"{self.url} cannot be read: {error}") from error
        self._unpack(where, path)
        return True

    def keep_instance(self, path: Path) -> None:
        """Keep an instance that was built here, for others."""
        self._put_folder(f"{self._root}/instances/{path.name}.tar.gz", path)

    # -- files ------------------------------------------------------------------------------------------

    def names(self, folder: str) -> list[str]:
        """Names of the files of a folder, which need not be there."""
        try:
            found = self._timely(lambda: self._fs.ls(f"{self._root}/{folder}", detail=False))
        except FileNotFoundError:
            return []
        except Exception as error:
            raise StoreFailed(f"{self.url} cannot be read: {error}") from error
        return [str(path).rpartition("/")[2] for path in found]

    def read(self, name: str) -> bytes:
        """Return the content of a file; ``None`` if there is none."""
        try:
            return bytes(self._timely(lambda: self._fs.cat_file(f"{self._root}/{name}")))
        except FileNotFoundError:
            return b""
        except Exception as error:
            raise StoreFailed(f"{self.url} cannot be read: {error}") from error

    def modified(self, name: str) -> float | None:
        """Return a file's time of modification in seconds by the store's clock; ``None`` if there is none."""
        try:
            return float(self._timely(lambda: self._fs.modified(f"{self._root}/{name}")).timestamp())
        except FileNotFoundError:
            return None
        except Exception as error:
            raise StoreFailed(f"{self.url} cannot be read: {error}") from error

    def write(self, name: str, data: bytes) -> None:
        self._put(f"{self._root}/{name}", data)

    def remove(self, name: str) -> None:
        """Remove a file, which need not be there."""
        self._remove(f"{self._root}/{name}")

    def create(self, name: str, data: bytes) -> bool:
        """Write a file that is not there yet; whether it was not."""
        path = f"{self._root}/{name}"
        try:
            if self._is_local:
                self._timely(lambda: _link_new(Path(path), data))
            else:
                self._timely(lambda: self._fs.pipe_file(path, data, mode="create"))
        except FileExistsError:
            return False
        except Exception as error:
            if _is_there_already(error):
                return False
            raise StoreFailed(f"{self.url} cannot be written: {error}") from error
        return True

    def _put(self, path: str, data: bytes) -> None:
        """A file is there whole or not at all."""
        try:
            if self._is_local:
                self._timely(lambda: _write_whole(Path(path), data))
            else:
                self._timely(lambda: self._fs.pipe_file(path, data))
        except Exception as error:
            raise StoreFailed(f"{self.url} cannot be written: {error}") from error

    def _put_folder(self, path: str, folder: Path) -> None:
        """A folder as one file. Raises ``NotPacked`` where the folder is what fails."""
        try:
            with tempfile.NamedTemporaryFile(dir=folder.parent, prefix=PACKING) as packed:
                pack(folder, packed)
                packed.flush()
                self._carry(packed.name, packed.tell(), path)
        except (OSError, tarfile.TarError, ValueError) as error:
            raise NotPacked(f"{folder.name} cannot be packed: {error}") from error

    def _carry(self, source: str, size: int, path: str) -> None:
        seconds = DEADLINE + size / _SLOWEST
        try:
            if self._is_local:
                self._timely(lambda: _copy_whole(source, Path(path)), seconds)
            else:
                self._timely(lambda: self._fs.put_file(source, path), seconds)
        except Exception as error:
            raise StoreFailed(f"{self.url} cannot be written: {error}") from error

    def _remove(self, path: str) -> None:
        try:
            self._timely(lambda: self._fs.rm(path, recursive=True))
        except FileNotFoundError:
            pass
        except Exception as error:
            raise StoreFailed(f"{self.url} cannot be written: {error}") from error

    def _unpack(self, path: str, target: Path) -> None:
        archive = target.with_name(f".{target.name}.{os.getpid()}.archive")
        shutil.rmtree(target, ignore_errors=True)
        try:
            size = self._timely(lambda: self._fs.size(path)) or 0
            self._timely(lambda: self._fs.get_file(path, str(archive)), DEADLINE + size / _SLOWEST)
            unpack(archive, target)
        except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
            raise StoreFailed(f"{self.url} cannot be read: {error}") from error
        finally:
            archive.unlink(missing_ok=True)


def _write_whole(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, data)


def _link_new(path: Path, data: bytes) -> None:
    """A new file that is there whole or not at all; ``FileExistsError`` where there is one."""
    draft = _beside(path)
    try:
        draft.write_bytes(data)
        os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _copy_whole(source: str, path: Path) -> None:
    """Copy a file, which is there whole or not at all."""
    draft = _beside(path)
    try:
        shutil.copyfile(source, draft)
        draft.rename(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _beside(path: Path) -> Path:
    """A name for what is not whole yet, in the same folder, which is made."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")


def _is_there_already(error: Exception) -> bool:
    """True if an object store reports a conflict on creation, which has no exception class of its own."""
    return any(said in str(error) for said in ("pre-condition", "Precondition", "conflicting conditional"))


def number_of(folder: Path) -> int:
    """Under which number what lies in a folder was to be kept last; 0 if it never was."""
    try:
        return int((folder / KEPT).read_text())
    except (FileNotFoundError, ValueError):
        return 0


def mark(folder: Path) -> tuple[Any, ...]:
    """Something else whenever what is to be kept of an episode has changed."""
    world, snapshots = folder / "world", folder / "snapshots"
    names = sorted(os.listdir(snapshots)) if snapshots.is_dir() else []
    journal = [(world / f"journal.db{end}") for end in ("", "-wal")]
    times = [path.stat().st_mtime_ns for path in journal if path.exists()]
    return (world.stat().st_ino, *times, *names)
