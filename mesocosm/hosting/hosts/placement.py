"""Placement of episodes on hosts: a function of the id and the set of hosts, the same in every process. Ids
say which host made them to holders of a key, and look random to others.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_RANDOM = 14
"""Bytes of an id that are drawn; two more hold the number."""


class Ids:
    """Draws and reads ids: 32 hexadecimal digits, 28 of which are random."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def new(self, host: int) -> str:
        """An id that nobody can guess, of an episode of that host."""
        drawn = secrets.token_bytes(_RANDOM)
        return drawn.hex() + f"{host ^ self._mask(drawn):04x}"

    def host(self, id_: str) -> int:
        """The number of the host that drew an id; of any other text some number, always the same."""
        try:
            raw = bytes.fromhex(id_)
        except ValueError:
            raw = hashlib.sha256(id_.encode()).digest()
        return int.from_bytes(raw[_RANDOM : _RANDOM + 2]) ^ self._mask(raw[:_RANDOM])

    def _mask(self, drawn: bytes) -> int:
        return int.from_bytes(hashlib.blake2b(drawn, key=self._key, digest_size=2).digest())


def is_id(text: str) -> bool:
    """True if a text has the form of an episode id."""
    return len(text) == 32 and text.isalnum() and text.isascii()


def key_of(state: Path) -> bytes:
    """The key of a directory of episodes, made when it is first asked for."""
    path = state / "ids-key"
    state.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return bytes.fromhex(path.read_text(encoding="ascii"))
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        key = secrets.token_bytes(32)
        file.write(key.hex())
    return key


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
