"""Which host an episode is on: a function of its id and of which hosts serve, the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from mesocosm.hosting.hosts.ids import Ids


class Placement:
    """Episodes are on the host that drew their id; where that is away, on another one."""

    def __init__(self, ids: Ids, up: Iterable[int] = ()) -> None:
        self._ids = ids
        self.up = tuple(sorted(up))
        """Numbers of the hosts that serve."""

    def among(self, up: Iterable[int]) -> Placement:
        """The same among other hosts."""
        return Placement(self._ids, up)

    def of(self, id_: str) -> int | None:
        """The host that an episode is on; ``None`` if no host serves."""
        drew = self._ids.host(id_)
        return drew if drew in self.up else self.by_hash(id_)

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

    def is_ours(self, id_: str, up: Iterable[int]) -> bool:
        """Whether an episode is on this host while those serve."""
        return Placement(self.ids, up).of(id_) == self.number
