"""Recent steps of a world: the previous state of whatever each call changed, for going back.

**The problem.** ``episode.rollback(17)`` makes the world what it was when call 17 had been answered: every
row of every service, and the files of the workspace. A world may be 100 MB and an agent may make thousands
of calls, so there is no copy of the world for each of them; and calls are not simply made again from the
start, because some of them run code of the agent.

**The idea.** SQLite has solved it for one transaction. Before it changes a page of a file ``email.db``, it
writes what the page holds to ``email.db-journal``, the rollback journal. A commit removes that file. If the
process ends before the commit, the file stays, and whoever opens the database next puts the old pages back
("hot journal", https://www.sqlite.org/atomiccommit.html#_rollback). So we keep the journal of each call
under a second name, and to go back we give it its first name again and open the database: SQLite takes it
for what a crash left behind, and undoes the call.

**What lies there**, for a world in which call 12 sent a mail, and call 14 wrote a file::

    world/steps/
      from                     number of the call from which on everything is kept, if it is not 0
      12.email                 email.db-journal of call 12
      14.workspace-files/      the workspace as it was before call 14
      to                       only while the world goes back: to which call

**A call is made** (``services/calls.py``):

1. A transaction begins in the service's file. The tool's function changes rows.
2. ``keep_pages(12, "email")`` links ``email.db-journal`` as ``steps/12.email``: a second name, no bytes.
3. The commit removes the first name. The second one stays. SQLite does not write to a journal after its
   transaction.
4. Before a tool writes a file of the workspace, ``keep_files`` copies the workspace as it is; what has not
   changed since the last copy is a link to that.
5. Above ``steps_kept`` changes, or ``steps_size`` bytes, the oldest are forgotten and ``from`` moves on.

**The world goes back to call 11** (``World.go_back``):

1. Connections are closed. ``begin`` writes ``to``: who opens the world after a crash finishes what follows.
2. ``put_back``: for each service that changed after call 11, its journals, the latest first, are linked as
   ``email.db-journal`` one by one, and after each SQLite is asked to read, which undoes it.
3. The oldest copy of the workspace that was made after call 11 takes the workspace's place.
4. The journal of calls is cut (the caller does that), and ``end`` forgets the later steps and ``to``.

Any of it may be done twice: to undo all transactions from the last to the first again, from wherever it was
cut off, gives the same pages. Calls before ``from`` are made again on a fresh copy of the world instead
(``families/episode.py``).

**What it depends on.** Change these and the tests of ``tests/mesocosm/test_rollback.py`` fail:
``journal_mode=DELETE`` (with TRUNCATE or PERSIST the kept file would be emptied, a write-ahead log has no
such file); one transaction per call and service; no connection to a file while its journals are put back;
copies of worlds that take ``steps`` along (links suffice, because these files are never changed). Pages
that were free at that moment keep what they hold by now, which nobody reads: ``mesocosm replay`` compares
rows where bytes differ.

**What to measure**: ``benchmarks/rollback.py``, a call that writes with and without steps (0.1 to 0.2 ms of
1.3), and going back over 100 calls (13 ms). Decisions 083 and 103 say what else was tried: SQLite's session
extension, copies, savepoints, undo by triggers.

Only worlds that have the folder keep steps: those of episodes, not those that are built, proven or judged.
"""

# Kept rollback journals cost what a call changed; the session extension, backups and triggers were weighed
# (decisions 083 and 103).

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mesocosm.worlds.copies import SHARED, STEPS, Copied, copy_tree, is_within, link_file
from mesocosm.worlds.limits import setting
from mesocosm.worlds.removal import remove
from mesocosm.worlds.workspace import replace_file

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
        """Service of the file; ``None`` for the workspace."""
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

    def _found(self) -> Iterator[_Kept]:
        for path in self._folder.iterdir():
            if path.name[0].isdigit():
                yield _Kept(int(path.name.partition(".")[0]), path, path.stat().st_size)

    @property
    def first(self) -> int:
        """The first call to which one can go back."""
        path = self._folder / "from"
        return int(path.read_bytes()) if path.is_file() else 0

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
        self._copied.shared = (self._world / SHARED).exists()
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
        """Keep the latest ``count`` steps, up to ``size`` bytes."""
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
        """Restore the files as they were after a call; none may be open. The caller restores the journal. Can
        be repeated after an interruption.
        """
        later = [kept for kept in self._kept if kept.seq > seq]
        for service in self.changed(seq):
            journals = [kept.path for kept in reversed(later) if kept.service == service]
            _put_pages_back(self._world / f"{service}.db", journals)
        for files in [kept.path for kept in later if kept.service is None][:1]:
            self._put_files_back(files)

    def end(self, seq: int) -> None:
        """Finish going back: forget later steps."""
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


def _put_pages_back(database: Path, journals: Iterable[Path]) -> None:
    """Have SQLite undo transactions, the last one first: it takes each journal for a crash's."""
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous=OFF")
        for journal in journals:
            _look(db)  # where going back was cut off, a journal may be there already
            link_file(journal, Path(f"{database}-journal"))
        _look(db)


def _look(db: sqlite3.Connection) -> None:
    """Read from a database: before SQLite does, it undoes what an unfinished transaction has changed."""
    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
