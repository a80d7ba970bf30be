"""Leases on the episodes of a store: only one process at a time serves an episode.

::

    URL/
      holders/SERVER.PROCESS          written again every few seconds by a process that serves
      episodes/FOLDER/00000003.claim  who serves the episode; the numbers grow

A claim holds as long as its process is heard of. For other processes of the same server it is free: their
door says which of them has an episode. Its number is the *fence*: what is kept under it is newer than what
is kept under any before, so that a process that goes on without knowing that it was given up changes
nothing.

A claim is made by creating a file that is not there. At most one of several succeeds: on file systems, and
where ``fsspec`` creates exclusively (S3 with conditional writes). Elsewhere ``fsspec`` looks first, and two
who claim an episode within that moment may both have it. When a process was heard of last is told by the
store's clock, against the process's own latest sign of life.
"""

# A store has no locks; a claim with a fence keeps an old server from overwriting a newer state (decision
# 079).

from __future__ import annotations

import secrets
import threading
import time
from pathlib import Path

from mesocosm.errors import NotNow
from mesocosm.families.store import EpisodeStore
from mesocosm.worlds.workspace import keep_for_owner

IN_USE = "in-use"
"""The file of a state directory that every process has open which serves from it."""
IN_STATE = ("episodes", "instances", "admin-token", "ids-key", "server-name", "quotas.db")
"""Content of a state directory that belongs to the server alone."""
LIFE = 20.0
"""Seconds after its last sign of life from which on a process is taken for gone."""
_SURE = 0.5
"""Share of these for which it may itself be sure of not being taken for gone."""
_FORGOTTEN = 100
"""Times as long after which its last sign of life is removed."""
_CLAIM = ".claim"


class HeldElsewhere(NotNow):
    """Another server serves the episode."""

    def __init__(self) -> None:
        super().__init__("the episode is served by another server of this store")


class Leases:
    """Leases that this process holds.

    Args:
        store: Where the episodes are kept.
        server: Name of the server that the process is of; the same after a restart.
    """

    def __init__(self, store: EpisodeStore, server: str) -> None:
        self._store = store
        self._server = server
        self._holder = f"{server}.{secrets.token_hex(8)}"
        self._turn = threading.Lock()
        self._sure_until: float | None = None
        self._seen = 0.0
        """Time of its last heartbeat, by the store's clock."""
        self.age = 0
        """Number of times it lost certainty: others may then hold its leases."""

    @property
    def every(self) -> float:
        """Seconds after which to renew."""
        return LIFE / 4

    @property
    def lapsed(self) -> bool:
        """True if other processes may consider this one gone."""
        return self._sure_until is None or time.monotonic() > self._sure_until

    def renew(self) -> None:
        """Give a sign of life. Raises ``StoreFailed``."""
        with self._turn:
            began = time.monotonic()
            self._store.write(self._alive(self._holder), b"")
            self._seen = self._store.modified(self._alive(self._holder)) or self._seen
            if self._sure_until is None:
                self._sweep()
            if self.lapsed:
                self.age += 1
            self._sure_until = began + LIFE * _SURE

    def _sweep(self) -> None:
        """Forget those who have long been gone without a word."""
        for name in self._store.names("holders"):
            seen = self._store.modified(self._alive(name))
            if seen is not None and self._seen - seen > _FORGOTTEN * LIFE:
                self._store.remove(self._alive(name))

    def hold(self, name: str) -> int:
        """Claim an episode; the fence. Raises ``HeldElsewhere`` or ``StoreFailed``."""
        if self.lapsed:
            self.renew()
        newest = self._newest(name)
        if newest:
            holder = self._store.read(self._claim(name, newest)).decode()
            if holder == self._holder:
                return newest
            # One that is empty was removed at this moment, by who made the next.
            if holder and holder.partition(".")[0] != self._server and self._lives(holder):
                raise HeldElsewhere
        fence, ours = newest + 1, self._holder.encode()
        made = self._store.create(self._claim(name, fence), ours)
        # An answer may have been lost, and the request for it sent again.
        if not made and self._store.read(self._claim(name, fence)) != ours:
            raise HeldElsewhere
        if newest:
            self._store.remove(self._claim(name, newest))
        return fence

    def end(self) -> None:
        """Give up all claims: nothing more is done."""
        self._store.remove(self._alive(self._holder))

    def _newest(self, name: str) -> int:
        names = self._store.names(f"episodes/{name}")
        claims = [found.removesuffix(_CLAIM) for found in names if found.endswith(_CLAIM)]
        return max((int(number) for number in claims if number.isdecimal()), default=0)

    def _lives(self, holder: str) -> bool:
        seen = self._store.modified(self._alive(holder))
        return seen is not None and self._seen - seen <= LIFE

    def _claim(self, name: str, number: int) -> str:
        return f"episodes/{name}/{number:08d}{_CLAIM}"

    def _alive(self, holder: str) -> str:
        return f"holders/{holder}"


def server_of(state: Path) -> str:
    """Return the server name of a state directory, created on first use."""
    path = state / "server-name"
    state.mkdir(parents=True, exist_ok=True)
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        name = secrets.token_hex(8)
        keep_for_owner(path, name.encode())
        return name
