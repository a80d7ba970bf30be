"""The latest steps of a world: what each call changed, as it was before, so that the world can go back.

::

    steps/
      from             number of the call from which on everything is kept
      12.email         what call 12 changed of email.db: SQLite's rollback journal of its transaction
      14.files/        the workspace as it was before call 14
      to               only while the world goes back: to which call

Before SQLite changes a page it writes down the former one, so that it can undo the transaction; that file is
kept beyond the transaction. So a step costs what it changed, whatever the size of the world, and to go back
needs no call to be made again. https://www.sqlite.org/fileformat2.html#the_rollback_journal

Only worlds that have the folder keep steps: those of episodes, not those that are built, proven or judged.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mesocosm.worlds.copies import STEPS, Copied, copy_tree, is_within, link_file
from mesocosm.worlds.limits import setting
from mesocosm.worlds.removing import remove
from mesocosm.worlds.workspace import replace_file

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8sIIIII")
_WORKSPACE = "workspace"
_FILES = "workspace-files"


@dataclass(frozen=True)
class _Kept:
    """A file's state before a call changed it."""

    seq: int
    path: Path
    size: int
    """Bytes, as far as nothing else that is kept has them, too."""

    @property
    def service(self) -> str | None:
        """The service whose file it is; none for the workspace."""
        kind = self.path.name.partition(".")[2]
        return None if kind == _FILES else kind

    def remove(self) -> None:
        """Forget it."""
        if self.service is None:
            shutil.rmtree(self.path)
        else:
            self.path.unlink()


