"""Placement of episodes on hosts: a function of the id and the set of hosts, the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from mesocosm.hosting.hosts.ids import Ids, is_id

_REMEMBERED = 16_384
"""Ids of which it is remembered where they lead: a few megabytes."""


class Placement:
    """Episodes are on the host that drew their id; where that is away, on another one."""

    def __init__(self, ids: Ids, up: Iterable[int] = ()) -> None:
        self._ids = ids
        self.up = tuple(sorted(up))
        """Numbers of the hosts that serve."""
        self._found: dict[str, int | None] = {}

    def among(self, up: Iterable[int]) -> Placement:
        """The same among other hosts."""
        return Placement(self._ids, up)

    def of(self, id_: str) -> int | None:
        """The host that an episode is on; ``None`` if no host serves."""
        if id_ in self._found:
            return self._found[id_]
        drew = self._ids.host(id_)
        found = drew if drew in self.up else self.by_hash(id_)
        if is_id(id_):
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            self._found[id_] = found
        return found

    def by_hash(self, text: str) -> int | None:
        """A host for any text: another one only when that one goes, or when one comes that it falls to."""
        return max(self.up, key=lambda number: _weight(text, number), default=None)


def _weight(text: str, number: int) -> bytes:
    return hashlib.blake2b(f"{number} {text}".encode(), digest_size=8).digest()


@dataclass(frozen=True)
class Seat:
    """A host's own place among the others."""

    number: int
    ids: Ids

    def new_id(self) -> str:
        """An id of an episode of this host."""
        return self.ids.new(self.number)

    def ours(self, up: Iterable[int]) -> Callable[[str], bool]:
        """Make a test for whether an episode belongs to this host while ``up`` serve."""
        placement = Placement(self.ids, up)
        return lambda id_: placement.of(id_) == self.number
