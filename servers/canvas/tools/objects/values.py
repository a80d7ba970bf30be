"""What all objects share: their address, and how numbers and unguessable texts are written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Row = Mapping[Any, Any]

ADDRESS = "https://canvas.brookfield.example"
"""Where the pages lie if nothing is known of whose Canvas it is."""
STORAGE_MB = 500
_host: ContextVar[Callable[[], str]] = ContextVar("host", default=lambda: ADDRESS)


@contextmanager
def hosted(host: Callable[[], str]) -> Iterator[None]:
    """Objects that are made meanwhile lie on this host; it is asked at most once."""
    known: list[str] = []

    def asked() -> str:
        if not known:
            known.append(host())
        return known[0]

    token = _host.set(asked)
    try:
        yield
    finally:
        _host.reset(token)


def address() -> str:
    """Where the pages of the Canvas lie whose objects are being made."""
    return _host.get()()


def number(value: float | None) -> float | int | None:
    """A whole number without its ``.0``; one that no float holds exactly stays a float, as JSON has it."""
    return int(value) if value is not None and abs(value) < 2**53 and value == int(value) else value


def unguessable(kind: str, key: int) -> str:
    """A text of 40 letters and digits that belongs to a row, like Canvas's uuids."""
    return hashlib.sha256(f"{kind}:{key}".encode()).hexdigest()[:40]