class Steps:
    """The steps of one world; ``None`` in its place for a world that keeps none."""

    def __init__(self, world: Path) -> None:
        self._world = world
        self._folder = world / STEPS
        self._copied = Copied()
        self._kept = sorted(self._found(), key=lambda kept: kept.seq)

    @classmethod
    def of(cls, world: Path) -> Steps | None:
        """Those of a world that keeps them."""
        return cls(world) if (world / STEPS).is_dir() else None

    @staticmethod
    def start(world: Path) -> None:
        """Let a world on which no call was made yet keep its steps."""
        (world / STEPS).mkdir()
        replace_file(world / STEPS / "from", b"0")

    def _found(self) -> Iterator[_Kept]:
        for path in self._folder.iterdir():
            if path.name[0].isdigit():
                yield _Kept(int(path.name.partition(".")[0]), path, path.stat().st_size)

    @property
    def first(self) -> int:
        """The first call to which one can go back."""
        return int((self._folder / "from").read_bytes())

    @property
    def unfinished(self) -> int | None:
        """To which call the world was going back when its process ended."""
        path = self._folder / "to"
        return int(path.read_bytes()) if path.is_file() else None

    # -- keeping ----------------------------------------------------------------------------------------

    def keep_pages(self, seq: int, service: str) -> None:
        """Keep what the open transaction of a call has changed of a file; just before its commit."""
        path = self._folder / f"{seq}.{service}"
        # Made again under the same number, where the call was given up first.
        path.unlink(missing_ok=True)
        # SQLite removes the file's first name with the commit, and never writes to it again.
        link_file(self._world / f"{service}.db-journal", path)
        self._keep(_Kept(seq, path, path.stat().st_size))

    def keep_files(self, seq: int) -> None:
        """Keep the workspace as it is, before a call changes something there; once for a call.

        A copy costs what the workspace holds, even where little of it is new. So one that is large is not
        kept: to go back behind the call, calls are made again.
        """
        path, draft = self._folder / f"{seq}.{_FILES}", self._folder / ".draft"
        if path.is_dir():
            return
        if not is_within(self._world / _WORKSPACE, setting("steps_entries"), setting("steps_size")):
            self.forget(seq)
            return
        shutil.rmtree(draft, ignore_errors=True)
        before = self._copied.size
        self._copied.begin(path)
        copy_tree(self._world / _WORKSPACE, draft, self._copied)
        draft.rename(path)
        self._keep(_Kept(seq, path, self._copied.size - before))

    def give_up(self) -> None:
        """The world keeps its steps no longer."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def forget(self, last: int) -> None:
        """The world was changed from outside its calls: there is no way back behind the present."""
        self._drop(len(self._kept), last)

    def _keep(self, kept: _Kept) -> None:
        """Remember it. What is too old is forgotten several at a time, because that writes a file."""
        if any(one.path == kept.path for one in self._kept[-2:]):
            self._kept = [one for one in self._kept if one.path != kept.path]
        self._kept.append(kept)
        most, size = setting("steps_kept"), setting("steps_size")
        if len(self._kept) > most * 5 // 4:
            self._forget_old(most, size)
        elif sum(one.size for one in self._kept) > size:
            self._forget_old(most, size * 4 // 5)

    def _forget_old(self, count: int, size: int) -> None:
        """Keep so many of the latest, of no more than so many bytes."""
        for number, one in enumerate(reversed(self._kept)):
            size -= one.size
            if number >= count or size < 0:
                self._drop(len(self._kept) - number, one.seq)
                return

    def _drop(self, count: int, last: int) -> None:
        """Forget the oldest; nothing before the call ``last`` can be had any more."""
        replace_file(self._folder / "from", str(last).encode())
        for one in self._kept[:count]:
            one.remove()
        del self._kept[:count]

    # -- going back -------------------------------------------------------------------------------------

    def begin(self, seq: int) -> None:
        """From here on the world is on its way back to how it was after a call, whatever happens."""
        replace_file(self._folder / "to", str(seq).encode())

    def put_back(self, seq: int) -> None:
        """Make the files what they were after a call; nobody may have them open. The journal of calls is
        the caller's. May be done again when it was cut off."""
        later = [kept for kept in self._kept if kept.seq > seq]
        for service in self.changed(seq):
            journals = [kept.path for kept in later if kept.service == service]
            _put_pages_back(self._world / f"{service}.db", journals)
        for files in [kept.path for kept in later if kept.service is None][:1]:
            self._put_files_back(files)

    def end(self, seq: int) -> None:
        """The world is what it was: forget what came later."""
        for kept in self._kept:
            if kept.seq > seq:
                kept.remove()
        self._kept = [kept for kept in self._kept if kept.seq <= seq]
        self._copied.clear()
        (self._folder / "to").unlink()

    def changed(self, seq: int) -> list[str]:
        """The services of which something was changed after a call."""
        return sorted({kept.service for kept in self._kept if kept.seq > seq and kept.service})

    def _put_files_back(self, files: Path) -> None:
        fresh, old = self._folder / ".fresh", self._folder / ".old"
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        # The agent's files have no second name: tools do not open those that do.
        copy_tree(files, fresh)
        if (self._world / _WORKSPACE).is_dir():
            (self._world / _WORKSPACE).rename(old)
        fresh.rename(self._world / _WORKSPACE)
        if old.is_dir():
            remove(old, at_once=True)


def _put_pages_back(database: Path, journals: list[Path]) -> None:
    """Write into a file what stood there before the first of these transactions.

    Pages that were free at that moment keep what they hold by now, which nobody reads.
    """
    former: dict[int, memoryview] = {}
    pages, page_size = 0, 0
    for journal in reversed(journals):
        data = memoryview(journal.read_bytes())
        magic, records, _nonce, pages, sector, page_size = _HEADER.unpack_from(data)
        # Written without waiting for the disk, a journal is one run of records to the end of the file.
        if magic != _MAGIC or records != 0xFFFFFFFF:
            raise ValueError("not a rollback journal as SQLite writes it with synchronous=OFF")
        for at in range(sector, len(data) - page_size - 7, page_size + 8):
            former[int.from_bytes(data[at : at + 4])] = data[at + 4 : at + 4 + page_size]
    with database.open("r+b") as file:
        for number in sorted(former):
            if number <= pages:
                file.seek((number - 1) * page_size)
                file.write(former[number])
        file.truncate(pages * page_size)
