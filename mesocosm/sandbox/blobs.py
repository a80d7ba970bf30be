"""Files by the hash of their bytes, so that what a server has sent once need not be sent with every job."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from mesocosm.sandbox.jobs import MIB

CAPACITY = 256 * MIB


class Blobs:
    """A store that evicts the least recently used, except what is held."""

    def __init__(self, folder: Path, capacity: int = CAPACITY) -> None:
        self._folder, self._capacity = folder, capacity
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def missing(self, digests: Collection[str]) -> list[str]:
        """List the digests that are not stored here."""
        with self._lock:
            return sorted(set(digests) - self._sizes.keys())

    @contextmanager
    def holding(self, digests: Collection[str]) -> Iterator[None]:
        """Hold these blobs, present or arriving, during the context."""
        with self._lock:
            self._held.update(digests)
        try:
            yield
        finally:
            with self._lock:
                self._held.subtract(digests)
                self._held += Counter()
                self._forget()

    def put(self, data: bytes) -> None:
        """Keep a file; its name is computed here and never believed."""
        digest = hashlib.sha256(data).hexdigest()
        beside = self._folder / f".{digest}-{threading.get_ident()}"
        beside.write_bytes(data)
        beside.replace(self._folder / digest)
        with self._lock:
            self._sizes[digest] = len(data)
            self._sizes.move_to_end(digest)

    def get(self, digest: str) -> bytes:
        """The bytes of a file that is held."""
        with self._lock:
            self._sizes.move_to_end(digest)
        return (self._folder / digest).read_bytes()

    def _forget(self) -> None:
        total = sum(self._sizes.values())
        for digest in [one for one in self._sizes if one not in self._held]:
            if total <= self._capacity:
                return
            total -= self._sizes.pop(digest)
            (self._folder / digest).unlink()
