"""Episode ids that encode the creating host for holders of a key, and look random to others."""

from __future__ import annotations

import hashlib
import os
import secrets
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
